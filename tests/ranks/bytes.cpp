// Measures the bytes that each rank (process) holds and sends for kernels of infinite networks, and
// the time: mpirun -n 4 ranks bytes 4000. Sent bytes are counted when they are passed to MPI,
// including those of ScaLAPACK, by functions of this program with the names of MPI's (the profiling
// interface, MPI standard, "Tools"). Data that other ranks forward in a broadcast are not counted.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>

#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/tests/ranks/checks.h"

namespace {

double sent = 0;

void count(double items, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  sent += items * bytes;
}

double others() {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks - 1;
}

}  // namespace

extern "C" {
int MPI_Send(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm of) {
  count(n, type);
  return PMPI_Send(from, n, type, to, tag, of);
}
int MPI_Rsend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm of) {
  count(n, type);
  return PMPI_Rsend(from, n, type, to, tag, of);
}
int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm of,
              MPI_Request* request) {
  count(n, type);
  return PMPI_Isend(from, n, type, to, tag, of, request);
}
int MPI_Bcast(void* bytes, int n, MPI_Datatype type, int root, MPI_Comm of) {
  int rank = 0;
  PMPI_Comm_rank(of, &rank);
  if (rank == root) count(n, type);
  return PMPI_Bcast(bytes, n, type, root, of);
}
int MPI_Allgather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype other,
                  MPI_Comm of) {
  count(n * others(), type);
  return PMPI_Allgather(from, n, type, to, m, other, of);
}
int MPI_Allgatherv(const void* from, int n, MPI_Datatype type, void* to, const int* m,
                   const int* starts, MPI_Datatype other, MPI_Comm of) {
  count(n * others(), type);
  return PMPI_Allgatherv(from, n, type, to, m, starts, other, of);
}
int MPI_Alltoall(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype other,
                 MPI_Comm of) {
  count(n * others(), type);
  return PMPI_Alltoall(from, n, type, to, m, other, of);
}
}

namespace ladon::test {
namespace {

/// A line of /proc/self/status, in bytes.
double status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == name + ":") {
      double kilobytes = 0;
      file >> kilobytes;
      return 1024 * kilobytes;
    }
  return 0;
}

double largest_of_ranks(double own) {
  const auto all = ranks::all_gather(std::as_bytes(std::span(&own, 1)));
  for (const auto& of_rank : all) {
    double value = 0;
    std::memcpy(&value, of_rank.data(), sizeof value);
    own = std::max(own, value);
  }
  return own;
}

/// A row: what the run took in the rank with most of each.
void report(const char* what, std::int64_t n, const std::function<void()>& run) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  const double before = status("VmRSS");
  ranks::barrier();
  const double given = sent;
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const double messages = largest_of_ranks(sent - given) / 1e6;
  const double held = largest_of_ranks(std::max(0.0, status("VmHWM") - before)) / 1e6;
  const double seconds = largest_of_ranks(spent.count());
  if (ranks::rank() == 0)
    std::cout << std::left << std::setw(28) << what << std::right << std::setw(6) << n
              << std::setw(7) << ranks::count() << std::fixed << std::setprecision(1)
              << std::setw(11) << held << std::setw(11) << messages << std::setprecision(2)
              << std::setw(9) << seconds << '\n';
}

}  // namespace

void measure_bytes(std::int64_t n) {
  Generator rng(1);
  const Sequential net(Linear({.in = 100, .out = 2}, rng), Activation(Nonlinearity::relu),
                       Linear({.in = 2, .out = 2}, rng), Activation(Nonlinearity::relu),
                       Linear({.in = 2, .out = 1}, rng));
  const Tensor x = normal({n, 100}, rng, 0, 1, f64), y = normal({n, 10}, rng, 0, 1, f64);
  if (ranks::rank() == 0)
    std::cout << "                                 N  ranks    held MB    sent MB        s\n";
  if (n <= 8000)  // every rank holds all of it
    report("gram, both kernels", n, [&] { infinite::gram(infinite::limit(net), x); });
  std::optional<infinite::StoredGram> tiles;
  report("tiles of the NTK", n,
         [&] { tiles = store_gram(infinite::limit(net), x, {}, {.get = infinite::Get::ntk}); });
  report("times 10 vectors", n, [&] { tiles->multiply(y); });
  std::optional<DistributedFactor> factor;
  report("factor, beside the tiles", n,
         [&] { factor.emplace(distribute_factor(*tiles, {.noise = 0.1, .jitter = 0})); });
  Tensor a;
  report("solution of 10 columns", n, [&] { a = factor->solve(y).x; });
  const Tensor residual = tiles->multiply(a) + 0.1 * a - y;
  if (ranks::rank() == 0)
    std::cout << std::scientific << std::setprecision(1) << "largest residual "
              << amax(abs(residual)).item() << '\n';
}

}  // namespace ladon::test
