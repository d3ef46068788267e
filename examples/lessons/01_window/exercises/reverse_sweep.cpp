// Exercise 3 of lesson 1 (★★★): the reverse sweep.
//
// The chain rule in a graph: the derivative of the output with respect to a node is the sum, over
// all operations that take the node, of (derivative with respect to the operation's result) ×
// (derivative of the operation). So a node may pass its derivative on only when it has received
// every term of it. Write the sweep. Hint: first find an order in which every node comes after all
// operations that take it (visit inputs before the node itself, each node once, and reverse); then
// sweep once.

#include "01_window/exercises/exercises.h"

using namespace ladon;

std::vector<double> reverse_sweep(const Graph& graph, int output) {
  std::vector<double> derivatives(graph.size(), 0);
  lessons::to_do("an order of the nodes, and one sweep that adds up derivatives");
  return derivatives;
}
