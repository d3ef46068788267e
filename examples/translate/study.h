#pragma once
// An encoder and a decoder that learn to translate: translator, training, results.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/extra/data/sequences.h"
#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/examples/word_for_word/corpus.h"
#include "ladon/examples/word_for_word/judgement.h"
#include "ladon/layers/extra/sequence/translation_model.h"

namespace ladon::example {

struct Settings : CorpusSettings {
  std::int64_t layers = 2, heads = 4, dim = 64;  ///< Layers in each of encoder and decoder.
  std::int64_t tokens = 1000;                    ///< Largest size of the vocabulary.
  std::int64_t batch = 64;
  std::int64_t steps = 600;
  double rate = 2e-3;  ///< Highest learning rate.
  double dropout = 0.1;
  std::int64_t every = 50;  ///< Steps between validations.
  std::string resume;       ///< File of a run to continue or translate with; empty: a new run.
  std::string translate;    ///< Sentence to translate with that run, without training.
  std::int64_t beams = 4;
};

// --- a model with its tokenizer: sentences in, sentences out ---

struct Translator {
  /// Byte pairs learned from both languages together. Every word begins with a blank, including the
  /// first, so that it has the same tokens everywhere.
  BytePairTokenizer tokens;
  TranslationModel model;

  PairTokens ends() const;
  std::vector<TokenSequence> encode(const std::vector<std::string>& texts) const;
  /// The text of the tokens, without special tokens.
  std::string decode(TokenSequence text) const;
};

/// A translator with weights drawn from the seed. Its tokenizer is learned from the pairs, or is
/// the tokenizer of the run --resume.
Translator new_translator(const Settings& s, const ParallelText& pairs);
/// The model of a saved run, in the size that was saved, with the average of its weights over
/// steps.
Translator saved_translator(const std::filesystem::path& run);

/// Translations of these texts by beam search, or greedily if `beams` is 0. A translation has at
/// most 2·S + 10 tokens, where S is the length of the longest source that is translated together
/// with it. The model must be in evaluation mode.
std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams);

/// Attention of the decoder to the source while it produces a given translation.
struct Attention {
  std::vector<std::string> source, target;  ///< Words.
  /// [target, source], rows sum to 1. It is taken from the last layer, averaged over heads and over
  /// the tokens of a target word, and summed over the tokens of a source word.
  Tensor weights;
};
Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target);

// --- training with regular validation, in a run that can be killed and resumed ---

/// Results of validation during training.
struct Course {
  /// Columns of `looks`: steps so far; loss in nats per token on training pairs, and on validation
  /// pairs; BLEU of the first validation pairs, by greedy decoding; speed, in training tokens of
  /// both languages per second, and seconds. The last two are since the previous evaluation,
  /// without the time of validation.
  enum Column { steps, train, validation, bleu, speed, seconds };
  Tensor looks;  ///< f64 [evaluations, 6], of the model with averaged weights.
  Tensor first;  ///< Attention::weights of shown_attention() at the first evaluation.
};

/// File in which the run is saved, in the output folder.
std::filesystem::path run_file(const Settings& s);

/// Attention in the test pair that is shown: the first among the longest with at most 12 source
/// words.
Attention shown_attention(const Translator& translator, const Corpus& corpus);

/// Trains the model, and saves the run after each evaluation. At the end the model has the averaged
/// weights, and is in evaluation mode. Returns the results of all evaluations; a resumed run
/// continues from its file, and its earlier results are included. Throws Error if the file is of
/// another model or other pairs, or was trained for more than `steps`.
Course train(const Settings& s, const Corpus& corpus, Translator& translator);

/// The rows of a matrix.
std::vector<std::vector<double>> rows_of(const Tensor& matrix);

// --- results ---

/// Translations of the test pairs: word for word, greedy, and by beam search if there are beams.
std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator);

Table table_of(const Course& course);

/// Draws translate.svg, attention of the decoder at the first evaluation and at the end, and
/// translate_course.svg, losses and BLEU against steps, with word-for-word translation for
/// comparison.
void draw(const Settings& s, const std::string& corpus, const Course& course, const Attention& last,
          double word_for_word);

/// Interactive page: attention of encoder and decoder in the first test pairs of moderate length,
/// while the decoder produces the reference. The model must be in evaluation mode.
Page page(Translator& translator, const Corpus& corpus);

}  // namespace ladon::example
