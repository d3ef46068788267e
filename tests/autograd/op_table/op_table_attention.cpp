#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/op_table/op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;

/// The element that broadcasting puts at an index, aligned at the right.
double broadcast_at(const Dense& x, const Shape& index) {
  Shape own = index.sub(index.rank() - x.shape.rank(), index.rank());
  for (int i = 0; i < own.rank(); ++i) own[i] = x.shape[i] == 1 ? 0 : own[i];
  return x(own);
}

Shape with(Shape prefix, std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t size : sizes) prefix.append(size);
  return prefix;
}

/// The weights of one query: exp(logits) over their sum, 0 where nothing is visible.
std::vector<double> weights_of(const std::vector<Dense>& in, const Shape& lead, std::int64_t h,
                               std::int64_t i, bool boolean_mask, const AttentionOptions& o) {
  const Dense &q = in[0], &k = in[1];
  const std::int64_t keys = k.shape[-2], width = q.shape[-1];
  const std::int64_t group = q.shape[-3] / k.shape[-3];
  std::vector<double> e;
  double sum = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    double logit = 0;
    for (std::int64_t c = 0; c < width; ++c)
      logit +=
          broadcast_at(q, with(lead, {h, i, c})) * broadcast_at(k, with(lead, {h / group, j, c}));
    logit *= o.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
    if (o.softcap > 0) logit = o.softcap * std::tanh(logit / o.softcap);
    const double m = in.size() > 3 ? broadcast_at(in[3], with(lead, {h, i, j})) : boolean_mask;
    const bool hidden = (boolean_mask && m == 0) || (o.causal && j > i + o.causal_offset);
    e.push_back(hidden ? 0 : std::exp(boolean_mask ? logit : logit + m));
    sum += e.back();
  }
  for (double& x : e) x = sum > 0 ? x / sum : 0;
  return e;
}

Reference attention(const AttentionOptions& o, bool boolean_mask, bool want_weights) {
  return [=](const std::vector<Dense>& in) {
    Shape lead;
    for (int n = 0; n < 3; ++n)
      lead = broadcast_shapes("reference", lead,
                              in[static_cast<std::size_t>(n)].shape.sub(
                                  0, in[static_cast<std::size_t>(n)].shape.rank() - 3));
    const Dense &q = in[0], &v = in[2];
    const std::int64_t heads = q.shape[-3], keys = v.shape[-2], width = v.shape[-1];
    const Shape rows = with(lead, {heads, q.shape[-2]});
    Dense y(with(rows, {want_weights ? keys : width}));
    for_each_index(rows, [&](const Shape& index) {
      const std::int64_t h = index[-2], i = index[-1];
      const Shape batch = index.sub(0, index.rank() - 2);
      const std::vector<double> w = weights_of(in, batch, h, i, boolean_mask, o);
      for (std::int64_t j = 0; j < keys; ++j) {
        const double weight = w[static_cast<std::size_t>(j)];
        if (want_weights) y(with(index, {j})) = weight;
        for (std::int64_t c = 0; c < width && !want_weights; ++c)
          y(with(index, {c})) +=
              weight * broadcast_at(v, with(batch, {h / (heads / v.shape[-3]), j, c}));
      }
    });
    return y;
  };
}

/// The output of attention with q, k, v and, if there is a fourth, the mask; or its weights, which
/// are a function of q, k and the mask alone.
OpSample sample(std::string note, Inputs inputs, const AttentionOptions& o, bool want_weights) {
  const bool boolean_mask = inputs.size() > 3 && inputs[3].dtype() == boolean;
  const Reference reference = attention(o, boolean_mask, want_weights);
  if (!want_weights)
    return {.note = std::move(note),
            .inputs = std::move(inputs),
            .apply =
                [=](const Inputs& in) {
                  AttentionOptions bound = o;
                  if (in.size() > 3) bound.mask = in[3];
                  return scaled_dot_product_attention(in[0], in[1], in[2], bound);
                },
            .reference = reference};
  const Tensor v = inputs[2];
  inputs.erase(inputs.begin() + 2);
  return {.note = std::move(note),
          .inputs = std::move(inputs),
          .apply =
              [=](const Inputs& in) {
                AttentionOptions bound = o;
                if (in.size() > 2) bound.mask = in[2];
                return attention_with_weights(in[0], in[1], cast(v, in[0].dtype()), bound).weights;
              },
          .reference =
              [=](std::vector<Dense> in) {
                in.insert(in.begin() + 2, Dense(v));
                return reference(in);
              }};
}

