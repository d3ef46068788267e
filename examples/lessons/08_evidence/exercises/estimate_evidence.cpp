// Exercise 3 of lesson 8 (★★★): how far can an evidence from draws be trusted?
//
// Ẑ is a mean of S independent likelihoods w_s; its standard error is known from any course in
// statistics. What is the error of ln Ẑ? And how many draws carry the mean? If one weight is far
// larger than all others, the answer is 1, however large S is. Derive both, then write them, for
// likelihoods that double precision cannot hold. Hint: ln(Z + δ) ≈ ln Z + δ/Z; a common factor of
// all w_s changes neither the error nor the effective number.

#include "08_evidence/exercises/exercises.h"

using namespace ladon;

EvidenceEstimate estimate_evidence(const std::vector<double>& log_likelihoods) {
  EvidenceEstimate estimate;
  lessons::to_do("ln of the mean likelihood, its standard error, and the effective draws");
  return estimate;
}
