#include <cmath>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

/// Each row of the last axis: f(row) gives its scale and what is taken off before.
struct Affine {
  double shift, scale;
};
Reference rows(std::function<Affine(const std::vector<double>&)> f) {
  return [f](const std::vector<Dense>& inputs) {
    Dense y = inputs[0];
    const auto n = static_cast<std::size_t>(y.shape[-1]);
    for (std::size_t start = 0; n > 0 && start < y.values.size(); start += n) {
      const auto row = y.values.begin() + static_cast<std::ptrdiff_t>(start);
      const Affine a = f({row, row + static_cast<std::ptrdiff_t>(n)});
      for (std::size_t i = 0; i < n; ++i) {
        double& value = y.values[start + i];
        value = (value - a.shift) * a.scale;
        if (inputs.size() > 1) value *= inputs[1].values[i];
        if (inputs.size() > 2) value += inputs[2].values[i];
      }
    }
    return y;
  };
}

Reference standardized(double eps) {
  return rows([eps](const std::vector<double>& row) {
    double mean = 0, var = 0;
    for (const double x : row) mean += x / static_cast<double>(row.size());
    for (const double x : row) var += (x - mean) * (x - mean) / static_cast<double>(row.size());
    return Affine{mean, 1 / std::sqrt(var + eps)};
  });
}

Reference scaled(double eps) {
  return rows([eps](const std::vector<double>& row) {
    double square = 0;
    for (const double x : row) square += x * x / static_cast<double>(row.size());
    return Affine{0, 1 / std::sqrt(square + eps)};
  });
}

void add_norm_rows(OpTable& table) {
  using Inputs = std::vector<Tensor>;
  const Tensor x = table.random({2, 3, 5}), w = table.random({5}), b = table.random({5});
  const auto norm = [](const Inputs& in) { return layer_norm(in[0], in[1], in[2]); };
  table.add({.name = "layer_norm",
             .samples = {{.note = "weight and bias",
                          .inputs = {x, w, b},
                          .apply = norm,
                          .reference = standardized(1e-5)},
                         {.note = "plain, eps 0.5",
                          .inputs = {x},
                          .apply = [](const Inputs& in) { return layer_norm(in[0], {}, {}, 0.5); },
                          .reference = standardized(0.5)},
                         {.note = "weight only, rows of many vectors",
                          .inputs = {table.random({2, 37}), table.random({37})},
                          .apply = [](const Inputs& in) { return layer_norm(in[0], in[1]); },
                          .reference = standardized(1e-5)},
                         {.note = "one axis",
                          .inputs = {table.random({4})},
                          .apply = [](const Inputs& in) { return layer_norm(in[0]); },
                          .reference = standardized(1e-5)}},
             .empty = {{.note = "no rows",
                        .inputs = {table.random({0, 5}), w, b},
                        .apply = norm,
                        .reference = standardized(1e-5)},
                       {.note = "empty rows",
                        .inputs = {table.random({3, 0}), table.random({0}), table.random({0})},
                        .apply = norm,
                        .reference = standardized(1e-5)}},
             .errors = {{"weight has shape [4]",
                         [] {
                           layer_norm(ones({2, 5}), ones({4}));
                         }},
                        {"bias has shape [1, 5]",
                         [] {
                           layer_norm(ones({2, 5}), {}, ones({1, 5}));
                         }},
                        {"i64",
                         [] {
                           layer_norm(ones({2, 5}, i64));
                         }},
                        {"at least one axis", [] { layer_norm(scalar(1)); }},
                        {"eps is -1", [] {
                           layer_norm(ones({2, 5}), {}, {}, -1);
                         }}}});
  table.add({.name = "rms_norm",
             .samples = {{.note = "weight",
                          .inputs = {x, w},
                          .apply = [](const Inputs& in) { return rms_norm(in[0], in[1]); },
                          .reference = scaled(1e-5)},
                         {.note = "plain, eps 0.5",
                          .inputs = {x},
                          .apply = [](const Inputs& in) { return rms_norm(in[0], {}, 0.5); },
                          .reference = scaled(0.5)}},
             .empty = {{.note = "no rows",
                        .inputs = {table.random({0, 5}), w},
                        .apply = [](const Inputs& in) { return rms_norm(in[0], in[1]); },
                        .reference = scaled(1e-5)}},
             .errors = {{"weight has shape [4]",
                         [] {
                           rms_norm(ones({2, 5}), ones({4}));
                         }},
                        {"i64", [] {
                           rms_norm(ones({2, 5}, i64));
                         }}}});
}

const Family family(add_norm_rows);

}  // namespace
}  // namespace ladon::test
