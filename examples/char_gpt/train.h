#pragma once
// Training with looks at the validation text, in a run that can be killed and resumed.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/char_gpt/corpus.h"
#include "ladon/examples/char_gpt/settings.h"
#include "ladon/layers/sequence/language_model.h"

namespace ladon::example {

/// Losses and time after so many steps.
struct Look {
  std::int64_t step = 0;
  double train = 0;       ///< Mean loss of the steps since the last look, nats per character.
  double validation = 0;  ///< Of the whole validation text, each character after at most a context.
  double seconds = 0;     ///< Of these steps, without the look.
};

/// The model that the settings ask for, with weights drawn from the seed.
LanguageModel make_model(const Settings& s, const Corpus& corpus);

/// File of the run, in the folder of pictures.
std::filesystem::path run_file(const Settings& s);

/// Trains, and saves the run at each look. Resumed, it goes on where the file was written, and
/// gives the looks of before, too. Throws Error for a file that is of another model, and if it was
/// trained further than `steps`.
std::vector<Look> train(const Settings& s, const Corpus& corpus, LanguageModel& model);

}  // namespace ladon::example
