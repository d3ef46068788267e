#include "ladon/examples/lessons/01_window/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/01_window/exercises/read_window.cpp"
#include "ladon/examples/lessons/01_window/exercises/reverse_sweep.cpp"
#include "ladon/examples/lessons/01_window/exercises/unbroadcast.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/01_window/exercises/solutions/read_window.cpp"
#include "ladon/examples/lessons/01_window/exercises/solutions/reverse_sweep.cpp"
#include "ladon/examples/lessons/01_window/exercises/solutions/unbroadcast.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using Strip = std::vector<double>;

TEST(LessonWindow, ReadWindow) {
  const Exercise exercise(check_read_window);
  exercise.is_open(hole::read_window);
  exercise.accepts(solution::read_window);
  exercise.refuses(
      [](const Strip& memory, const Window& window) {
        Window moved = window;
        moved.offset = 0;
        for (std::size_t a = 0; a < moved.shape.size(); ++a)  // stays inside of the strip
          if (moved.strides[a] < 0) return solution::read_window(memory, window);
        return solution::read_window(memory, moved);
      },
      "begins at its offset");
  exercise.refuses(
      [](const Strip& memory, const Window& window) {
        Window reversed = window;
        std::ranges::reverse(reversed.shape);
        std::ranges::reverse(reversed.strides);
        return solution::read_window(memory, reversed);
      },
      "column-major");
  exercise.refuses(
      [](const Strip& memory, const Window& window) {
        int count = 1;
        for (const int size : window.shape) count *= size;
        return Strip(memory.begin(), memory.begin() + count);
      },
      "a view is not a copy");
}

TEST(LessonWindow, Unbroadcast) {
  const Exercise exercise(check_unbroadcast);
  exercise.is_open(hole::unbroadcast);
  exercise.accepts(solution::unbroadcast);
  exercise.refuses([](const Tensor& g, const Shape&) { return g; }, "has to be summed over");
  exercise.refuses(
      [](const Tensor& g, const Shape& shape) {
        return solution::unbroadcast(g, shape) *
               (static_cast<double>(shape.count()) / static_cast<double>(g.count()));
      },
      "a mean over the repeated axes");
  exercise.refuses(
      [](const Tensor& g, const Shape& shape) {
        Tensor all = solution::unbroadcast(g, shape);
        for (int axis = shape.rank() - 1; axis >= 0; --axis)
          if (shape[axis] == 1) all = sum(all, axis);
        return all;
      },
      "an axis of size 1 stays");
}

TEST(LessonWindow, ReverseSweep) {
  const Exercise exercise(check_reverse_sweep);
  exercise.is_open(hole::reverse_sweep);
  exercise.accepts(solution::reverse_sweep);
  exercise.refuses(
      [](const Graph& graph, int output) {
        std::vector<double> all(graph.size(), 0);
        all[output] = 1;
        for (int node = output; node >= 0; --node)
          for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
            all[graph[node].inputs[i]] = all[node] * graph[node].derivatives[i];
        return all;
      },
      "derivatives add up");
  exercise.refuses(
      [](const Graph& graph, int output) {
        std::vector<double> all(graph.size(), 0);
        all[output] = 1;
        for (int node = graph.size() - 1; node >= 0; --node)
          for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
            all[graph[node].inputs[i]] += all[node] * graph[node].derivatives[i];
        return all;
      },
      "numbers are not an order");
  exercise.refuses(
      [](const Graph& graph, int output) {
        std::vector<double> all(graph.size(), 0);
        const std::function<void(int, double)> follow = [&](int node, double so_far) {
          all[node] += so_far;
          for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
            follow(graph[node].inputs[i], so_far * graph[node].derivatives[i]);
        };
        follow(output, 1);
        return all;
      },
      "too many to follow one by one");
}

}  // namespace
}  // namespace ladon::test
