#include "04_many_heads/exercises/exercises.h"

using namespace ladon;

double kurtosis_of_sum(const std::vector<HeadOutput>& heads) {
  double second = 0, squares = 0, fourth = 0;  // moments of f_1 + … + f_H, whose scale cancels
  for (const HeadOutput& head : heads) {
    second += head.second;
    squares += head.second * head.second;
    fourth += head.fourth;
  }
  fourth += 3 * (second * second - squares);  // 3 ways to pair 4 factors
  return fourth / (second * second) - 3;
}
