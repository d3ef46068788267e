#include "16_copy_head/exercises/exercises.h"

using namespace ladon;

BirthTerms birth_terms(double gain, double scale, std::int64_t length) {
  const double t = static_cast<double>(length);
  const double first = scale / t,
               second = 0.5 * (t - 2) * first * first;  // ρ = first·g + second·g²
  return {gain * first * first - 0.5, 2 * gain * first * second};
}
