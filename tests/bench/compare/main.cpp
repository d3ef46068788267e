// compare: every row of the goals of speed, Ladon beside LibTorch. See --help.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../machine.h"
#include "measure.h"
#include "options.h"

namespace {

using namespace ladon::bench;

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& family : {attention_rows, transformer_rows, small_rows, pointwise_rows,
                             random_rows, particle_rows, linear_algebra_rows, limit_rows})
    for (Row& row : family()) all.push_back(std::move(row));
  return all;
}

/// BLAS and malloc read the environment when they are loaded: so what cripples BLAS is taken out of
/// it, LibTorch's allocator is told to keep what it has, and the program starts once more.
void restart_with_a_fair_environment(char** argv) {
  constexpr const char* done = "LADON_COMPARE_ENVIRONMENT";
  if (std::getenv(done)) return;
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS",
                           "GOTO_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"})
    unsetenv(name);
  setenv("MALLOC_MMAP_MAX_", "0", 1);
  setenv("MALLOC_TRIM_THRESHOLD_", "4294967296", 1);
  setenv("MALLOC_TOP_PAD_", "67108864", 1);
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
  setenv(done, "1", 1);
  execv("/proc/self/exe", argv);
  std::fprintf(stderr, "compare: cannot restart itself; LibTorch runs without its best settings\n");
}

void progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

/// Whether both sides agree; says so if not.
bool agree(const Row& row, const Sides& sides, bool say) {
  if (!sides.difference) return true;
  const double apart = sides.difference();
  const bool fine = apart <= row.tolerance;
  if (say || !fine)
    std::printf("%-44s results differ by %.1e of the largest, %s %.0e\n", row.name.c_str(), apart,
                fine ? "within" : "REFUSED: above", row.tolerance);
  return fine;
}

nlohmann::json machine(const std::vector<int>& threads) {
  nlohmann::json peaks = nlohmann::json::array();
  for (const int n : threads) {
    progress("measures the machine");
    const double fma = peak_gflops(n), dgemm = dgemm_gflops(n), memory = memory_gbytes(n);
    progress("");
    std::printf("%d threads: fma %.0f GF/s (%s), dgemm %.0f GF/s, memory %.0f GB/s\n", n, fma,
                vector_level(), dgemm, memory);
    peaks.push_back({{"threads", n}, {"fma", fma}, {"dgemm", dgemm}, {"memory", memory}});
  }
  return peaks;
}

void write(const std::string& file, const nlohmann::json& report) {
  std::ofstream out(file);
  out << report.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

/// Number of rows that were refused.
int run(const Options& options) {
  nlohmann::json report = {{"peer", peer()}, {"rows", nlohmann::json::array()}};
  std::printf("%s\n", peer().c_str());
  if (!options.check_only) {
    give_ours(1);
    report["machine"] = machine(options.threads);
    print_header();
  }
  int refused = 0;
  for (const Row& row : all_rows()) {
    if (!std::regex_search(row.name, options.rows)) continue;
    progress(row.name);
    const Sides sides = row.make();
    give_ours(1);
    const bool same = agree(row, sides, options.check_only);
    refused += !same;
    if (!same || options.check_only) continue;
    for (const int threads : options.threads) {
      const Measured m = measure(sides, threads);
      progress("");
      print(row, threads, m);
      report["rows"].push_back(to_json(row, threads, m));
    }
  }
  progress("");
  if (!options.json.empty()) write(options.json, report);
  return refused;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    if (options.help) return std::printf("%s", help()), 0;
    restart_with_a_fair_environment(argv);
    if (options.list) {
      for (const Row& row : all_rows()) std::printf("%s\n", row.name.c_str());
      return 0;
    }
    const int refused = run(options);
    if (refused > 0) std::fprintf(stderr, "compare: results of %d rows differ\n", refused);
    return refused > 0 ? 1 : 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 1;
  }
}
