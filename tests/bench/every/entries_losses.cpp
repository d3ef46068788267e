// Losses and normalization (autograd/ops/loss.h, norm.h).

#include "entries.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

Shape classes(Draw& d) { return {d.of(8, 256, 2048), d.of(8, 256, 1024)}; }
Tensors logits_and_targets(Draw& d) {
  const Shape shape = classes(d);
  return {d.normal(shape), d.below(shape[1], {shape[0]})};
}
Tensors log_probabilities(Draw& d) {
  X x = logits_and_targets(d);
  x[0] = log_softmax(x[0]);
  return x;
}
Tensors with_probabilities(Draw& d) {
  return {log_softmax(d.normal(classes(d))), softmax(d.normal(classes(d)))};
}
Tensors pairs_and_labels(Draw& d) {
  X x = matrices(d);
  x.push_back(d.signs({x[0].size(0)}));
  return x;
}
Tensors affine_of_rows(Draw& d) {
  const std::int64_t n = d.matrix()[1];
  return {d.normal(d.matrix()), d.normal({n}), d.normal({n})};
}
Tensors affine_of_images(Draw& d) {
  const std::int64_t c = d.images()[3];
  return {d.normal(d.images()), d.normal({c}), d.normal({c})};
}

}  // namespace

void add_losses(Table& t) {
  t.family("losses");
  const Traits first{.differentiated = 1};
  t.add("cross_entropy", logits_and_targets, [](const X& x) { return cross_entropy(x[0], x[1]); });
  t.add("cross_entropy, smoothed", logits_and_targets,
        [](const X& x) { return cross_entropy(x[0], x[1], {.label_smoothing = 0.1}); });
  t.add("nll_loss", log_probabilities, [](const X& x) { return nll_loss(x[0], x[1]); });
  t.add(
      "mse_loss", matrices, [](const X& x) { return mse_loss(x[0], x[1]); }, first);
  t.add(
      "l1_loss", matrices, [](const X& x) { return l1_loss(x[0], x[1]); }, first);
  t.add(
      "huber_loss", matrices, [](const X& x) { return huber_loss(x[0], x[1]); }, first);
  t.add(
      "smooth_l1_loss", matrices, [](const X& x) { return smooth_l1_loss(x[0], x[1]); }, first);
  const auto probabilities = [](Draw& d) -> X {
    return {d.normal(d.matrix()), d.between(0, 1, d.matrix())};
  };
  t.add(
      "binary_cross_entropy_with_logits", probabilities,
      [](const X& x) { return binary_cross_entropy_with_logits(x[0], x[1]); }, first);
  t.add(
      "kl_div", with_probabilities, [](const X& x) { return kl_div(x[0], x[1]); }, first);
  t.add("cosine_similarity", matrices, [](const X& x) { return cosine_similarity(x[0], x[1]); });
  t.add("cosine_embedding_loss", pairs_and_labels,
        [](const X& x) { return cosine_embedding_loss(x[0], x[1], x[2]); }, {.differentiated = 2});
}

void add_norms(Table& t) {
  t.family("normalization");
  t.add("layer_norm", affine_of_rows, [](const X& x) { return layer_norm(x[0], x[1], x[2]); });
  t.add("rms_norm", affine_of_rows, [](const X& x) { return rms_norm(x[0], x[1]); },
        {.differentiated = 2});
  const auto with_moments = [](Draw& d) -> X {
    X x = affine_of_images(d);
    const std::int64_t c = x[1].size(0);
    x.insert(x.end(), {d.normal({c}), d.between(0.5, 2, {c})});
    return x;
  };
  t.add("batch_norm", with_moments,
        [](const X& x) { return batch_norm(x[0], x[3], x[4], x[1], x[2]); }, {.differentiated = 3});
  t.add("normalize_batch", affine_of_images,
        [](const X& x) { return normalize_batch(x[0], x[1], x[2]).y; });
  t.add("group_norm", affine_of_images, [](const X& x) { return group_norm(x[0], 4, x[1], x[2]); },
        {.tolerance = 10});
  t.add("instance_norm", affine_of_images,
        [](const X& x) { return instance_norm(x[0], x[1], x[2]); }, {.tolerance = 10});
}

}  // namespace ladon::bench::every
