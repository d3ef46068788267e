#pragma once
// Training with looks at the validation pairs, in a run that can be killed and resumed.

#include <filesystem>
#include <vector>

#include "ladon/examples/translate/corpus.h"
#include "ladon/examples/translate/settings.h"
#include "ladon/examples/translate/translator.h"

namespace ladon::example {

/// What was seen after so many steps, of the averaged model.
struct Look {
  std::int64_t step = 0;
  double train = 0, validation = 0;  ///< Nats a token: of pairs that are trained on, and of others.
  double bleu = 0;                   ///< Greedy, of the first pairs of validation.
  double speed = 0;                  ///< Tokens, of both languages, trained on in a second.
  double seconds = 0;                ///< Of the steps since the last look, without the look.
};

struct Course {
  std::vector<Look> looks;
  Attention first;  ///< At the first look, on the sentence that is shown.
};

/// Where a run is kept: in the folder of pictures.
std::filesystem::path run_file(const Settings& s);

/// The number of the test pair that is shown: the longest of at most 12 source words, the first of
/// these.
std::size_t shown_pair(const Corpus& corpus);

/// Trains, and saves the run at each look; ends with the averaged model, in evaluation mode.
/// Resumed, it goes on where the file was written, and gives the looks of before, too. Throws Error
/// for a file that is of another model or other pairs, and if it was trained further than `steps`.
Course train(const Settings& s, const Corpus& corpus, Translator& translator);

/// Mean over the target tokens, with their ends, of at most `count` pairs.
double loss_of(const Translator& translator, const ParallelText& pairs, std::int64_t count);

}  // namespace ladon::example
