#pragma once
// An encoder and a decoder that learn to translate: the translator, its training, its results.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/data/sequences.h"
#include "ladon/core/text/byte_pair.h"
#include "ladon/examples/word_for_word/corpus.h"
#include "ladon/examples/word_for_word/judgement.h"
#include "ladon/layers/sequence/translation_model.h"

namespace ladon::example {

struct Settings : CorpusSettings {
  std::int64_t layers = 2, heads = 4, dim = 64;  ///< Layers of the encoder, and of the decoder.
  std::int64_t tokens = 1000;                    ///< Of the vocabulary, at most.
  std::int64_t batch = 64;
  std::int64_t steps = 600;
  double rate = 2e-3;  ///< Highest learning rate.
  double dropout = 0.1;
  std::int64_t every = 50;  ///< Steps between looks at the validation pairs.
  std::string resume;       ///< A run's file, to go on from or translate by; empty: a new run.
  std::string translate;    ///< Sentence to translate by that run, without training.
  std::int64_t beams = 4;
};

// --- a model with its tokens: sentences in, sentences out ---

struct Translator {
  /// Byte pairs of both languages together. Every word begins with a blank, the first one too, so
  /// that it has the same tokens anywhere.
  BytePairTokenizer tokens;
  TranslationModel model;

  PairTokens ends() const;
  std::vector<TokenSequence> encode(const std::vector<std::string>& texts) const;
  /// Without what stands at the ends.
  std::string decode(TokenSequence text) const;
};

/// With weights drawn from the seed, and tokens learned from the pairs, or those of --resume.
Translator new_translator(const Settings& s, const ParallelText& pairs);
/// The averaged model of a saved run, whatever the settings say of its size.
Translator saved_translator(const std::filesystem::path& run);

/// Translations of these texts, by beam search, or greedily with 0 beams; at most twice as long as
/// the source, and ten tokens. The model is to be in evaluation mode.
std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams);

/// Attention of the decoder while it writes a given translation.
struct Attention {
  std::vector<std::string> source, target;  ///< Words.
  /// [target, source], rows that sum to 1: of the last layer, the mean over heads and over the
  /// tokens of a target word, the sum over those of a source word.
  Tensor weights;
};
Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target);

// --- training with looks at the validation pairs, in a run that can be killed and resumed ---

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

// --- results ---

/// Word for word, greedily, and by beam search if there are beams.
std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator);

Table table_of(const Course& course);

/// Draws translate.svg, where the decoder looks at the first look and at last, and
/// translate_course.svg, losses and BLEU against steps, above what translation word for word gives.
void draw(const Settings& s, const std::string& corpus, const Course& course, const Attention& last,
          double word_for_word);

/// The page: of the first test pairs of moderate length, attention of encoder and decoder while the
/// decoder writes the reference. The model is to be in evaluation mode.
Page page(Translator& translator, const Corpus& corpus);

}  // namespace ladon::example
