// Random calls of reductions, sorting, softmax, normalization and losses.

#include "ladon/optim/extra/extra.h"
#include "table.h"

namespace ladon::test {
namespace {

using Reduce = Tensor (*)(const Tensor&, const Axes&, Dims);

TopkOptions topk_options(Draw& d) { return {.axis = d.axis(), .largest = d.flag()}; }
SortOptions sort_options(Draw& d) { return {.axis = d.axis(), .descending = d.flag()}; }
Reduction reduction(Draw& d) { return static_cast<Reduction>(d.say(d.below(3))); }

void add_reductions(CallTable& table) {
  const std::vector<std::pair<const char*, Reduce>> reductions{
      {"sum", sum},   {"mean", mean},           {"prod", prod}, {"amax", amax},
      {"amin", amin}, {"logsumexp", logsumexp}, {"norm", norm}};
  for (const auto& [name, f] : reductions) table.add(name, f, any_tensor, axes, dims);
  table.add("any", any, mask, axes, dims);
  table.add("all", all, mask, axes, dims);
  table.add("var", var, floating, axes, dims, number);
  table.add("stddev", stddev, floating, axes, dims, number);
  table.add("max", max, any_tensor, axis, dims);
  table.add("min", min, any_tensor, axis, dims);
  table.add("argmax", argmax, any_tensor, axis, dims);
  table.add("argmin", argmin, any_tensor, axis, dims);
  table.add("topk", topk, any_tensor, size, topk_options);
  table.add("sort", sort, any_tensor, sort_options);
  table.add("cumsum", cumsum, any_tensor, axis);
  table.add("cumprod", cumprod, any_tensor, axis);
  table.add("linear_recurrence", linear_recurrence, any_tensor, twin, axis);
  table.add("sum_to", sum_to, any_tensor, [](Draw& d) {
    Shape shape = d.subject().defined() ? d.subject().shape() : d.shape();
    for (std::int64_t& n : shape)
      if (d.chance(0.3)) n = d.around(1, 1);
    if (shape.rank() > 0 && d.chance(0.3)) shape.erase(0);
    return d.say(shape);
  });
}

/// [n] for the last axis, or undefined.
Tensor per_channel(Draw& d) {
  const Tensor& x = d.subject();
  if (d.chance(0.3)) return {};
  return d.near({x.defined() && x.rank() > 0 ? x.size(-1) : 2});
}

CrossEntropyOptions loss_options(Draw& d) {
  CrossEntropyOptions options;
  if (d.chance(0.3)) options.label_smoothing = d.fraction();
  if (d.chance(0.3)) options.ignore_index = d.around(-1, 3);
  if (d.chance(0.3)) options.weight = per_channel(d);
  options.reduction = reduction(d);
  return options;
}

/// A class for each row of logits.
Tensor targets(Draw& d) {
  const Tensor& logits = d.subject();
  if (!logits.defined() || logits.rank() == 0) return d.tensor();
  return d.indices(logits.shape().sub(0, logits.rank() - 1), logits.size(-1));
}

/// 1 or −1 for each row, mostly.
Tensor labels(Draw& d) {
  const Tensor& x = d.subject();
  if (!x.defined() || x.rank() == 0) return d.tensor();
  return 2 * d.indices(x.shape().sub(0, x.rank() - 1), 2) - 1;
}

BinaryCrossEntropyOptions binary_options(Draw& d) {
  BinaryCrossEntropyOptions options;
  if (d.chance(0.3)) options.weight = d.partner();
  if (d.chance(0.3)) options.pos_weight = d.partner();
  options.reduction = reduction(d);
  return options;
}

}  // namespace

void add_reduce_calls(CallTable& table) {
  add_reductions(table);
  table.add("softmax", softmax, floating, axis);
  table.add("log_softmax", log_softmax, floating, axis);
  table.add("dropout", [](Draw& d) {
    Generator rng(d.seed());
    const Tensor x = d.floating();
    return dropout(x, d.fraction(), rng);
  });
  table.add("batch_norm", batch_norm, floating, per_channel, per_channel, per_channel, per_channel,
            fraction);
  table.add(
      "normalize_batch",
      [](const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
        return normalize_batch(x, weight, bias, eps).y;
      },
      floating, per_channel, per_channel, fraction);
  table.add(
      "group_norm", group_norm, floating, [](Draw& d) { return d.around(1, 3); }, per_channel,
      per_channel, fraction);
  table.add("instance_norm", instance_norm, floating, per_channel, per_channel, fraction);
  table.add("lgamma", lgamma, any_tensor);
  table.add("digamma", digamma, any_tensor);
  table.add(
      "polygamma", [](int n, const Tensor& x) { return polygamma(n, x); },
      [](Draw& d) { return static_cast<int>(d.around(0, 20)); }, any_tensor);
  table.add("layer_norm", layer_norm, floating, per_channel, per_channel, fraction);
  table.add("rms_norm", rms_norm, floating, per_channel, fraction);
  table.add("rotary_embedding", [](Draw& d) {
    const Tensor x = d.floating();
    const std::int64_t tokens = x.defined() && x.rank() > 1 ? x.size(-2) : d.below(3);
    const std::int64_t pairs = x.defined() && x.rank() > 0 ? x.size(-1) / 2 : 1;
    const Shape angles{tokens, d.chance(0.7) ? pairs : d.below(3)};
    return rotary_embedding(x, d.near(angles), d.near(angles), d.flag());
  });
  table.add("cross_entropy", cross_entropy, floating, targets, loss_options);
  table.add("nll_loss", nll_loss, floating, targets, loss_options);
  table.add("mse_loss", mse_loss, floating, twin, reduction);
  table.add("l1_loss", l1_loss, floating, twin, reduction);
  table.add("huber_loss", huber_loss, floating, twin, number, reduction);
  table.add("smooth_l1_loss", smooth_l1_loss, floating, twin, number, reduction);
  table.add("binary_cross_entropy_with_logits", binary_cross_entropy_with_logits, floating, twin,
            binary_options);
  table.add("kl_div", kl_div, floating, twin, [](Draw& d) {
    return KlDivOptions{.log_target = d.flag(), .reduction = reduction(d)};
  });
  table.add("cosine_similarity", cosine_similarity, floating, partner, axis, fraction);
  table.add("cosine_embedding_loss", cosine_embedding_loss, floating, twin, labels, [](Draw& d) {
    return CosineEmbeddingOptions{.margin = d.number(), .reduction = reduction(d)};
  });
}

}  // namespace ladon::test
