// Names the functions outside core/kernels/loops in which the compiler found loops over floating-point
// numbers: those run at the oldest instruction set. Each must give its reason below.
//   hot_code LIBRARY     asks objdump; exit status 0, 1 if there is another, 77 without objdump

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

namespace {

struct Reason {
  const char *function, *why;
};
const Reason reasons[] = {
    {"Branch", "profile: adds up times"},
    {"backward", "attention: a dot product a row, of memory that was just written"},
    {"cot_derivative", "a polynomial of a few terms"},
    {"average_over_draws", "limits by sampling: a pass over T numbers between T by T products"},
    {"pair_by_pair", "limits: sums of T numbers beside T by T products"},
    {"excess_kurtosis", "diagnostics"},
    {"mmd", "diagnostics"},
    {"sample_mmd", "diagnostics"},
    {"mmd_p_value", "diagnostics"},
    {"sum_of_squares", "clipping: one pass over the gradients, as fast as memory"},
    {"query_redundancy", "diagnostics"},
    {"SteinKernelOf", "diagnostics: exponentials outweigh it"},
    {"mean_of", "diagnostics of chains"},
    {"autocorrelation", "diagnostics of chains"},
    {"rhat_of", "diagnostics of chains"},
    {"rhat_of_ranks", "diagnostics of chains"},
    {"effective_sample_size", "diagnostics of chains"},
    {"turns", "a sampler's step: two dot products beside a gradient"},
};

/// Vector instructions that compute: fewer than this are a pair of numbers, not a loop.
constexpr int least = 8;

bool computes(const char* line) {
  const char* tab = std::strrchr(line, '\t');
  if (!tab) return false;
  for (const char* name : {"add", "sub", "mul", "div", "sqrt", "max", "min"})
    for (const char* kind : {"ps ", "pd "})
      if (std::string(tab + 1).rfind(std::string(name) + kind, 0) == 0) return true;
  return false;
}

/// Whether the identifier stands in the symbol, where its length comes before it.
bool names(const std::string& symbol, const std::string& identifier) {
  return symbol.find(std::to_string(identifier.size()) + identifier) != std::string::npos;
}

/// Counts of such instructions by function.
std::map<std::string, int> found_in(const std::string& library) {
  std::map<std::string, int> counts;
  FILE* pipe = popen(("objdump -d --no-show-raw-insn '" + library + "'").c_str(), "r");
  if (!pipe) return counts;
  char line[1 << 16];
  std::string function;
  while (std::fgets(line, sizeof line, pipe)) {
    const char *open = std::strchr(line, '<'), *close = std::strstr(line, ">:");
    if (open && close)
      function.assign(open + 1, static_cast<std::size_t>(close - open - 1));
    else if (computes(line))
      ++counts[function];
  }
  return pclose(pipe) == 0 ? counts : std::map<std::string, int>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::system("objdump --version > /dev/null 2>&1") != 0) {
    std::cout << "SKIPPED: there is no objdump\n";
    return 77;
  }
  const std::map<std::string, int> counts = found_in(argv[1]);
  int inside = 0, wrong = 0;
  for (const auto& [function, count] : counts) {
    const bool loops = function.find("x86_64_v") != std::string::npos;
    inside += loops;
    if (loops || count < least) continue;
    const char* why = nullptr;
    for (const Reason& reason : reasons)
      if (names(function, reason.function)) why = reason.why;
    if (why) continue;
    ++wrong;
    std::cout << function << ": " << count
              << " vector instructions at the oldest instruction set; move its loop to "
                 "core/kernels/loops, or give a reason in tests/hot_code/main.cpp\n";
  }
  if (inside < 100) {
    std::cout << "only " << inside << " loops were found in " << argv[1]
              << "; this test looks at nothing\n";
    return 1;
  }
  std::cout << inside << " functions of loops, " << wrong << " outside without a reason\n";
  return wrong == 0 ? 0 : 1;
}
