// Finds slow loops in the library's machine code: functions outside of core/kernels/loops with
// loops over floating-point numbers, which are compiled for the oldest instruction set, and
// functions with loops that only call libm for one number after the other. Each must be listed
// below with a reason.
//   hot_code LIBRARY..   asks objdump; exit status 0, 1 if there is another, 77 without objdump

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Reason {
  const char *function, *why;
};
const Reason reasons[] = {
    {"Branch", "profile: adds up times"},
    {"backward", "attention: a dot product a row, of memory that was just written"},
    {"load_queries", "attention: the same"},
    {"elimination", "systems of at most 24 unknowns: rows of a few numbers"},
    {"rotate_pairs", "rotary positions: four products per pair, as fast as memory"},
    {"cot_derivative", "a polynomial of a few terms"},
    {"PairSums", "limits by sampling: a pass over T numbers between T by T products"},
    {"identity_block",
     "limits: a few products per entry, as fast as memory; the same bits at every level"},
    {"pair_by_pair", "limits: sums of T numbers beside T by T products"},
    {"excess_kurtosis", "diagnostics"},
    {"forward", "attention: rows of few queries and of a tile, copied once before their products"},
    {"forward_few", "attention: the same; sums of few queries, one logarithm each"},
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
    {"ql", "LADON_PORTABLE: rotations of eigenvectors"},
    {"getrf", "LADON_PORTABLE: panels of few columns, beside products"},
    {"turns", "a sampler's step: two dot products beside a gradient"},
};

const Reason reasons_of_libm[] = {
    {"forward_few", "attention: a logarithm per query, of few"},
    {"finish", "attention: a logarithm per query of a block"},
    {"fourier", "roots of unity: one pass before log n of them"},
    {"metrics", "one pass over predictions, after a network made them"},
    {"samplers", "a few numbers a step, beside a gradient"},
    {"schedule", "one number a step"},
    {"draw_classes", "alias tables and waiting times: draws outweigh it"},
    {"truncated_normal", "initialization: once a network"},
    {"slogdet", "a diagonal, after a factorization"},
    {"Cholesky", "a diagonal, after a factorization"},
    {"spectral", "a number per eigenvalue, beside products of matrices"},
    {"polygamma", "a series of a few terms; no vector form is known here"},
    {"log_gamma_slope", "a series; no vector form is known here"},
    {"bucket", "tables of positions"},
    {"RotaryPositions", "tables of positions"},
    {"AlibiBias", "a number a head"},
    {"sinusoidal_table", "tables of positions"},
    {"SinusoidalPositions", "tables of positions"},
    {"draw", "the choice of one token, after a model"},
    {"generate", "the choice of one token, after a model"},
    {"log_probabilities", "the choice of one token, after a model"},
    {"write_by_beams", "a number a beam"},
    {"nodes", "nodes of quadrature, once a process"},
    {"ExponentialUnit", "duals without a vector form: a few functions a number"},
    {"beside_larger", "the dual of gelu_tanh for variances far apart: a few entries"},
    {"check_pointwise", "24 numbers, once a function"},
    {"SeriesSide", "duals: two bounds per variance, beside its coefficients"},
    {"added", "duals by series, in higher-order numbers"},
    {"mixture", "a sum of duals, a number for each"},
    {"fit_slope", "diagnostics"},
    {"kolmogorov_p_value", "diagnostics"},
    {"mmd", "diagnostics"},
    {"ScaleMixture", "a sum of a few terms"},
    {"effective_number", "diagnostics"},
    {"score_belief", "diagnostics"},
    {"sample_posterior", "a number a draw, beside products"},
    {"relevance_saddle", "a number a feature"},
    {"chi_square_p_value", "diagnostics"},
    {"RankHistogram", "diagnostics"},
    {"to_ranks", "diagnostics of chains"},
    {"SteinKernelOf", "diagnostics: one exponential a pair"},
    {"tempered_smc", "a number a particle and temperature, beside likelihoods"},
    {"ladder", "a number a temperature"},
    {"temper", "a number a temperature"},
    {"Weights", "a number a particle, after its likelihood"},
};

/// Vector instructions that compute: fewer than this are a pair of numbers, not a loop.
constexpr int least = 8;

/// Whether the name is that of a function of libm that has, or could have, a vector form.
bool of_libm(std::string name) {
  if (!name.empty() && name.back() == 'f' && name != "erf") name.pop_back();
  for (const char* one : {"exp", "exp2", "expm1", "erf", "erfc", "log", "log1p", "log2", "pow",
                          "sin", "cos", "sincos", "tan", "tanh", "lgamma", "tgamma"})
    if (name == one) return true;
  return false;
}

/// Traits of a function, from its instructions.
class Function {
 public:
  int vectors() const { return vectors_; }

