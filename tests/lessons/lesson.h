#pragma once
// Tests of exercises: a check refuses the file with the hole and typical wrong solutions, each for
// its reason, and accepts the solution.

#include <gtest/gtest.h>

#include <string>

#include "exercise.h"

namespace ladon::test {

/// An exercise by its check. Functions are those of the student's file, or lambdas.
template <class Function>
class Exercise {
 public:
  explicit Exercise(void (*check)(Function*)) : check_(check) {}

  /// The file with the hole is refused, and told what is to be written.
  void is_open(Function* hole) const {
    EXPECT_EQ(reason(hole).find("still to be written: "), 0u) << reason(hole);
  }
  void accepts(Function* solution) const { EXPECT_EQ(reason(solution), ""); }
  /// Refused for a reason in which these words stand.
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
