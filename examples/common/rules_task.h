#pragma once
// Synthetic task with several independent look-ups: "find the token with key r and return its
// value", for several r on one sequence.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

/// Sizes of the task. A token is a key with a value. Rule r requires the value of key r. The key of
/// each rule occurs once in a sequence; all other keys are distractors.
struct RulesTask {
  std::int64_t rules = 8;        ///< Number of rules; each has one key and one label.
  std::int64_t distractors = 8;  ///< Number of keys that no rule requires.
  std::int64_t values = 8;       ///< Number of different values.
  std::int64_t length = 24;      ///< Tokens per sequence. The first is a question mark, at whose
                                 ///< position the model answers.

  /// Number of different symbols: the question mark, keys and values.
  std::int64_t vocabulary() const;
  /// Position of each rule's key in tokens [n, length, 2]: i64 [n, rules].
  Tensor places(const Tensor& tokens) const;
};

struct RuleSequences {
  Tensor tokens, labels;  ///< i64: tokens [n, length, 2] (key and value), labels [n, rules].
};

/// Draws n sequences. Positions 1 … length−1 are taken in random order: the first `rules` of them
/// get the keys of the rules, the others keys of distractors; values are uniform. If `unfamiliar`,
/// a distractor replaces the key of one rule. Throws Error if a sequence is too short for all
/// rules.
RuleSequences draw_sequences(const RulesTask& task, std::int64_t n, bool unfamiliar,
                             Generator& rng);

}  // namespace ladon::example
