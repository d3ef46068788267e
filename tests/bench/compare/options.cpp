#include "options.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace ladon::bench {
namespace {

std::vector<int> counts(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    int n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size() || n < 1 || n > 1024)
      throw std::invalid_argument("--threads takes numbers from 1 to 1024, as in 1,2; got " + list);
    numbers.push_back(n);
  }
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

Options parse(int argc, char** argv) {
  Options options;
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
    else if (name == "--json")
      options.json = value();
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

const char* help() {
  return R"(compare: Ladon beside LibTorch, row by row, in one process.

It teaches where time goes: what is bound by arithmetic, what by memory, what by the cost of an
operation itself. Each row is computed by both on the same inputs. First the results must agree; then
calls are timed in turns, two rounds of 2 warm and at least 7 timed calls each.

  ours, theirs  median (fastest call .. slower round's median), in GF/s, ms or us; theirs* is
                faster on one thread, and has one
  ratio         their time over ours: above 1 Ladon is faster
  share         of what this machine reaches: fused multiply-adds in f32, dgemm, memory
  goal          a speed to reach or a time to stay below, and whether it is met

  --rows REGEX   only rows whose names contain it
  --threads 1,2  numbers of threads
  --json FILE    the same as JSON: {"peer", "machine", "rows": [{"row", "threads", "ratio", ...}]}
  --check        only whether results agree
  --list         only the names of the rows
  --help         this text

Run it on a quiet machine. Exit status: 0, 1 if results of a row differ, 2 on bad usage.
)";
}

}  // namespace ladon::bench
