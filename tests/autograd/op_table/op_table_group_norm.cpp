// Rows of the normalizations over positions in autograd/ops/norm.h.

#include <cmath>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;

/// (x − mean)/sqrt(var + eps)·w + b of inputs x [.., C], mean, var, w, b [C].
Reference by_given(double eps) {
  return [eps](const std::vector<Dense>& in) {
    Dense y = in[0];
    const auto channels = static_cast<std::size_t>(y.shape[-1]);
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      const std::size_t c = i % channels;
      y.values[i] = (y.values[i] - in[1].values[c]) / std::sqrt(in[2].values[c] + eps);
      if (in.size() > 3) y.values[i] *= in[3].values[c];
      if (in.size() > 4) y.values[i] += in[4].values[c];
    }
    return y;
  };
}

/// The same with the mean and variance of each example's group of channels.
Reference by_groups(std::int64_t groups, double eps) {
  return [=](const std::vector<Dense>& in) {
    Dense y = in[0];
    const auto channels = static_cast<std::size_t>(y.shape[-1]);
    const std::size_t each = channels / static_cast<std::size_t>(groups);
    const std::size_t example = y.values.size() / static_cast<std::size_t>(y.shape[0]);
    const auto group_of = [&](std::size_t i) {
      return i / example * channels + i % channels / each;
    };
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      double n = 0, mean = 0, var = 0;
      const auto of_group = [&](const auto& take) {
        for (std::size_t j = 0; j < y.values.size(); ++j)
          if (group_of(j) == group_of(i)) take(in[0].values[j]);
      };
      of_group([&](double) { ++n; });
      of_group([&](double x) { mean += x / n; });
      of_group([&](double x) { var += (x - mean) * (x - mean) / n; });
      y.values[i] = (in[0].values[i] - mean) / std::sqrt(var + eps);
      if (in.size() > 1) y.values[i] *= in[1].values[i % channels];
      if (in.size() > 2) y.values[i] += in[2].values[i % channels];
    }
    return y;
  };
}

void add_batch_norm(OpTable& t) {
  const auto whole = [](const Inputs& in) { return batch_norm(in[0], in[1], in[2], in[3], in[4]); };
  const auto own = [](const Inputs& in) {
    return batch_norm(in[0], mean(in[0], {0, 1}), var(in[0], {0, 1}, Dims::drop, 0));
  };
  const Tensor m = t.random({4}), v = t.random({4}, 0.5, 2), w = t.random({4}), b = t.random({4});
  t.add({.name = "batch_norm",
         .samples = {{.note = "weight and bias",
                      .inputs = {t.random({2, 3, 4}), m, v, w, b},
                      .apply = whole,
                      .reference = by_given(1e-5)},
                     {.note = "plain, eps 0.5",
                      .inputs = {t.random({3, 4}), m, v},
                      .apply =
                          [](const Inputs& in) {
                            return batch_norm(in[0], in[1], in[2], {}, {}, 0.5);
                          },
                      .reference = by_given(0.5)},
                     {.note = "by its own statistics",
                      .inputs = {t.random({3, 2, 2})},
                      .apply = own,
                      .reference =
                          [](const std::vector<Dense>& in) {  // all vectors as one example
                            Dense one = in[0];
                            one.shape = {1, 6, 2};
                            Dense y = by_groups(2, 1e-5)({one});
                            y.shape = in[0].shape;
                            return y;
                          }}},
         .empty = {{.note = "no vectors",
                    .inputs = {t.random({0, 4}), m, v, w, b},
                    .apply = whole,
                    .reference = by_given(1e-5)}},
         .errors = {{"the mean has shape [3]",
                     [] {
                       batch_norm(ones({2, 4}), ones({3}), ones({4}));
                     }},
                    {"the variance has shape [1, 4]",
                     [] {
                       batch_norm(ones({2, 4}), ones({4}), ones({1, 4}));
                     }},
                    {"the weight has shape [3]",
                     [] {
                       batch_norm(ones({2, 4}), ones({4}), ones({4}), ones({3}));
                     }},
                    {"eps is -1",
                     [] {
                       batch_norm(ones({2, 4}), ones({4}), ones({4}), {}, {}, -1);
                     }},
                    {"i64", [] {
                       batch_norm(ones({2, 4}, i64), ones({4}), ones({4}));
                     }}}});
}

