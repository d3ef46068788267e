#include "01_window/exercises/exercises.h"

using namespace ladon;
using lessons::require;
using lessons::Wrong;

namespace {

Window window_of(const Tensor& x) {
  Window window;
  window.offset = static_cast<int>(x.offset());
  for (int axis = 0; axis < x.rank(); ++axis) {
    window.shape.push_back(static_cast<int>(x.size(axis)));
    window.strides.push_back(static_cast<int>(x.strides()[axis]));
  }
  return window;
}

Tensor row_of(const std::vector<double>& values) {
  return from_vector(values, {static_cast<std::int64_t>(values.size())});
}

/// Elements from the start of the memory, as if the window had neither strides nor offset.
Tensor without_strides(const std::vector<double>& memory, const Tensor& x) {
  std::vector<double> first(memory.begin(), memory.begin() + x.count());
  return row_of(first);
}

/// Adds the derivatives along every path from the output, one path at a time: the chain rule
/// without a sweep, for comparison.
void add_paths(const Graph& graph, int node, double so_far, std::vector<double>& all) {
  all[node] += so_far;
  for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
    add_paths(graph, graph[node].inputs[i], so_far * graph[node].derivatives[i], all);
}

std::string listed(const std::vector<int>& numbers) {
  return lessons::described(std::vector<double>(numbers.begin(), numbers.end()));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Window& window) {
  return out << "shape " << listed(window.shape) << " strides " << listed(window.strides)
             << " offset " << window.offset;
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) {
  return out << "graph of " << graph.size() << " nodes";
}

const Step& Graph::operator[](int node) const {
  require(node >= 0 && node < size(),
          detail::join("there is no node ", node, "; nodes are numbered from 0 to ", size() - 1));
  require(
      ++reads_[node] < 10'000,
      "the same node is read thousands of times: 30 diamonds in a row have 2^30 paths, too many "
      "to follow one by one; each node should pass its sum on once");
  return steps_[node];
}

void check_read_window(decltype(read_window)* yours) {
  const Tensor x = reshape(arange(0.0, 24.0), {2, 3, 4});
  const Tensor memory = cast(x, f64);
  const std::vector<double> strip = memory.to_vector();
  const auto check = [&](const std::string& what, const Tensor& view) {
    const Window window = window_of(view);
    const auto offset_left_out = [&] {
      std::vector<double> all = view.to_vector();
      for (double& element : all) element -= window.offset;  // an element equals its own address
      return row_of(all);
    };
    std::vector<int> reversed(view.rank());
    for (int axis = 0; axis < view.rank(); ++axis) reversed[axis] = view.rank() - 1 - axis;
    lessons::compare(
        what, row_of(yours(strip, window)), row_of(view.to_vector()),
        {{offset_left_out(), what + ": the window begins at its offset, not at the strip's start"},
         {row_of(permute(view, reversed).to_vector()),
          what + ": the first index runs fastest (column-major); the last one should"},
         {without_strides(strip, view),
          what + ": the strip is read from its start, without strides; a view is not a copy"}});
  };
  check("the whole strip", memory);
  check("a transpose", transpose(memory));
  check("a row", select(select(memory, 0, 1), 0, 2));
  check("every second column", slice(memory, 2, {.start = 1, .step = 2}));
  check("a flip", flip(memory, {1}));
  check("an expansion", expand(slice(memory, 1, {0, 1}), {2, 3, 4}));
  check("a scalar", at(memory, {1, 1, 1}));
  require(yours(strip, {{2, 0}, {1, 1}, 0}).empty(),
          "a window with an axis of size 0 has no element");
}

void check_unbroadcast(decltype(unbroadcast)* yours) {
  Generator rng(1);
  const auto check = [&](const Shape& larger, const Shape& shape) {
    const Tensor gradient = normal(larger, rng, 0, 1, f64);
    const Tensor x = zeros(shape, f64).set_requires_grad();
    const Tensor right = grad(sum(expand(x, larger) * gradient), x);
    const double repeats = static_cast<double>(gradient.count()) / static_cast<double>(x.count());
    const std::string of = detail::join("x of shape ", shape, " broadcast to ", larger);
    const Tensor answer = yours(gradient, shape);
    require(answer.defined(), "nothing is returned");
    if (answer.shape() == larger && larger != shape)
      throw Wrong(detail::join(of,
                               ": the gradient has the shape of the result; what was repeated "
                               "has to be summed over"));
    if (answer.count() == x.count() && answer.shape() != shape)
      throw Wrong(detail::join(of, ": the gradient has shape ", answer.shape(),
                               "; an axis of size 1 stays, with size 1 (keep_dims)"));
    lessons::compare(of, answer, right,
                     {{right / repeats, of + ": a mean over the repeated axes; each copy counts in "
                                             "full, so the chain rule asks for the sum"}});
  };
  check({3, 4}, {3, 4});
  check({3, 4}, {4});
  check({3, 4}, {3, 1});
  check({5, 3, 4}, {3, 1});
  check({2, 5, 3, 4}, {5, 1, 4});
  check({4, 4}, {4});
  check({3, 4}, {});
}

void check_reverse_sweep(decltype(reverse_sweep)* yours) {
  const auto check = [&](const std::string& what, const std::vector<Step>& steps, int output) {
    const Graph graph(steps);
    std::vector<double> right(steps.size(), 0);
    add_paths(graph, output, 1, right);
    const std::vector<double> answer = yours(graph, output);
    require(static_cast<int>(answer.size()) == graph.size(),
            what + ": there should be one derivative for each node of the graph");
    require(answer[output] == 1 || answer[output] == right[output],
            what + ": the output's derivative with respect to itself is 1: the sweep begins there");
    // Results of two mistakes: with "=" instead of "+=" only the last path counts; if nodes are
    // visited in the order of their numbers, a node may pass its derivative on too early.
    std::vector<double> overwritten(steps.size(), 0), early(steps.size(), 0);
    overwritten[output] = early[output] = 1;
    for (int node = graph.size() - 1; node >= 0; --node)
      for (std::size_t i = 0; i < graph[node].inputs.size(); ++i) {
        overwritten[graph[node].inputs[i]] = overwritten[node] * graph[node].derivatives[i];
        early[graph[node].inputs[i]] += early[node] * graph[node].derivatives[i];
      }
    lessons::compare(
        what, row_of(answer), row_of(right),
        {{row_of(early), what + ": a node passes its derivative on before all its consumers have "
                                "added theirs; the nodes' numbers are not an order"},
         {row_of(overwritten), what + ": a node that two operations take misses a term; "
                                      "derivatives add up (+=)"}});
  };
  check("a chain", {{}, {{0}, {2}}, {{1}, {-3}}}, 2);
  check("x·x", {{}, {{0, 0}, {5, 5}}}, 1);
  check("a diamond", {{}, {{0}, {2}}, {{0}, {3}}, {{1, 2}, {4, 5}}}, 3);
  check("a diamond in another order", {{{1, 2}, {4, 5}}, {{3}, {2}}, {{3, 1}, {3, 7}}, {}}, 0);
  check("a shortcut", {{}, {{0}, {2}}, {{1, 0}, {3, 7}}, {{2, 1, 0}, {5, 11, 13}}}, 3);
  check("a shortcut, numbered backwards",
        {{{1, 2, 3}, {5, 11, 13}}, {{2, 3}, {3, 7}}, {{3}, {2}}, {}}, 0);
  check("a node that the output does not take", {{}, {{0}, {2}}, {{0}, {3}}}, 1);
  std::vector<Step> ladder(61);  // 30 diamonds in a row, with 2^30 paths
  for (int node = 2; node <= 60; node += 2) {
    ladder[node - 1] = {{node - 2}, {0.5}};
    ladder[node] = {{node - 2, node - 1}, {0.5, 1}};
  }
  const double value = yours(ladder, 60)[0];
  lessons::compare("30 diamonds in a row", value, 1.0);
}
