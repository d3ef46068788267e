// every: all operations of the library, generated from one table. See --help.

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../machine.h"
#include "../program.h"
#include "page.h"

namespace {

using namespace ladon::bench;
using namespace ladon::bench::every;

constexpr const char* help = R"(every: every operation of Ladon, beside LibTorch's where it has it.

It teaches what a library of operations costs where nobody looked. Rows are generated: an operation
at three sizes, forward and with its gradient, in f32 and f64; layers, optimizers, samplers,
particle methods, kernels of limits and posteriors likewise. Before a row is timed, its results are
compared.

  families    rows, how many have a peer, how many are slower than 0.8 times it, geometric mean
  operations  the peer's time over ours, above 1 Ladon is faster, worst operations first; 31%: no
              peer, and so much of what the machine reaches in fused multiply-adds or memory traffic
  below 0.8   rows with their reason in reasons.txt, or MISSING

  --rows REGEX   only rows whose names contain it ("softmax / large / gradient / f32")
  --threads 1    number of threads: on one processor time is measured, on several the clock's, and
                 the peer has the better of its times on so many threads and on one
  --repeats 5    rounds
  --json FILE    {"peer", "machine", "rows": [{"row", "ours", "theirs", "ratio", "share", ...}]}
  --check        only whether results agree
  --list         only the names of the rows
  --help         this text

Exit status: 0, 1 if results of a row differ or it fails, 2 on bad usage.
)";

/// Whether both sides agree; says so if not.
bool agree(const Row& row, const std::optional<Peer>& peer, const Tensors& results) {
  const Traits& traits = row.entry->traits;
  if (!peer || traits.compared < 0) return true;
  const double tolerance = traits.tolerance * (row.dtype == ladon::f64 ? 1e-9 : 1e-4);
  const double apart = peer->difference(results, row.gradient ? 0 : traits.compared);
  if (apart <= tolerance) return true;
  progress("");
  std::printf("%s: results differ by %.1e of the largest, REFUSED: above %.0e\n",
              row.name().c_str(), apart, tolerance);
  return false;
}

/// Nothing where its results differ from the peer's, and where they are only to be compared.
std::optional<Measured> run(const Row& row, const Options& options, int& refused) {
  turn_to_ours(1);
  const Call call = make_call(row);
  const std::optional<Peer> peer = peer_of(row, call);
  const Tensors results = call.run();
  const bool same = agree(row, peer, results);
  refused += !same;
  if (!same || options.check_only) return {};
  return measure(row, call, peer, work_of(row, call, results), options.threads[0], options.repeats);
}

std::vector<Measured> run_all(const Options& options, int& refused) {
  std::vector<Measured> rows;
  for (const Row& row : every_row()) {
    if (!std::regex_search(row.name(), options.rows)) continue;
    progress(row.name());
    try {
      if (const auto measured = run(row, options, refused)) rows.push_back(*measured);
    } catch (const std::exception& error) {
      progress("");
      std::printf("%s: %s\n", row.name().c_str(), error.what());
      ++refused;
    }
  }
  progress("");
  return rows;
}

nlohmann::json machine(int threads) {
  progress("measures the machine");
  const double fma = peak_gflops(threads), memory = memory_gbytes(threads);
  progress("");
  std::printf("%s\n%d threads: fma %.0f GF/s (%s), memory %.0f GB/s\n",
              peer_name().empty() ? "without a peer" : peer_name().c_str(), threads, fma,
              vector_level(), memory);
  return {{"threads", threads}, {"fma", fma}, {"memory", memory}};
}

int report(const Options& options) {
  const Reasons reasons(LADON_EVERY_REASONS);
  nlohmann::json lines = nlohmann::json::array(), peaks;
  if (!options.check_only) peaks = machine(options.threads[0]);
  int refused = 0;
  const std::vector<Measured> rows = run_all(options, refused);
  if (!options.check_only) print_page(rows, reasons);
  for (const Measured& m : rows) lines.push_back(to_json(m, reasons));
  if (!options.json.empty())
    write_json(options.json, {{"peer", peer_name()}, {"machine", peaks}, {"rows", lines}});
  if (refused > 0) std::fprintf(stderr, "every: %d rows differ or fail\n", refused);
  return refused > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv, {.threads = {1}, .repeats = 5});
    if (options.help) return std::printf("%s", help), 0;
    if (options.threads.size() > 1) throw std::invalid_argument("--threads takes one number here");
    restart_with_a_fair_environment(argv);
    if (!options.list) return report(options);
    for (const Row& row : every_row()) std::printf("%s\n", row.name().c_str());
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "every: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "every: %s\n", error.what());
    return 1;
  }
}
