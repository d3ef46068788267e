// Exercise 1 of lesson 12 (★): the belief of an ensemble.
//
// Draw a member, then draw f from its belief: the result is the ensemble's belief, a mixture. By
// the law of total variance its variance has two parts: the mean of the members' variances (the
// uncertainty of each) and the variance of their means (their disagreement). Write mean and
// variance at every test input. Hint: E f² of the mixture is the mean of variance + mean²; the
// members are the whole population, not a sample of more.

#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

CombinedMembers combine_members(const Tensor& means, const Tensor& variances) {
  lessons::to_do("mean and variance of the mixture of all members, at every test input");
}
