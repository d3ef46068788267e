// Exercise 1 of lesson 2 (★): a softmax that is never NaN.
//
// exp(1000) is infinite, and infinity divided by infinity is NaN. Adding one number to all logits
// of a row changes no weight, so you may choose the number. Write the softmax from exp, sum and
// amax. Hint: no exponent should be positive, and one should be 0. Then look at a row of −∞: which
// number must you not subtract there, and by which number must you not divide?

#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor safe_softmax(const Tensor& logits) {
  lessons::to_do("the weights of every row of logits, without overflow and without NaN");
}
