#pragma once
// Tests of the checks of exercises: a check must refuse the student's file before it is filled in
// and typical wrong solutions, each with the right reason, and must accept the solution.

#include <gtest/gtest.h>

#include <string>

#include "exercise.h"

namespace ladon::test {

/// Tests the check of one exercise. The functions given to it are those of exercise files, or
/// lambdas.
template <class Function>
class Exercise {
 public:
  explicit Exercise(void (*check)(Function*)) : check_(check) {}

  /// Expects that the file that is not filled in is refused, with a message that says what is to be
  /// written.
  void is_open(Function* hole) const {
    EXPECT_EQ(reason(hole).find("still to be written: "), 0u) << reason(hole);
  }
  void accepts(Function* solution) const { EXPECT_EQ(reason(solution), ""); }
  /// Expects that the function is refused for a reason that contains these words.
  void refuses(Function* wrong, const std::string& words) const {
    EXPECT_NE(reason(wrong).find(words), std::string::npos)
        << "it says: " << reason(wrong) << "\nnot: " << words;
  }

 private:
  std::string reason(Function* solution) const {
    try {
      check_(solution);
      return "";
    } catch (const lessons::Wrong& wrong) {
      return wrong.what();
    }
  }

  void (*check_)(Function*);
};

}  // namespace ladon::test
