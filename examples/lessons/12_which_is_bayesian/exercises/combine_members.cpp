// Exercise 1 of lesson 12 (★): what members believe together.
//
// Draw a member, then draw f from its belief: the result is the ensemble's belief, a mixture. Its
// variance has two parts, which the law of total variance names: the mean of the members'
// variances (what each of them does not know), and the variance of their means (what they disagree
// about). Write mean and variance at every test input. Hint: E f² of the mixture is the mean of
// variance + mean²; the members are all there are, not a sample of more.

#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

CombinedMembers combine_members(const Tensor& means, const Tensor& variances) {
  lessons::to_do("mean and variance of the mixture of all members, at every test input");
}
