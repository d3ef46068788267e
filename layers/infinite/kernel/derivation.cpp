#include "ladon/layers/infinite/kernel/derivation.h"

#include <array>
#include <cctype>

#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

/// Symbol with a subscript: "k₁₂".
std::string numbered(char symbol, int number) {
  constexpr std::array digits = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string y(1, symbol);
  for (const char digit : std::to_string(number)) y += digits[digit - '0'];
  return y;
}

/// A formula with numbered kernels in place of symbols such as $k, $t2 and $K.
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
    const std::size_t at = input == 0 ? 0 : input - 1;
    LADON_CHECK(at < step.inputs.size(), "derivation", "the formula ", formula, " names input ",
                input, ", but the number of inputs of its step is ", step.inputs.size());
    y += numbered(symbol, step.inputs[at]);
  }
  return y;
}

Formula formula_of(const KernelGraph& graph, int i) {
  if (i == 0) {
    const bool data = graph.inputs().has_means;
    return {data ? "x·x' / the number of channels" : "1 where the indices are equal, 0 elsewhere",
            "0"};
  }
  const KernelGraph::Placed& step = graph.steps()[i];
  Formula y = step.step.formula ? step.step.formula() : Formula{"a map of $k", "a map of $t"};
  return {filled(y.nngp, step, i), filled(y.ntk, step, i)};
}

/// Kind of the inputs in words: "sequences of T".
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
  const std::optional<LayerPlace> place = graph.place(step);
  if (!place) return "a layer that the model does not list";
  return place->path.empty() ? place->description : place->path + ": " + place->description;
}

/// Lines of a step: "k₁ = …" and "t₁ = …".
std::vector<std::string> lines_of(const DerivedStep& step) {
  std::vector<std::string> lines{numbered('k', step.number) + " = " + step.nngp};
  if (!step.ntk.empty()) lines.push_back(numbered('t', step.number) + " = " + step.ntk);
  return lines;
}

}  // namespace

std::vector<DerivedStep> derived_steps(const KernelGraph& graph) {
  const std::vector<char> alive = graph.needed();
  std::vector<DerivedStep> steps;
  for (std::size_t i = 0; i < alive.size(); ++i) {
    if (!alive[i]) continue;
    const int number = static_cast<int>(i);
    const Formula formula = formula_of(graph, number);
    steps.push_back({title_of(graph, i), number, formula.nngp,
                     graph.get() == Get::ntk ? formula.ntk : std::string()});
  }
  return steps;
}

std::string derivation(const KernelGraph& graph) {
  std::string text, title;
  for (const DerivedStep& step : derived_steps(graph)) {
    if (step.layer != title) text += (title = step.layer) + "\n";
    for (const std::string& line : lines_of(step)) text += "  " + line + "\n";
  }
  return text;
}

std::string to_dot(const KernelGraph& graph) {
  const auto quoted = [](const std::string& text) {
    std::string y;
    for (const char c : text) y += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return y;
  };
  std::string dot = "digraph limit {\n  node [shape=box]\n";
  for (const DerivedStep& step : derived_steps(graph)) {
    std::string label = quoted(step.layer);
    for (const std::string& line : lines_of(step)) label += "\\n" + quoted(line);
    dot += detail::join("  s", step.number, " [label=\"", label, "\"]\n");
    for (const int input : graph.steps()[step.number].inputs)
      dot += detail::join("  s", input, " -> s", step.number, "\n");
  }
  return dot + "}\n";
}

}  // namespace ladon::infinite
