// Exercise 1 of lesson 8 (★): the logarithm of a mean of likelihoods.
//
// An evidence is the mean of likelihoods over draws of the prior. A likelihood of 24 targets may be
// e^−2000, which is 0 in double precision, so it is kept as its logarithm. Write the logarithm of
// the mean without leaving the range of double. Hint: a common factor e^m can be taken out of the
// sum; which m makes the largest term 1? Mind the case in which all likelihoods are 0.

#include "08_evidence/exercises/exercises.h"

using namespace ladon;

double log_mean_exp(const std::vector<double>& logarithms) {
  lessons::to_do("ln of the mean of e^l, for logarithms l of any size");
}
