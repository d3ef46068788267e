// Exercise 3 of lesson 16 (★★★): why heads with softmax begin to copy in a jump.
//
// Expand ln p(g | y) = −g²/2 + gain·ρ(g)² + … at g = 0 up to g³. With t = scale·g the weight of the
// right token is a = eᵗ/(eᵗ + T − 1), so a′ = a(1 − a) and a″ = a(1 − a)(1 − 2a). Find ρ
// (exercise 1) up to t², square it, and write the coefficients of g² and of g³. Hint: the square of
// a sum of two terms has a mixed term.

#include "16_copy_head/exercises/exercises.h"

using namespace ladon;

BirthTerms birth_terms(double gain, double scale, std::int64_t length) {
  lessons::to_do("the coefficients of g² and g³ in ln p(g | y)");
}
