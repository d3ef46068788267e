#pragma once
// Exercises of lesson 1: a window on memory, the gradient of broadcasting, the reverse sweep (the
// backward pass).

#include <functional>
#include <utility>
#include <vector>

#include "exercise.h"

/// A window on a strip of memory: element (i, j, …) is at offset + i·strides[0] + j·strides[1] + …
struct Window {
  std::vector<int> shape, strides;
  int offset = 0;
};
std::ostream& operator<<(std::ostream& out, const Window& window);

/// 1. Elements of a window in row-major order: the last index varies fastest.
std::vector<double> read_window(const std::vector<double>& memory, const Window& window);
void check_read_window(decltype(read_window)* yours);

/// 2. Gradient of x, which has the given shape, from `gradient`, the gradient of x broadcast to a
/// larger shape. Axes are aligned at the right; along an axis where x has size 1, or that x lacks,
/// x was repeated.
ladon::Tensor unbroadcast(const ladon::Tensor& gradient, const ladon::Shape& shape);
void check_unbroadcast(decltype(unbroadcast)* yours);

/// An operation in a graph of numbers: its input nodes, and the derivative of its result with
/// respect to each of them.
struct Step {
  std::vector<int> inputs;
  std::vector<double> derivatives;
};

/// An acyclic graph with one operation per node. Its nodes may be numbered in any order.
class Graph {
 public:
  Graph(std::vector<Step> steps) : steps_(std::move(steps)), reads_(steps_.size(), 0) {}

  int size() const { return static_cast<int>(steps_.size()); }
  /// Throws Wrong if a node is read thousands of times, as by a solution that follows all paths one
  /// by one.
  const Step& operator[](int node) const;

 private:
  std::vector<Step> steps_;
  mutable std::vector<int> reads_;
};
std::ostream& operator<<(std::ostream& out, const Graph& graph);

/// 3. Derivatives of node `output` with respect to every node of the graph, in the order of their
/// numbers; 0 for a node on which `output` does not depend.
std::vector<double> reverse_sweep(const Graph& graph, int output);
void check_reverse_sweep(decltype(reverse_sweep)* yours);
