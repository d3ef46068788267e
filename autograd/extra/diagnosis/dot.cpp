#include "ladon/autograd/extra/diagnosis/dot.h"

#include <map>
#include <sstream>

#include "ladon/autograd/leaf.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

/// All nodes that `output` depends on, itself included, by their number: inputs before users.
std::map<std::uint64_t, detail::Node*> nodes_of(const Tensor& output) {
  std::map<std::uint64_t, detail::Node*> found;
  std::vector<detail::Node*> stack{output.history().get()};
  while (!stack.empty()) {
    detail::Node* node = stack.back();
    stack.pop_back();
    if (!found.emplace(node->number(), node).second) continue;
    for (const auto& input : node->inputs())
      if (input) stack.push_back(input.get());
  }
  return found;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

}  // namespace

std::string to_dot(const Tensor& output, const std::vector<std::pair<std::string, Tensor>>& names) {
  LADON_CHECK(output.requires_grad(), "to_dot",
              "the tensor records no history, so there is no graph to draw; pass the result of a "
              "computation on tensors that require a gradient");
  std::map<const detail::Node*, std::string> name_of;
  for (const auto& [name, x] : names)
    if (x.requires_grad()) name_of.emplace(x.history().get(), name);
  const std::map<std::uint64_t, detail::Node*> nodes = nodes_of(output);
  std::map<const detail::Node*, std::size_t> place;
  for (const auto& [number, node] : nodes) place.emplace(node, place.size());

  std::ostringstream dot;
  dot << "digraph {\n";
  for (const auto& [number, node] : nodes) {
    const auto named = name_of.find(node);
    const std::string label =
        detail::join(named == name_of.end() ? "" : named->second + "\n", node->operation(), "\n",
                     node->shape(), " ", node->dtype());
    const bool leaf = dynamic_cast<const Leaf*>(node) != nullptr;
    dot << "  n" << place[node] << " [shape=" << (leaf ? "ellipse" : "box")
        << ", label=" << quoted(label) << "];\n";
    for (const auto& input : node->inputs())
      if (input) dot << "  n" << place[input.get()] << " -> n" << place[node] << ";\n";
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace ladon
