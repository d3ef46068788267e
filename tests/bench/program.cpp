#include "program.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace ladon::bench {
namespace {

int count(const std::string& option, const std::string& word, int most) {
  int n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc() || end != word.data() + word.size() || n < 1 || n > most)
    throw std::invalid_argument(option + " takes numbers from 1 to " + std::to_string(most) +
                                ", got " + word);
  return n;
}

std::vector<int> counts(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');)
    numbers.push_back(count("--threads", word, 1024));
  if (numbers.empty()) throw std::invalid_argument("--threads needs a number");
  return numbers;
}

std::regex pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw std::invalid_argument("--rows takes a regular expression, got " + text);
  }
}

}  // namespace

Options parse(int argc, char** argv, Options options) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw std::invalid_argument(name + " needs a value");
      return words[++i];
    };
    if (name == "--rows")
      options.rows = pattern(value());
    else if (name == "--threads")
      options.threads = counts(value());
    else if (name == "--repeats")
      options.repeats = count("--repeats", value(), 1'000'000);
    else if (name == "--json")
      options.json = value();
    else if (name == "--from")
      options.from = value();
    else if (name == "--check")
      options.check_only = true;
    else if (name == "--list")
      options.list = true;
    else if (name == "--help")
      options.help = true;
    else
      throw std::invalid_argument("unknown option " + name + "; see --help");
  }
  return options;
}

void restart_with_a_fair_environment(char** argv) {
  constexpr const char* done = "LADON_BENCH_ENVIRONMENT";
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
  std::fprintf(stderr, "%s: cannot restart itself; LibTorch runs without its best settings\n",
               argv[0]);
}

void progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

void write_json(const std::string& file, const nlohmann::json& report) {
  std::ofstream out(file);
  out << report.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace ladon::bench
