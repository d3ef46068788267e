#pragma once
// Training with looks at the validation pairs, in a run that can be killed and resumed.

#include <filesystem>

#include "ladon/examples/translate/translator.h"

namespace ladon::example {

/// Looks at a training.
struct Course {
  /// Of looks: steps so far; nats a token of pairs that are trained on, and of others; BLEU of the
  /// first pairs of validation, greedily; tokens of both languages that were trained on in a
  /// second, and seconds, since the last look and without looks.
  enum Column { steps, train, validation, bleu, speed, seconds };
  Tensor looks;  ///< f64 [looks, 6], of the averaged model.
  Tensor first;  ///< Attention::weights of shown_attention() at the first look.
};

/// File of the run, in the folder of pictures.
std::filesystem::path run_file(const Settings& s);

/// Of the test pair that is shown: the longest of at most 12 source words, the first of these.
Attention shown_attention(const Translator& translator, const Corpus& corpus);

/// Trains, and saves the run at each look; ends with the averaged model, in evaluation mode.
/// Resumed, it goes on where the file was written, and gives the looks of before, too. Throws Error
/// for a file that is of another model or other pairs, and if it was trained further than `steps`.
Course train(const Settings& s, const Corpus& corpus, Translator& translator);

/// The rows of a matrix.
std::vector<std::vector<double>> rows_of(const Tensor& matrix);

}  // namespace ladon::example
