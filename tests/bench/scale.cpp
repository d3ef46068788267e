// Program scale: estimates the time and memory for kernels of N inputs of T positions at infinite
// width, from rates measured on this machine.
//
//   scale [FOLDER [LINK]]   two tables; FOLDER is scratch on the disk to measure (default: the
//                           system's), LINK what one machine sends another, in GB/s (1.25)
//
// Measured on all threads; each rate is the best of three. The first table multiplies the rates:
//   Gram      N²/2 pairs · seconds per pair of T positions, NNGP and NTK together
//   disk      4·N² bytes a kernel: tiles on and above the diagonal, f64
//   direct    N³/3 multiplications / rate of a Cholesky factor; tiles written once, read twice
//             (tiles that a small memory reads more often come on top)
//   CG        225 iterations · 4·N² bytes / rate of tiles times vectors, from memory where they fit
//   machines  such that the Gram matrix and both kernels' solves take a week
// The second table is of P such machines, one rank each, R × C of them (tests/ranks/bytes.cpp
// measures the same for real):
//   held      4·N²/P bytes of tiles in memory and 8·N²/P of a factor, a kernel
//   sent      4·N²/P · (C − 1 + 2·(R − 1)) bytes by the rank that sends most, for the factor

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/machine.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/temporary_folder.h"
#include "networks.h"

namespace ladon::bench {
namespace {

namespace fs = std::filesystem;

constexpr double iterations =
    225;  // of 8,000 digits; more where there are more inputs, or less noise
constexpr std::int64_t classes = 10;
constexpr double week = 7 * 86400;

template <class F>
double seconds_of(const F& work, int repetitions = 3) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// --- the rates ---

constexpr std::int64_t pixels = 784, channels = 64;

/// A layer of each token by itself, attention, the mean of the tokens.
Sequential text_net() {
  Generator rng(1);
  Sequential net(ntk_linear(channels, rng), Activation(Nonlinearity::relu));
  net.append(attention_layer(1, Weighting::softmax));
  net.append(MeanPositions());
  net.append(ntk_linear(1, rng));
  return net;
}

/// Seconds a pair, both kernels, of n inputs.
double seconds_a_pair(const Sequential& net, const Shape& shape) {
  Generator rng(2);
  const infinite::Inputs x = normal(shape, rng, 0, 1, f64);
  const auto n = static_cast<double>(shape[0]);
  return seconds_of([&] { gram(infinite::limit(net), x); }) / (n * (n + 1) / 2);
}

double cholesky_rate() {
  constexpr std::int64_t n = 6000;
  Generator rng(3);
  const Tensor x = normal({n, 100}, rng, 0, 1, f64), a = matmul(x, transpose(x)) + eye(n, f64);
  return std::pow(n, 3) / 3 / seconds_of([&] { lapack::cholesky(a); });
}

/// Bytes a second of tiles times as many vectors as there are classes.
double product_rate(const fs::path& folder, std::uint64_t memory_budget) {
  constexpr std::int64_t n = 6000;
  Generator rng(4);
  const Sequential net = relu_net(pixels);
  const infinite::Inputs x = normal({n, pixels}, rng, 0, 1, f64);
  const auto k =
      store_gram(infinite::limit(net), x, folder,
                 {.get = infinite::Get::nngp, .tile = 1024, .memory_budget = memory_budget});
  const Tensor v = normal({n, classes}, rng, 0, 1, f64);
  return static_cast<double>(k.estimate().disk_bytes) / seconds_of([&] { k.multiply(v); });
}

/// Bytes a second, written through to the disk and read from it.
struct DiskRates {
  double write, read;
};

DiskRates disk_rates(const fs::path& file) {
  constexpr std::size_t chunk = std::size_t{1} << 23, chunks = 64;
  std::vector<char> bytes(chunk, 'x');
  const int f = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  LADON_CHECK(f >= 0, "scale", file.string(), " cannot be made");
  const auto each = [&](auto&& call) {
    ::lseek(f, 0, SEEK_SET);
    for (std::size_t i = 0; i < chunks; ++i)
      LADON_CHECK(call(f, bytes.data(), chunk) == static_cast<ssize_t>(chunk), "scale",
                  file.string(), ": the disk refused");
    ::fsync(f);
  };
  const double written = seconds_of([&] { each(::write); });
  const double read = seconds_of([&] {
    ::posix_fadvise(f, 0, 0, POSIX_FADV_DONTNEED);  // not from what the system remembers
    each(::read);
  });
  ::close(f);
  return {chunk * chunks / written, chunk * chunks / read};
}

struct Rates {
  double cholesky, from_memory, from_disk;
  DiskRates disk;
};

// --- what is shown ---

std::string in_time(double s) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "h"}, {60, "min"}};
  char text[32];
  for (const Unit& unit : units)
    if (s >= 2 * unit.seconds) {
      std::snprintf(text, sizeof text, "%.2g %s", s / unit.seconds, unit.name);
      if (s / unit.seconds >= 100)
        std::snprintf(text, sizeof text, "%.0f %s", s / unit.seconds, unit.name);
      return text;
    }
  std::snprintf(text, sizeof text, "%.2g s", s);
  return text;
}