void add_normalize_batch(OpTable& t) {
  const auto whole = [](const Inputs& in) { return normalize_batch(in[0], in[1], in[2]).y; };
  const auto all_as_one = [](double eps) -> Reference {
    return [eps](const std::vector<Dense>& in) {
      std::vector<Dense> one = in;
      const std::int64_t channels = in[0].shape[-1];
      one[0].shape = {1, in[0].shape.count() / channels, channels};
      Dense y = by_groups(channels, eps)(one);
      y.shape = in[0].shape;
      return y;
    };
  };
  const Tensor w = t.random({4}), b = t.random({4});
  t.add(
      {.name = "normalize_batch",
       .samples = {{.note = "weight and bias",
                    .inputs = {t.random({3, 2, 4}), w, b},
                    .apply = whole,
                    .reference = all_as_one(1e-5)},
                   {.note = "plain, eps 0.5",
                    .inputs = {t.random({5, 3})},
                    .apply = [](const Inputs& in) { return normalize_batch(in[0], {}, {}, 0.5).y; },
                    .reference = all_as_one(0.5)}},
       .empty = {{.note = "no vectors",
                  .inputs = {t.random({0, 4}), w, b},
                  .apply = whole,
                  .reference = [](const std::vector<Dense>& in) { return in[0]; }}},
       .errors = {{"the weight has shape [3]",
                   [] {
                     normalize_batch(ones({2, 4}), ones({3}));
                   }},
                  {"eps is -1",
                   [] {
                     normalize_batch(ones({2, 4}), {}, {}, -1);
                   }},
                  {"i64", [] {
                     normalize_batch(ones({2, 4}, i64));
                   }}}});
}

void add_group_norm_rows(OpTable& t) {
  add_batch_norm(t);
  add_normalize_batch(t);
  const Tensor w = t.random({4}), b = t.random({4});
  const auto pairs = [](const Inputs& in) { return group_norm(in[0], 2, in[1], in[2]); };
  t.add({.name = "group_norm",
         .samples = {{.note = "weight and bias",
                      .inputs = {t.random({2, 3, 4}), w, b},
                      .apply = pairs,
                      .reference = by_groups(2, 1e-5)},
                     {.note = "images, one group, eps 0.5",
                      .inputs = {t.random({2, 2, 3, 2})},
                      .apply = [](const Inputs& in) { return group_norm(in[0], 1, {}, {}, 0.5); },
                      .reference = by_groups(1, 0.5)}},
         .empty = {{.note = "no examples",
                    .inputs = {t.random({0, 3, 4}), w, b},
                    .apply = pairs,
                    .reference = [](const std::vector<Dense>& in) { return in[0]; }}},
         .errors = {{"3 groups do not divide 4 channels evenly",
                     [] {
                       group_norm(ones({2, 3, 4}), 3);
                     }},
                    {"0 groups",
                     [] {
                       group_norm(ones({2, 3, 4}), 0);
                     }},
                    {"expects [N, positions.., channels]", [] { group_norm(ones({4}), 2); }},
                    {"weight has shape [3]",
                     [] {
                       group_norm(ones({2, 3, 4}), 2, ones({3}));
                     }},
                    {"i64", [] {
                       group_norm(ones({2, 4}, i64), 2);
                     }}}});
  t.add({.name = "instance_norm",
         .samples = {{.note = "weight and bias",
                      .inputs = {t.random({2, 3, 4}), w, b},
                      .apply = [](const Inputs& in) { return instance_norm(in[0], in[1], in[2]); },
                      .reference = by_groups(4, 1e-5)},
                     {.note = "images, eps 0.5",
                      .inputs = {t.random({2, 2, 3, 2})},
                      .apply = [](const Inputs& in) { return instance_norm(in[0], {}, {}, 0.5); },
                      .reference = by_groups(2, 0.5)}},
         .errors = {{"bias has shape [3]",
                     [] {
                       instance_norm(ones({2, 3, 4}), {}, ones({3}));
                     }},
                    {"expects [N, positions.., channels]", [] { instance_norm(ones({4})); }}}});
}

const Family family(add_group_norm_rows);

}  // namespace
}  // namespace ladon::test
