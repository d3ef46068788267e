// Rows of operations whose speed should be that of memory: softmax and norms of rows, functions of
// one element, copies; and of convolution.

#include "both.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"

namespace ladon::bench {
namespace {

constexpr std::int64_t rows_of = 4096, columns = 1024, side = 4096, numbers = 4'000'000;

Tensor draw(const Shape& shape, std::uint64_t seed, DType dtype = f32) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, dtype);
}

/// A function of inputs that are drawn, alone or with all gradients.
template <class Ours, class Theirs>
Sides function(std::vector<Tensor> x, bool gradients, Ours ours, Theirs theirs) {
  std::vector<at::Tensor> peer_x;
  for (Tensor& each : x) {
    peer_x.push_back(to_peer(each).requires_grad_(gradients));
    each.set_requires_grad(gradients);
  }
  if (!gradients)
    return sides([=] { return ours(x); }, in_inference_mode([=] { return theirs(peer_x); }));
  const Tensor c = draw(ours(x).shape(), 9);
  return sides([=] { return grad({ours(x)}, x, {.cotangents = {c}}); },
               [=, peer_c = to_peer(c)] {
                 return torch::autograd::grad({theirs(peer_x)}, peer_x, {peer_c});
               });
}

using X = std::vector<Tensor>;
using PeerX = std::vector<at::Tensor>;

/// Forward, and forward with gradients, of inputs of which the first is 4096 × 1024. Forward reads
/// and writes it; backward reads it and the cotangent, and writes a gradient.
template <class Ours, class Theirs>
void add_both(std::vector<Row>& rows, const std::string& name, std::array<double, 2> forward,
              std::array<double, 2> both, Ours ours, Theirs theirs, bool with_weights = false) {
  for (const bool gradients : {false, true})
    rows.push_back({.name = name + (gradients ? " f+b" : " fwd"),
                    .goal = gradients ? both : forward,
                    .ceiling = Ceiling::memory,
                    .needed = (gradients ? 5.0 : 2.0) * 4 * double(rows_of * columns),
                    .make = [=] {
                      X x = {draw({rows_of, columns}, 1)};
                      if (with_weights) x.insert(x.end(), {draw({columns}, 2), draw({columns}, 3)});
                      return function(x, gradients, ours, theirs);
                    }});
}

/// A function of 4 M numbers in (0.1, 2), where sin, pow and all others are at their ordinary work.
template <class Ours, class Theirs>
Row on_numbers(const std::string& name, DType dtype, double goal, Ours ours, Theirs theirs) {
  return {.name = name + " 4 M " + (dtype == f64 ? "f64" : "f32"),
          .goal = {goal, 0},
          .ceiling = Ceiling::memory,
          .needed = 2.0 * double(numbers) * (dtype == f64 ? 8 : 4),
          .tolerance = dtype == f64 ? 1e-12 : 1e-5,
          .make = [=] {
            Generator rng(4);
            return function({uniform({numbers}, rng, 0.1, 2, dtype)}, false, ours, theirs);
          }};
}

Sides convolve(bool gradients) {
  return function(
      {draw({32, 32, 32, 16}, 1), draw({32, 3, 3, 16}, 2), draw({32}, 3)}, gradients,
      [](const X& x) {
        return convolution(x[0], x[1], x[2], {.before = {1, 1}});
      },
      [](const PeerX& x) {
        // LibTorch's own order of memory would be channels first: views, which cost nothing
        const at::Tensor image = x[0].permute({0, 3, 1, 2}), filter = x[1].permute({0, 3, 1, 2});
        return at::conv2d(image, filter, x[2], 1, 1).permute({0, 2, 3, 1});
      });
}

void add_functions(std::vector<Row>& rows) {
  for (const DType dtype : {f32, f64}) {
    const auto add = [&](const char* name, double f64_goal, auto ours, auto theirs) {
      rows.push_back(on_numbers(name, dtype, dtype == f64 ? f64_goal : 0, ours, theirs));
    };
    add(
        "pow 1.7", 0, [](const X& x) { return pow(x[0], 1.7); },
        [](const PeerX& x) { return at::pow(x[0], 1.7); });
    add(
        "sin", 0, [](const X& x) { return sin(x[0]); },
        [](const PeerX& x) { return at::sin(x[0]); });
    add(
        "erf", 7, [](const X& x) { return erf(x[0]); },
        [](const PeerX& x) { return at::erf(x[0]); });
    add(
        "gelu", 7, [](const X& x) { return gelu(x[0]); },
        [](const PeerX& x) { return at::gelu(x[0]); });
  }
}

void add_memory(std::vector<Row>& rows) {
  const double matrix = 4 * double(side * side);
  const auto add = [&](const char* name, double bytes, auto make) {
    rows.push_back({.name = name, .ceiling = Ceiling::memory, .needed = bytes, .make = make});
  };
  add("clone(transpose) 4096^2", 2 * matrix, [] {
    return function(
        {draw({side, side}, 1)}, false, [](const X& x) { return clone(transpose(x[0])); },
        [](const PeerX& x) { return x[0].t().contiguous(); });
  });
  add("x + y 4096^2", 3 * matrix, [] {
    return function(
        {draw({side, side}, 1), draw({side, side}, 2)}, false,
        [](const X& x) { return x[0] + x[1]; }, [](const PeerX& x) { return x[0] + x[1]; });
  });
  add("sum 64 MB", matrix, [] {
    Generator rng(1);
    return function(
        {uniform({side, side}, rng)}, false, [](const X& x) { return sum(x[0]); },
        [](const PeerX& x) { return x[0].sum(); });
  });
}

}  // namespace

std::vector<Row> pointwise_rows() {
  std::vector<Row> rows;
  add_both(
      rows, "softmax 4096x1024", {1.1, 0.8}, {2.4, 0}, [](const X& x) { return softmax(x[0]); },
      [](const PeerX& x) { return at::softmax(x[0], -1); });
  add_both(
      rows, "layer norm 4096x1024", {1.1, 0.5}, {2.5, 0},
      [](const X& x) { return layer_norm(x[0], x[1], x[2]); },
      [](const PeerX& x) { return at::layer_norm(x[0], {columns}, x[1], x[2]); }, true);
  add_both(
      rows, "gelu exact 4096x1024", {1.0, 0.55}, {3.5, 0}, [](const X& x) { return gelu(x[0]); },
      [](const PeerX& x) { return at::gelu(x[0]); });
  add_both(
      rows, "gelu tanh 4096x1024", {0.8, 0.45}, {},
      [](const X& x) { return gelu(x[0], Gelu::tanh); },
      [](const PeerX& x) { return at::gelu(x[0], "tanh"); });
  const double products = 2.0 * 32 * 32 * 32 * 9 * 16 * 32;
  for (const bool gradients : {false, true})
    rows.push_back(
        {.name = std::string("conv2d 3x3 32x32x32x16 to 32 ") + (gradients ? "f+b" : "fwd"),
         .ceiling = Ceiling::fma,
         .needed = products * (gradients ? 3 : 1),
         .make = [=] { return convolve(gradients); }});
  add_memory(rows);
  add_functions(rows);
  return rows;
}

}  // namespace ladon::bench
