#include "ladon/core/kernels/optimizer.h"

#include <array>
#include <tuple>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t grain = 1 << 14;  // elements per task

void check_like(const char* operation, const char* what, const Tensor& y, const Tensor& x) {
  LADON_CHECK(y.shape() == x.shape() && y.dtype() == x.dtype(), operation, "the ", what, " (",
              y.dtype(), " ", y.shape(), ") and the parameter (", x.dtype(), " ", x.shape(),
              ") must have the same dtype and shape");
  LADON_CHECK(x.contiguous(), operation, "the parameter of shape ", x.shape(), " has strides ",
              x.strides(), ", but must be contiguous; train contiguous(x)");
  LADON_CHECK(y.contiguous(), operation, "the ", what, " of shape ", y.shape(), " has strides ",
              y.strides(), ", but must be contiguous; pass contiguous(x)");
}

/// Runs the loop that `pick` selects from the table of loops on pieces of x, g and the states;
/// undefined states are passed as null pointers.
template <std::size_t count, class Step, class Pick>
void update(const char* operation, Tensor& x, const Tensor& g, std::array<Tensor, count> states,
            const Step& step, const Pick& pick) {
  check_like(operation, "gradient", g, x);
  for (const Tensor& state : states)
    if (state.defined()) check_like(operation, "state", state, x);
  visit_floating(operation, x.dtype(), [&]<class T>() {
    const auto loop = pick(loops().of<T>());
    T* parameter = x.mutable_data<T>();
    const T* gradient = g.data<T>();
    std::array<T*, count> start;
    for (std::size_t j = 0; j < count; ++j)
      start[j] = states[j].defined() ? states[j].template mutable_data<T>() : nullptr;
    const auto piece = [&](std::int64_t i, std::int64_t end) {
      const auto run = [&](auto*... state) {
        loop(parameter + i, gradient + i, (state ? state + i : state)..., step, end - i);
      };
      std::apply(run, start);
    };
    if (x.count() <= grain) return piece(0, x.count());  // starting a task would cost too much
    parallel::for_range(x.count(), grain, piece);
  });
}

}  // namespace

void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step) {
  update("sgd", x, g, std::array{std::move(m)}, step, [](const auto& table) { return table.sgd; });
}

void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, Tensor u, const AdamStep& step) {
  update("adam", x, g, std::array{m, v, u}, step, [](const auto& table) { return table.adam; });
}

void rmsprop(Tensor x, const Tensor& g, Tensor v, Tensor c, Tensor m, const RmspropStep& step) {
  update("rmsprop", x, g, std::array{v, c, m}, step,
         [](const auto& table) { return table.rmsprop; });
}

void adagrad(Tensor x, const Tensor& g, Tensor v, const AdagradStep& step) {
  update("adagrad", x, g, std::array{v}, step, [](const auto& table) { return table.adagrad; });
}

void lion(Tensor x, const Tensor& g, Tensor m, const LionStep& step) {
  update("lion", x, g, std::array{std::move(m)}, step,
         [](const auto& table) { return table.lion; });
}

}  // namespace ladon::kernels
