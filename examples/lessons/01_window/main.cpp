// Lesson 1: a tensor is a window on memory.

#include <iostream>
#include <map>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/01_window/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "A tensor is a window on memory, which a sweep goes back through";
constexpr const char* duration = "1 s";
constexpr const char* lesson =
    "Transposing, slicing, flipping and repeating move no element: they change shape, strides and "
    "offset, the rule by which a strip of memory is read. What the forward pass repeats, the "
    "backward pass sums.";
const std::vector<Trial> trials = {
    {"01_window", "copied: which of the six views has a strip of its own?"}};

bool study(const CommonOptions& options, const Program& program) {
  const Tensor x = reshape(arange(0.0, 12.0), {3, 4});  // each element equals its own address
  const std::vector<std::pair<const char*, Tensor>> views = {
      {"x", x},
      {"transpose(x)", transpose(x)},
      {"x[:, ::2]", slice(x, 1, {.start = 0, .step = 2})},
      {"flip(x)", flip(x, {0, 1})},
      {"x[0] three times", expand(select(x, 0, 0), {3, 4})},
      {"contiguous(transpose(x))", contiguous(transpose(x))}};
  Table table("view", {{.name = "elements", .meaning = "number of elements", .whole = true},
                       {.name = "places", .meaning = "places in memory", .whole = true},
                       {.name = "copied", .meaning = "elements that were copied", .whole = true}});
  std::vector<std::vector<double>> reads;  // address, row of the picture, time of reading
  for (const auto& [name, view] : views) {
    const bool shares = view.storage().bytes() == x.storage().bytes();
    const auto row = static_cast<double>(table.rows().size());
    std::map<double, int> read;  // how often each address was read
    double time = 0;
    for (const double address : view.to_vector())
      if (const int before = read[address]++; shares)
        reads.push_back({address, row + 0.32 * before, time++});
    const auto count = static_cast<double>(view.count());
    table.add({name, {{count}, {static_cast<double>(read.size())}, {shares ? 0 : count}}});
    std::cout << name << ": shape " << view.shape() << ", strides " << view.strides() << ", offset "
              << view.offset() << '\n';
  }
  print("Which of these is a copy?", table);

  Tensor row = zeros({4}, f64).set_requires_grad();
  backward(sum(expand(row, {3, 4}) * cast(x, f64)));
  std::cout << "\nA row, repeated three times, times x: its gradient is the sum of x's rows,\n"
            << row.grad() << '\n';
  program.write({.tables = {{"views", table}}});
  program.write_page(page);

  Picture picture(options.out, "01_window");
  std::vector<std::string> names;
  for (const auto& [name, view] : views) names.emplace_back(name);
  names.pop_back();  // the copy does not share x's memory
  picture.panel({200, slide.top, 720, slide.height}, "",
                join("set xlabel 'place in memory'\nset xrange [-0.6:11.6]\nset xtics 1\n",
                     "set yrange [4.9:-0.5]\nset ytics ", named_places(names), "\nplot ",
                     picture.data("reads", reads),
                     " using 1:2:(sprintf('%d', $3)) with labels font ',18' textcolor rgb '",
                     kind(0).colour, "' notitle"));
  picture.draw_slide("A view moves no element: it is another order of reading",
                     "the number at a place: when the view reads it, from 0");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "01_window", {summary, duration, lesson, trials}, study);
}
