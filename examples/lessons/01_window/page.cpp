#include "ladon/examples/lessons/01_window/page.h"

#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

Json sizes(const Shape& shape) {
  Json all = Json::array();
  for (const std::int64_t size : shape) all.push_back(size);
  return all;
}

}  // namespace

Page page() {
  Tensor x =
      reshape(arange(0.0, 12.0, 1.0, f64), {3, 4}).set_requires_grad();  // element = its address
  const std::pair<const char*, Tensor> views[] = {
      {"transpose(x)", transpose(x)},
      {"x[:, ::2]", slice(x, 1, {.start = 0, .step = 2})},
      {"flip(x)", flip(x, {0, 1})},
      {"x[0] three times", expand(select(x, 0, 0), {3, 4})},
  };
  Json windows = Json::array(), checks = Json::array();
  for (const auto& [name, view] : views) {
    const Json window = {sizes(view.shape()), sizes(view.strides()), view.offset()};
    windows.push_back({name, window});
    checks.push_back(checked("placesOf", window, view.to_vector()));
    checks.push_back(checked("rowMajor", window, int{view.contiguous()}));
    const Tensor given = reshape(arange(1.0, view.count() + 1.0, 1.0, f64), view.shape());
    x.set_grad({});
    backward(sum(view * given));
    checks.push_back(checked("gradientOf", window, x.grad().to_vector()));
  }
  return {.title = "A view moves no element: it is another order of reading one strip of memory",
          .about =
              "A matrix x of 3 rows and 4 columns is a strip of 12 numbers. Turn shape, strides "
              "and offset until the window is the view that you chose. Element n of the window "
              "then hands n back as its gradient: look where it arrives.",
          .script = page_script,
          .data = {{"windows", windows}, {"checks", checks}}};
}

}  // namespace ladon::example
