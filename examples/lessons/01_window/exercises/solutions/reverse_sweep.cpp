#include "01_window/exercises/exercises.h"

using namespace ladon;

std::vector<double> reverse_sweep(const Graph& graph, int output) {
  std::vector<double> derivatives(graph.size(), 0);
  std::vector<bool> visited(graph.size(), false);
  std::vector<int> order;  // inputs before the nodes that take them
  const std::function<void(int)> visit = [&](int node) {
    if (visited[node]) return;
    visited[node] = true;
    for (const int input : graph[node].inputs) visit(input);
    order.push_back(node);
  };
  visit(output);
  derivatives[output] = 1;
  for (auto node = order.rbegin(); node != order.rend(); ++node)
    for (std::size_t i = 0; i < graph[*node].inputs.size(); ++i)
      derivatives[graph[*node].inputs[i]] += derivatives[*node] * graph[*node].derivatives[i];
  return derivatives;
}
