// Program that mpirun starts on several ranks: tests that they compute together what one process
// computes, and that a rank that fails ends the others.
//   ranks                all that works together
//   ranks throw | exit   the last rank fails so while the others wait for it
//   ranks return         the last rank ends, which the others learn from what they still call
//   ranks measure        prints how long some work takes
//   ranks bytes N        prints what N inputs take: bytes held and sent, and seconds
//   ranks die | die_stored FOLDER        … in the middle of a Gram matrix
//   ranks resume | resume_stored FOLDER  which others finish

#include <cstdlib>
#include <iostream>

#include "ladon/tests/ranks/checks.h"

using namespace ladon;

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  ranks::Session session;
  try {
    const bool last = ranks::rank() == ranks::count() - 1;
    if (how == "exit" && last) std::_Exit(3);
    if (how == "throw" && last) throw std::runtime_error("the last rank fails");
    if (how == "return") {
      if (last) return 0;
      for (int again = 0; again < 2; ++again)
        test::require_error([] { ranks::barrier(); }, "has ended", "the others learn of it");
      return 0;
    }
    if (how.starts_with("die")) test::die_in_gram(argv[2], how == "die_stored");
    if (how.starts_with("resume")) {
      test::resume_gram(argv[2], how == "resume_stored");
      return 0;
    }
    if (how == "measure") {
      test::measure();
      return 0;
    }
    if (how == "bytes") {
      test::measure_bytes(std::atoll(argv[2]));
      return 0;
    }
    ranks::barrier();
    test::check_collectives();
    test::check_grams();
    test::check_training();
    test::check_factors();
    if (ranks::rank() == 0) std::cout << ranks::count() << " ranks agree\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ranks: " << error.what() << '\n';
    session.fail();
    return 1;
  }
}
