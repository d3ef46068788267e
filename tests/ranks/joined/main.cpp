// A program that has initialized MPI itself: ranks::Session uses the existing MPI, and does not
// finalize it.

#include <mpi.h>

#include <iostream>

#include "ladon/tests/ranks/checks.h"

using namespace ladon;

namespace {

void run() {
  int rank = -1, count = 0, over = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  for (int again = 0; again < 2; ++again) {
    const ranks::Session session;
    test::require(ranks::rank() == rank && ranks::count() == count, "the session has MPI's ranks");
    const Tensor x = full({3}, rank + 1);
    ranks::all_reduce(x);
    test::require(test::same_bits(x, full({3}, count * (count + 1) / 2)), "they work together");
  }
  test::require(ranks::count() == 1, "without a session, one is alone");
  MPI_Finalized(&over);
  test::require(over == 0, "a session that joined MPI leaves it running");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run();
    MPI_Finalize();
    test::require_error([] { const ranks::Session late; }, "has ended MPI already",
                        "MPI can be initialized only once");
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ranks_joined: " << error.what() << '\n';
    return 1;
  }
}