  /// A line of objdump: an instruction, or what the linker will put into the one before.
  void read(const char* line) {
    const char *colon = std::strchr(line, ':'), *tab = colon ? std::strchr(colon, '\t') : nullptr;
    if (!tab) return;
    if (const char* type = std::strstr(line, "R_X86_64_")) {
      if (!calls_.empty() && calls_.back().at == at_) calls_.back().name = symbol(type);
      return;
    }
    at_ = std::strtoull(line, nullptr, 16);
    const std::string code = tab + 1;
    vectors_ += computes(code);
    const std::size_t operand = code.find_first_not_of(' ', code.find(' '));
    if (operand == std::string::npos) return;
    const char* target = code.c_str() + operand;
    if (code.rfind("call", 0) == 0) calls_.push_back({at_, called(target)});
    if (code[0] != 'j') return;
    char* end = nullptr;
    const auto to = std::strtoull(target, &end, 16);
    if (end != target && to <= at_) loops_.push_back({to, at_});
  }

  /// Whether a loop calls functions of libm, and no others.
  bool loops_over_libm() const {
    for (const auto& [begin, end] : loops_) {
      int libm = 0, others = 0;
      for (const Call& call : calls_)
        if (call.at >= begin && call.at <= end) ++(of_libm(call.name) ? libm : others);
      if (libm > 0 && others == 0) return true;
    }
    return false;
  }

 private:
  struct Call {
    unsigned long long at;
    std::string name;
  };
  struct Loop {
    unsigned long long begin, end;
  };

  static bool computes(const std::string& code) {
    for (const char* name : {"add", "sub", "mul", "div", "sqrt", "max", "min"})
      for (const char* kind : {"ps ", "pd "})
        if (code.rfind(std::string(name) + kind, 0) == 0) return true;
    return false;
  }
  /// NAME of "R_X86_64_PLT32\tNAME-0x4".
  static std::string symbol(const char* relocation) {
    const char* name = std::strchr(relocation, '\t');
    return name ? std::string(name + 1, std::strcspn(name + 1, "-+@\n")) : std::string();
  }
  /// NAME of "401020 <NAME@plt>".
  static std::string called(const char* target) {
    const char* name = std::strchr(target, '<');
    return name ? std::string(name + 1, std::strcspn(name + 1, "@>+")) : std::string();
  }

  unsigned long long at_ = 0;
  int vectors_ = 0;
  std::vector<Call> calls_;
  std::vector<Loop> loops_;
};

/// Whether the identifier stands in the symbol, where its length comes before it.
bool names(const std::string& symbol, const std::string& identifier) {
  return symbol.find(std::to_string(identifier.size()) + identifier) != std::string::npos;
}

template <std::size_t n>
bool excused(const std::string& symbol, const Reason (&list)[n]) {
  for (const Reason& reason : list)
    if (names(symbol, reason.function)) return true;
  return false;
}

/// Counts of functions, and messages about those without a reason.
struct Findings {
  int inside = 0, wrong = 0;

  void judge(const std::string& symbol, const Function& function) {
    if (symbol.find("x86_64_v") != std::string::npos) {
      inside += function.vectors() > 0;
      return;
    }
    if (function.vectors() >= least && !excused(symbol, reasons))
      name(symbol, std::to_string(function.vectors()) +
                       " vector instructions at the oldest instruction set");
    if (function.loops_over_libm() && !excused(symbol, reasons_of_libm))
      name(symbol, "a loop that calls libm number by number");
  }
  void name(const std::string& symbol, const std::string& what) {
    ++wrong;
    std::cout << symbol << ": " << what
              << "; move its loop to core/kernels/loops, or give a reason in "
                 "tests/hot_code/main.cpp\n";
  }
};

/// Judges all functions of the libraries, "'one' 'other'"; nothing is found where objdump fails.
Findings found_in(const std::string& libraries) {
  Findings findings;
  FILE* pipe = popen(("objdump -dr --no-show-raw-insn " + libraries).c_str(), "r");
  if (!pipe) return findings;
  char line[1 << 16];
  std::string symbol;
  Function function;
  while (std::fgets(line, sizeof line, pipe)) {
    const char *open = std::strchr(line, '<'), *close = std::strstr(line, ">:");
    if (!open || !close) {
      function.read(line);
      continue;
    }
    findings.judge(symbol, function);
    symbol.assign(open + 1, static_cast<std::size_t>(close - open - 1));
    function = Function();
  }
  findings.judge(symbol, function);
  return pclose(pipe) == 0 ? findings : Findings();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (std::system("objdump --version > /dev/null 2>&1") != 0) {
    std::cout << "SKIPPED: there is no objdump\n";
    return 77;
  }
  std::string libraries;
  for (int i = 1; i < argc; ++i) libraries += " '" + std::string(argv[i]) + "'";
  const Findings found = found_in(libraries);
  if (found.inside < 100) {
    std::cout << "only " << found.inside << " loops were found in" << libraries
              << "; this test looks at nothing\n";
    return 1;
  }
  std::cout << found.inside << " functions of loops, " << found.wrong
            << " outside without a reason\n";
  return found.wrong == 0 ? 0 : 1;
}
