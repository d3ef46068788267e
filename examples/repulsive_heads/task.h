#pragma once
// Training tasks: sequences of tokens, with one or several questions about each.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/data/batches.h"
#include "ladon/core/random.h"
#include "ladon/examples/repulsive_heads/settings.h"

namespace ladon::example {

/// Batches hold tokens [B, T] or, with several fields a token, [B, T, fields], their mask [B, T],
/// and labels [B, questions].
struct Task {
  std::string description;
  std::string unfamiliar_kind;  ///< Reason why the unfamiliar sequences are so.
  std::int64_t vocabulary, questions, classes, max_length, train_items;
  Tensor word_vectors;  ///< [vocabulary, width]; undefined: learned from scratch
  std::function<std::vector<TextBatch>(Generator&)> training;  ///< One pass, shuffled.
  std::vector<TextBatch> test;
  std::vector<TextBatch>
      unfamiliar;  ///< Unlike the training data: a model should be less sure of these.
  /// Position in each sequence of the answer to each question, i64 [B, questions]: the token that
  /// a head should look at. Empty where nobody knows.
  std::function<Tensor(const TextBatch&)> right_tokens;
};

/// Several independent "find the token that …" rules over one sequence. A token is a key with a
/// value; question r asks for the value beside key r. Each rule's key stands once among
/// distractors, so that each question needs a look at a place of its own, and one head has one
/// look. In an unfamiliar sequence one rule's key is missing: that question has no right answer.
Task generated_task(const Settings& settings, Generator rng);

/// Sentences and their class, from files. The unfamiliar sentences are the test set's with every
/// word redrawn from the training set's words: right length and frequencies, no sense.
Task text_task(const Settings& settings, Generator rng);

}  // namespace ladon::example
