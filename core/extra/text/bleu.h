#pragma once
// BLEU, a measure of translations: how many of their words and phrases occur in human translations.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ladon::metrics {

/// BLEU score of a corpus, and its factors.
struct Bleu {
  double score;  ///< in [0, 100]: 100·brevity_penalty·(p_1 p_2 p_3 p_4)^(1/4)
  /// p_1 … p_4 in [0, 1]: p_n is the fraction of the hypotheses' n-grams that occur in a reference;
  /// an n-gram counts at most as often as in the reference that has it most often.
  std::array<double, 4> precisions;
  double brevity_penalty;          ///< 1 if c ≥ r, else exp(1 − r/c)
  std::int64_t hypothesis_length;  ///< c: tokens of all hypotheses
  std::int64_t reference_length;   ///< r: tokens of one reference per hypothesis, the one nearest
                                   ///< to it in length (on a tie, the shorter one)
};

/// Corpus BLEU (Papineni, Roukos, Ward and Zhu, "BLEU: a method for automatic evaluation of machine
/// translation", ACL 2002) of texts in UTF-8, tokenized by tokenize_13a, case-sensitive, without
/// smoothing: a precision of 0 makes the score 0. references[i] are the references of
/// hypotheses[i]. Throws Error unless there is at least one hypothesis, and a list of one or more
/// references for each.
Bleu bleu(const std::vector<std::string>& hypotheses,
          const std::vector<std::vector<std::string>>& references);
/// Corpus BLEU with one reference per hypothesis.
Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references);

/// Splits a text into tokens by the rules "13a" of NIST's script mteval-v13a, which are used for
/// published scores. `&quot;`, `&amp;`, `&lt;` and `&gt;` become the characters that they name.
/// ASCII punctuation and symbols are separate tokens, except the apostrophe, points and commas
/// between digits, and hyphens that do not follow a digit. White space separates tokens.
std::vector<std::string> tokenize_13a(std::string_view text);

}  // namespace ladon::metrics