std::vector<OpSample> samples(OpTable& table, bool weights) {
  const auto r = [&](const Shape& shape) { return table.random(shape); };
  const Tensor q = r({2, 2, 3, 4}), k = r({2, 2, 5, 4}), v = r({2, 2, 5, 3});
  const Tensor none_for_first =
      tensor({0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1}, {3, 5}, boolean);
  return {sample("plain", {q, k, v}, {}, weights),
          sample("no batch", {r({1, 3, 2}), r({1, 3, 2}), r({1, 3, 2})}, {}, weights),
          sample("causal", {q, k, v}, {.causal = true}, weights),
          sample("causal after a cache", {q, k, v}, {.causal = true, .causal_offset = 2}, weights),
          sample("causal, first queries see nothing", {q, k, v},
                 {.causal = true, .causal_offset = -2}, weights),
          sample("scale and softcap", {q, k, v}, {.scale = 0.7, .softcap = 1.5}, weights),
          sample("boolean mask", {q, k, v, none_for_first}, {}, weights),
          sample("key padding", {q, k, v, table.random_booleans({2, 1, 1, 5})}, {}, weights),
          sample("additive mask", {q, k, v, r({2, 1, 3, 5})}, {}, weights),
          sample("one additive row for all, causal", {q, k, v, r({5})}, {.causal = true}, weights),
          sample("grouped heads", {r({2, 4, 3, 2}), r({2, 2, 5, 2}), r({2, 2, 5, 3})},
                 {.causal = true, .softcap = 2}, weights),
          sample("broadcast batches", {r({2, 1, 2, 3, 2}), r({3, 2, 4, 2}), r({1, 2, 4, 2})}, {},
                 weights)};
}

std::vector<OpSample> empty_samples(OpTable& table, bool weights) {
  const auto r = [&](const Shape& shape) { return table.random(shape); };
  return {
      sample("no batch", {r({0, 2, 3, 4}), r({0, 2, 5, 4}), r({0, 2, 5, 4})}, {}, weights),
      sample("no queries", {r({2, 2, 0, 4}), r({2, 2, 5, 4}), r({2, 2, 5, 4})}, {}, weights),
      sample("no query heads", {r({2, 0, 3, 4}), r({2, 2, 5, 4}), r({2, 2, 5, 4})}, {}, weights),
      sample("no heads", {r({2, 0, 3, 4}), r({2, 0, 5, 4}), r({2, 0, 5, 4})}, {}, weights),
      sample("no keys", {r({2, 2, 3, 4}), r({2, 2, 0, 4}), r({2, 2, 0, 4})}, {}, weights)};
}

