#pragma once
// Several independent "find the token that …" rules over one sequence.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

/// Sizes of the task. A token is a key with a value, and question r asks for the value of key r,
/// which occurs once in a sequence; all other keys are distractors.
struct RulesTask {
  std::int64_t rules = 8;        ///< Keys that are asked for; also the number of questions.
  std::int64_t distractors = 8;  ///< Keys that are not asked for.
  std::int64_t values = 8;
  std::int64_t length = 24;  ///< Tokens; answers are read at the first, a question mark.

  /// Number of distinct field values: the question mark, keys and values.
  std::int64_t vocabulary() const;
  /// Position of each rule's key in tokens [n, length, 2]: i64 [n, rules].
  Tensor places(const Tensor& tokens) const;
};

struct RuleSequences {
  Tensor tokens, labels;  ///< i64 [n, length, 2] (key and value), [n, rules]
};

/// Fills positions 1 … length−1 in random order: the first `rules` of them get the rules' keys, the
/// others distractors; values are uniform. In an unfamiliar sequence a distractor replaces one
/// rule's key. Throws Error if a sequence has no room for all rules.
RuleSequences draw_sequences(const RulesTask& task, std::int64_t n, bool unfamiliar,
                             Generator& rng);

}  // namespace ladon::example
