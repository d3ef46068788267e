#pragma once
// The settings of a run.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string format = "generated";  ///< generated, trec or lines
  std::vector<std::string> data;     ///< Files; of `lines` one per class.
  std::string glove;                 ///< Word vectors; empty: none.
  std::vector<std::string> arms;     ///< Beside plain; empty: all.
  std::int64_t folds = 4, seeds = 2, trials = 1, epochs = 16, batch_size = 32;
  std::string bits;        ///< File of answers per question; empty: none.
  std::string checkpoint;  ///< File of the fits that are finished; empty: none.
};

}  // namespace ladon::example
