#pragma once
// Training with regular validation, in a run that can be killed and resumed.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/char_gpt/corpus.h"
#include "ladon/examples/char_gpt/settings.h"
#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon::example {

/// Record of an evaluation during training.
struct Look {
  std::int64_t step = 0;
  double train = 0;       ///< Mean loss of the steps since the previous record, nats per character.
  double validation = 0;  ///< Loss on all validation text, nats per character.
  double seconds = 0;     ///< Time of these steps, without validation.
};

/// The model that the settings describe, with weights drawn from the seed.
LanguageModel make_model(const Settings& s, const Corpus& corpus);

/// File in which the run is saved, in the output folder.
std::filesystem::path run_file(const Settings& s);

/// Trains the model, and saves the run after each evaluation. Returns the records of all
/// evaluations; a resumed run continues from its file, and its earlier records are included. Throws
/// Error if the file is of another model, or was trained for more than `steps`.
std::vector<Look> train(const Settings& s, const Corpus& corpus, LanguageModel& model);

}  // namespace ladon::example
