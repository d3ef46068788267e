// Exercise 2 of lesson 4 (★★): the kurtosis of a sum of heads.
//
// Why do many heads become Gaussian? Take the fourth power of f_1 + … + f_H, multiply it out, and
// take the expectation: a product in which some head occurs once or three times has expectation 0.
// What remains are fourth powers of one head, and products of squares of two heads. Count how often
// each pair occurs. Do not assume identically distributed heads. Hint: with s_h = E f_h²,
// Σ_{h≠g} s_h s_g = (Σ_h s_h)² − Σ_h s_h².

#include "04_many_heads/exercises/exercises.h"

using namespace ladon;

double kurtosis_of_sum(const std::vector<HeadOutput>& heads) {
  lessons::to_do("the excess kurtosis of a sum of independent heads, from their moments");
}
