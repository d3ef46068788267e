// Program every: measures all operations of the library, in rows generated from one table. See
// --help.

#include <cstdio>
#include <exception>
#include <fstream>
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
  --from FILE    prints the page of such a file, with the reasons of today
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
  return {{"threads", threads}, {"fma", fma}, {"level", vector_level()}, {"memory", memory}};
}

/// The page of a report.
void print(const nlohmann::json& report, const Reasons& reasons) {
  const std::string peer = report.at("peer");
  const nlohmann::json& of = report.at("machine");
  std::printf("%s\n%d threads: fma %.0f GF/s (%s), memory %.0f GB/s\n",
              peer.empty() ? "without a peer" : peer.c_str(), of.at("threads").get<int>(),
              of.at("fma").get<double>(), of.at("level").get<std::string>().c_str(),
              of.at("memory").get<double>());
  print_page(from_json(report), reasons);
}

nlohmann::json read_json(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  return nlohmann::json::parse(in);
}

/// Number of rows that were refused.
int measure_all(const Options& options, const Reasons& reasons) {
  nlohmann::json report = {{"peer", peer_name()}, {"rows", nlohmann::json::array()}};
  if (!options.check_only) report["machine"] = machine(options.threads[0]);
  int refused = 0;
  for (const Measured& m : run_all(options, refused)) report["rows"].push_back(to_json(m, reasons));
  if (!options.check_only) print(report, reasons);
  if (!options.json.empty()) write_json(options.json, report);
  if (refused > 0) std::fprintf(stderr, "every: %d rows differ or fail\n", refused);
  return refused;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv, {.threads = {1}, .repeats = 5});
    if (options.help) return std::printf("%s", help), 0;
    if (options.threads.size() > 1) throw std::invalid_argument("--threads takes one number here");
    const Reasons reasons(LADON_EVERY_REASONS);
    if (!options.from.empty()) return print(read_json(options.from), reasons), 0;
    restart_with_a_fair_environment(argv);
    if (!options.list) return measure_all(options, reasons) > 0 ? 1 : 0;
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