std::string in_bytes(double bytes) {
  char text[32];
  if (bytes < 1e12)
    std::snprintf(text, sizeof text, "%.3g GB", 1e-9 * bytes);
  else
    std::snprintf(text, sizeof text, "%.3g TB", 1e-12 * bytes);
  return text;
}

void print_row(std::int64_t t, double n, double a_pair, const Rates& rates) {
  const double disk = 4 * n * n, gram = n * n / 2 * a_pair;
  const bool fits = disk < static_cast<double>(free_memory()) / 2;
  const double once =
      disk / (fits ? rates.from_memory : std::min(rates.from_disk, rates.disk.read));
  const double cg = iterations * once;
  const double direct = n * n * n / 3 / rates.cholesky + disk / rates.disk.write + 2 * once;
  const auto machines = [gram](double solve) { return std::ceil((gram + 2 * solve) / week); };
  std::printf("%6lld %9.0f %12s %9s %12s %9.0f %12s %9.0f\n", static_cast<long long>(t), n,
              in_time(gram).c_str(), in_bytes(disk).c_str(), in_time(direct).c_str(),
              machines(direct), in_time(cg).c_str(), machines(cg));
}

/// T = 1. Each machine computes as fast as this one, and nothing is sent while one computes.
void print_ranks(double n, int ranks, double a_pair, double cholesky, double link) {
  const int down = static_cast<int>(std::sqrt(ranks)), across = ranks / down;
  const double share = n * n / ranks, held = 12 * share;
  const double sent = 4 * share * (across - 1 + 2 * (down - 1));
  const double gram = share / 2 * a_pair, direct = share * n / 3 / cholesky, network = sent / link;
  std::printf("%9.0f %6d %10s %10s %12s %12s %12s %11.0f%%\n", n, ranks, in_bytes(held).c_str(),
              in_bytes(sent).c_str(), in_time(gram).c_str(), in_time(direct).c_str(),
              in_time(network).c_str(), 100 * (gram + direct) / (gram + direct + network));
}

void run(const fs::path& folder, double link) {
  const Rates rates{cholesky_rate(), product_rate(folder / "kept", 1'000'000'000),
                    product_rate(folder / "read", 60'000'000), disk_rates(folder / "disk")};
  std::printf("%d threads, %s free\n", num_threads(), in_bytes(free_memory()).c_str());
  struct Model {
    std::int64_t positions;
    Sequential net;
    Shape inputs;
  };
  std::vector<std::pair<std::int64_t, double>> pairs;
  for (const Model& model :
       {Model{1, relu_net(pixels), {4000, pixels}}, Model{64, text_net(), {64, 64, channels}},
        Model{1024, text_net(), {4, 1024, channels}}})
    std::printf(
        "  %-50s %10.3g s a pair\n",
        model.positions == 1
            ? "three ReLU layers of 784 numbers"
            : detail::join("attention of ", model.positions, " positions of 64 numbers").c_str(),
        pairs.emplace_back(model.positions, seconds_a_pair(model.net, model.inputs)).second);
  const auto print = [](const char* what, double rate, const char* unit) {
    std::printf("  %-50s %10.3g G%s/s\n", what, 1e-9 * rate, unit);
  };
  print("Cholesky factor of 6,000, multiplications", rates.cholesky, "");
  print("tiles times 10 vectors, tiles in memory", rates.from_memory, "B");
  print("the same, tiles read from files and checked", rates.from_disk, "B");
  print("disk, written", rates.disk.write, "B");
  print("disk, read", rates.disk.read, "B");
  std::printf("\n%6s %9s %12s %9s %12s %9s %12s %9s\n", "T", "N", "Gram", "disk", "direct",
              "machines", "CG", "machines");
  for (const auto& [t, a_pair] : pairs)
    for (const double n : {1e4, 5e4, 1e6}) print_row(t, n, a_pair, rates);
  std::printf("\n%9s %6s %10s %10s %12s %12s %12s %12s\n", "N", "ranks", "held", "sent", "Gram",
              "direct", "network", "efficiency");
  for (const double n : {1.6e4, 5e4, 1e6})
    for (const int ranks : {1, 4, 16, 64})
      print_ranks(n, ranks, pairs[0].second, rates.cholesky, link);
}

}  // namespace
}  // namespace ladon::bench

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  try {
    const ladon::test::TemporaryFolder folder(argc > 1 ? fs::path(argv[1])
                                                       : fs::temp_directory_path());
    const double link = argc > 2 ? std::atof(argv[2]) : 1.25;
    LADON_CHECK(link > 0, "scale", "LINK must be positive, got ", argv[2]);
    ladon::bench::run(folder.path(), 1e9 * link);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scale: " << error.what() << '\n';
    return 1;
  }
}
