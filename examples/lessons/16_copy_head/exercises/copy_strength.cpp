// Exercise 1 of lesson 16 (★): the strength of copying.
//
// The right token has the logit scale·g, and all others have the logit 0. Softmax gives the right
// token the weight a, and the others share 1 − a equally. The tokens of a sequence sum to 0, so a
// weight that all tokens have in common adds nothing to the output: ρ is the weight of the right
// token minus that of another token. Write ρ for all g at once. Hint: ρ is 0 at g = 0, 1 for g → ∞,
// and −1/(T − 1) for g → −∞.

#include "16_copy_head/exercises/exercises.h"

using namespace ladon;

Tensor copy_strength(const Tensor& g, double scale, std::int64_t length) {
  lessons::to_do("the right token's weight minus that of another token");
}
