#include "ladon/layers/infinite/kernel/derivation.h"

#include <cctype>

#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

/// "k₁₂".
std::string numbered(char symbol, int number) {
  std::string y(1, symbol);
  for (const char digit : std::to_string(number))
    y += std::string("\u2080").replace(2, 1, 1, static_cast<char>('\x80' + (digit - '0')));
  return y;
}

/// A formula with the kernels' numbers in the places of $k, $t2 and $K.
std::string filled(const std::string& formula, const KernelGraph::Placed& step, int own) {
  std::string y;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] != '$' || i + 1 == formula.size()) {
      y += formula[i];
      continue;
    }
    const char symbol = formula[++i];
    if (symbol == 'K') {
      y += numbered('k', own);
      continue;
    }
    std::size_t input = 0;
    while (i + 1 < formula.size() && std::isdigit(static_cast<unsigned char>(formula[i + 1])))
      input = 10 * input + static_cast<std::size_t>(formula[++i] - '0');
    y += numbered(symbol, step.inputs.at(input == 0 ? 0 : input - 1));
  }
  return y;
}

Formula formula_of(const KernelGraph& graph, int i) {
  if (i == 0) {
    const bool data = graph.inputs().has_means;
    return {data ? "x·x' / the number of channels" : "1 where the indices are equal, 0 elsewhere",
            "0"};
  }
  const KernelGraph::Placed& step = graph.steps()[static_cast<std::size_t>(i)];
  Formula y = step.step.formula ? step.step.formula() : Formula{"a map of $k", "a map of $t"};
  return {filled(y.nngp, step, i), filled(y.ntk, step, i)};
}

std::vector<char> needed(const KernelGraph& graph) {
  std::vector<char> alive(graph.steps().size());
  alive[static_cast<std::size_t>(graph.output().step)] = true;
  for (std::size_t i = alive.size(); i-- > 0;)
    if (alive[i])
      for (const int input : graph.steps()[i].inputs) alive[static_cast<std::size_t>(input)] = true;
  return alive;
}

/// " for each pair of T × T positions".
std::string positions_of(const Shape& positions) {
  if (positions.rank() == 0) return "vectors";
  std::string y = positions.rank() == 1 ? "sequences of " : "images of ";
  for (int i = 0; i < positions.rank(); ++i)
    y += (i == 0 ? "" : " × ") + (positions[i] < 0 ? std::string(positions.rank() == 1 ? "T"
                                                                 : i == 0              ? "H"
                                                                                       : "W")
                                                   : std::to_string(positions[i]));
  return y;
}

std::string title_of(const KernelGraph& graph, std::size_t i) {
  const KernelGraph::Placed& step = graph.steps()[i];
  if (i == 0) return "inputs: " + positions_of(step.positions);
  const std::string place = graph.place(step);
  return place.empty() || place == step.described ? step.described : place + ": " + step.described;
}

/// Formulas as lines "k₁ = …".
std::vector<std::string> lines_of(const KernelGraph& graph, std::size_t i) {
  const int number = static_cast<int>(i);
  const Formula formula = formula_of(graph, number);
  std::vector<std::string> lines{numbered('k', number) + " = " + formula.nngp};
  if (graph.get() == Get::ntk) lines.push_back(numbered('t', number) + " = " + formula.ntk);
  return lines;
}

}  // namespace

std::string derivation(const KernelGraph& graph) {
  const std::vector<char> alive = needed(graph);
  std::string text, title;
  for (std::size_t i = 0; i < alive.size(); ++i) {
    if (!alive[i]) continue;
    if (const std::string own = title_of(graph, i); own != title) text += (title = own) + "\n";
    for (const std::string& line : lines_of(graph, i)) text += "  " + line + "\n";
  }
  return text;
}

std::string to_dot(const KernelGraph& graph) {
  const std::vector<char> alive = needed(graph);
  const auto quoted = [](const std::string& text) {
    std::string y;
    for (const char c : text) y += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return y;
  };
  std::string dot = "digraph limit {\n  node [shape=box]\n";
  for (std::size_t i = 0; i < alive.size(); ++i) {
    if (!alive[i]) continue;
    std::string label = quoted(title_of(graph, i));
    for (const std::string& line : lines_of(graph, i)) label += "\\n" + quoted(line);
    dot += detail::join("  s", i, " [label=\"", label, "\"]\n");
    for (const int input : graph.steps()[i].inputs)
      dot += detail::join("  s", input, " -> s", i, "\n");
  }
  return dot + "}\n";
}

}  // namespace ladon::infinite