std::vector<OpError> errors(Tensor (*apply)(const Tensor&, const Tensor&, const Tensor&,
                                            const AttentionOptions&)) {
  const auto with_shapes = [apply](const Shape& q, const Shape& k, const Shape& v) {
    return [=] { apply(ones(q), ones(k), ones(v), {}); };
  };
  const auto with_options = [apply](const AttentionOptions& o) {
    const Tensor x = ones({1, 2, 3, 4});
    return [=] { apply(x, x, x, o); };
  };
  return {{"4 wide, keys 5", with_shapes({2, 3, 4}, {2, 3, 5}, {2, 3, 4})},
          {"each key needs one value", with_shapes({2, 3, 4}, {2, 3, 4}, {2, 5, 4})},
          {"must have the same heads", with_shapes({2, 3, 4}, {2, 3, 4}, {1, 3, 4})},
          {"3 query heads cannot share 2", with_shapes({3, 3, 4}, {2, 3, 4}, {2, 3, 4})},
          {"[.., heads, time, width]", with_shapes({3, 4}, {3, 4}, {3, 4})},
          {"[2] and [3]", with_shapes({2, 1, 3, 4}, {3, 1, 3, 4}, {3, 1, 3, 4})},
          {"does not broadcast", with_options({.mask = ones({5, 1, 2, 3, 3}, boolean)})},
          {"mask must be boolean", with_options({.mask = ones({3, 3}, i64)})},
          {"softcap is -1", with_options({.softcap = -1})},
          {"dropout is 2", with_options({.dropout = 2})},
          {"needs a Generator", with_options({.dropout = 0.5})}};
}

#ifndef LADON_WITHOUT_EXTRA
/// y of pairs (u, v) = (x[first(i)], x[second(i)]) of channels; others stay.
Reference rotated(bool interleaved) {
  return [=](const std::vector<Dense>& in) {
    Dense y = in[0];
    const std::int64_t width = in[0].shape[-1], half = in[1].shape[-1];
    const std::int64_t tokens = in[1].shape.count() / std::max<std::int64_t>(1, half);
    for (std::int64_t row = 0; row * width < in[0].shape.count(); ++row)
      for (std::int64_t i = 0; i < half; ++i) {
        const auto first = static_cast<std::size_t>(row * width + (interleaved ? 2 * i : i));
        const auto second = first + static_cast<std::size_t>(interleaved ? 1 : half);
        const auto angle = static_cast<std::size_t>(row % tokens * half + i);
        const double u = in[0].values[first], v = in[0].values[second];
        const double cos = in[1].values[angle], sin = in[2].values[angle];
        y.values[first] = u * cos - v * sin;
        y.values[second] = v * cos + u * sin;
      }
    return y;
  };
}

void add_rotary(OpTable& table) {
  const Tensor x = table.random({2, 3, 6}), cos = table.random({3, 2}), sin = table.random({3, 2});
  const auto plain = [](const Inputs& in) { return rotary_embedding(in[0], in[1], in[2]); };
  const auto interleaved = [](const Inputs& in) {
    return rotary_embedding(in[0], in[1], in[2], true);
  };
  table.add({.name = "rotary_embedding",
             .samples = {{.note = "four of six channels",
                          .inputs = {x, cos, sin},
                          .apply = plain,
                          .reference = rotated(false)},
                         {.note = "interleaved",
                          .inputs = {x, cos, sin},
                          .apply = interleaved,
                          .reference = rotated(true)},
                         {.note = "all channels",
                          .inputs = {table.random({3, 4}), cos, sin},
                          .apply = plain,
                          .reference = rotated(false)}},
             .empty = {{.note = "no rows",
                        .inputs = {table.random({0, 3, 6}), cos, sin},
                        .apply = plain,
                        .reference = rotated(false)}},
             .errors = {{"needs x [.., T, d]",
                         [] {
                           rotary_embedding(ones({2, 3}), ones({2, 2}), ones({2, 2}));
                         }},
                        {"do not broadcast", [] {
                           rotary_embedding(ones({2, 4}), ones({3, 2}), ones({3, 2}));
                         }}}});
}
#endif

void add_attention_rows(OpTable& table) {
  table.add({.name = "scaled_dot_product_attention",
             .samples = samples(table, false),
             .empty = empty_samples(table, false),
             .errors = errors(scaled_dot_product_attention)});
  table.add({.name = "attention_with_weights",
             .samples = samples(table, true),
             .empty = empty_samples(table, true),
             .errors = errors(
                 [](const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
                   return attention_with_weights(q, k, v, o).weights;
                 })});
#ifndef LADON_WITHOUT_EXTRA
  add_rotary(table);
#endif
}

const Family family(add_attention_rows);

}  // namespace
}  // namespace ladon::test
