#pragma once
// The settings of a run.

#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string format = "generated";      ///< generated, trec, lines or tsv
  std::vector<std::string> train, test;  ///< Files; `lines` takes one per class.
  std::string glove;                     ///< Word vectors; empty: none.
  std::vector<std::string> methods;
  int seeds, epochs, batch_size, heads, layers, dim;
  double learning_rate, dropout, word_dropout, label_smoothing;
  double alpha;          ///< Weight of the repulsion (svgd, spos, wgd).
  double cosine_weight;  ///< Weight of the cosine penalty.
  double noise;          ///< b of SPOS.
};

}  // namespace ladon::example
