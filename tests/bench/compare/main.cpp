// Program compare: measures Ladon and LibTorch on every computation for which there is a goal of
// speed. See --help.

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../machine.h"
#include "../program.h"
#include "measure.h"

namespace {

using namespace ladon::bench;

constexpr const char* help = R"(compare: Ladon beside LibTorch, row by row, in one process.

It teaches where time goes: what is bound by arithmetic, what by memory, what by the cost of an
operation itself. Each row is computed by both on the same inputs. First the results must agree; then
calls are timed in turns, in rounds of 2 warm and at least 7 timed calls each.

  ours, theirs  median (fastest call .. slowest round's median), in GF/s, ms or us; theirs* is
                faster on one thread, and has one
  ratio         their time over ours: above 1 Ladon is faster
  share         of what this machine reaches: fused multiply-adds in f32, dgemm, memory
  goal          a speed to reach or a time to stay below, and whether it is met

  --rows REGEX   only rows whose names contain it
  --threads 1,2  numbers of threads
  --repeats 2    rounds
  --json FILE    the same as JSON: {"peer", "machine", "rows": [{"row", "threads", "ratio", ...}]}
  --check        only whether results agree
  --list         only the names of the rows
  --help         this text

Run it on a quiet machine. Exit status: 0, 1 if results of a row differ, 2 on bad usage.
)";

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& family : {attention_rows, transformer_rows, small_rows, pointwise_rows,
                             random_rows, particle_rows, linear_algebra_rows, limit_rows})
    for (Row& row : family()) all.push_back(std::move(row));
  return all;
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
      const Measured m = measure(sides, threads, options.repeats);
      progress("");
      print(row, threads, m);
      report["rows"].push_back(to_json(row, threads, m));
    }
  }
  progress("");
  if (!options.json.empty()) write_json(options.json, report);
  return refused;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv, {.threads = {1, 2}, .repeats = 2});
    if (options.help) return std::printf("%s", help), 0;
    if (!options.from.empty()) throw std::invalid_argument("--from is an option of every");
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
