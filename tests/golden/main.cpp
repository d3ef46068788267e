// golden_cases DIR…: runs folders of ONNX operator cases on Ladon's operations. A line for each
// failure and each skip with its reason; last "N passed, N failed, N skipped".
// Exit status: 0, 1 if a case failed, 2 on bad usage.

#include <algorithm>
#include <cctype>
#include <iostream>
#include <set>

#include "case.h"
#include "ladon/core/error.h"

namespace {

namespace fs = std::filesystem;
using namespace ladon::golden;

Table all_operators() {
  Table table;
  add_pointwise(table);
  add_activations(table);
  add_logic(table);
  add_reductions(table);
  add_shapes(table);
  add_creation(table);
  add_indexing(table);
  add_products(table);
  add_normalizations(table);
  add_losses(table);
  add_attention(table);
  add_recurrent(table);
  add_optimizers(table);
  add_windows(table);
  return table;
}

/// Why an operator is not in the table.
std::string why_not(const std::string& op) {
  const auto has = [&](const char* part) { return op.find(part) != std::string::npos; };
  if (has("Deform")) return op + " moves its taps by an input; Ladon's stand still";
  if (has("Quantize") || has("QLinear")) return op + " is quantized; Ladon has no quantized types";
  if (has("Random") || op == "Bernoulli" || op == "Multinomial")
    return op + " is random; its numbers are its author's";
  if (has("Sequence") || has("String") || has("Optional"))
    return op + " works on sequences, strings or optionals, which Ladon does not hold";
  return "Ladon has no operation for " + op;
}

/// Folders at and below `root` that hold a case, or files of one, in alphabetical order; those that
/// cannot be read as well, so that they fail. Links to folders may lead in circles: not followed.
std::vector<fs::path> find_cases(const fs::path& root) {
  std::vector<fs::path> cases, folders{root};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    bool holds_case = false;
    std::error_code error, ignored;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const fs::path& path = entry->path();
      holds_case |= path.filename() == "case.json" || path.extension() == ".npy";
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) folders.push_back(path);
    }
    if (holds_case || error) cases.push_back(folder);
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// Names and messages come from files: control characters would break the line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
  return text;
}

/// Throws Skip, or an exception that says what is wrong.
void run(const fs::path& folder, const Table& table) {
  Case c(folder);
  const auto op = table.find(c.op());
  const std::set<std::string> own{"", "ai.onnx", "ai.onnx.preview.training"};
  if (!own.contains(c.domain()) && op != table.end())
    throw Skip{"domain " + c.domain() + " is not ONNX's own"};
  if (op == table.end()) throw Skip{why_not(c.op())};
  c.load();
  const Tensors outputs = op->second(c);
  for (std::size_t i = 0; i < c.outputs(); ++i) {
    if (!c.wants(i)) continue;
    const ladon::Tensor computed = i < outputs.size() ? outputs[i] : ladon::Tensor();
    const std::string wrong = disagreement(computed, c.expected()[i]);
    LADON_CHECK(wrong.empty(), c.op(), "output ", i, " ", wrong);
  }
}

int usage(const std::string& error) {
  std::cerr << "golden_cases: " << error << "; usage: golden_cases DIR…\n";
  return 2;
}

int run_all(const std::vector<fs::path>& cases) {
  const Table table = all_operators();
  int passed = 0, failed = 0, skipped = 0;
  for (const fs::path& folder : cases) {
    std::error_code error;
    const fs::path full = fs::weakly_canonical(folder, error);
    const std::string name = (error ? folder : full).filename().string();
    try {
      run(folder, table);
      ++passed;
    } catch (const Skip& skip) {
      std::cout << one_line("SKIP " + name + ": " + skip.reason) << "\n";
      ++skipped;
    } catch (const std::exception& wrong) {
      std::cout << one_line("FAIL " + name + ": " + wrong.what()) << "\n";
      ++failed;
    }
  }
  std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped" << std::endl;
  return failed > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--help") {
    std::cout << "golden_cases DIR…\n"
                 "Runs each folder at or below DIR that holds case.json with its input_N.npy and\n"
                 "output_N.npy: ONNX operators expressed in Ladon's operations.\n";
    return 0;
  }
  if (argc < 2) return usage("no folder given");
  std::vector<fs::path> cases;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') return usage(std::string("unknown option ") + argv[i]);
    std::error_code error;
    if (!fs::is_directory(argv[i], error)) return usage(std::string(argv[i]) + " is no folder");
    const std::vector<fs::path> found = find_cases(argv[i]);
    if (found.empty()) return usage(std::string(argv[i]) + " holds no case");
    cases.insert(cases.end(), found.begin(), found.end());
  }
  return run_all(cases);
}
