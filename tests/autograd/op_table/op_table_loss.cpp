// Rows of the losses whose targets are class indices.

#include <cmath>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;

struct Plain {
  double smoothing = 0;
  std::int64_t ignore = -100;
  std::vector<double> weight = {};
  Reduction reduction = Reduction::mean;
};

/// Loss of each row from its log-probabilities, and its weight in the mean. Weights of classes may
/// be the third input.
Reference classification(Plain o, bool normalize) {
  return [o, normalize](const std::vector<Dense>& inputs) {
    const Dense& x = inputs[0];
    const Dense& target = inputs[1];
    const auto classes = static_cast<std::size_t>(x.shape[-1]);
    Dense losses(target.shape);
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < target.values.size(); ++i) {
      if (static_cast<std::int64_t>(target.values[i]) == o.ignore) continue;
      double exps = 0;
      for (std::size_t c = 0; c < classes; ++c) exps += std::exp(x.values[i * classes + c]);
      const auto log_p = [&](std::size_t c) {
        return x.values[i * classes + c] - (normalize ? std::log(exps) : 0);
      };
      const std::vector<double>& given = inputs.size() > 2 ? inputs[2].values : o.weight;
      const auto weight = [&](std::size_t c) { return given.empty() ? 1 : given[c]; };
      const auto t = static_cast<std::size_t>(target.values[i]);
      double loss = -(1 - o.smoothing) * weight(t) * log_p(t);
      for (std::size_t c = 0; c < classes; ++c)
        loss -= o.smoothing / static_cast<double>(classes) * weight(c) * log_p(c);
      losses.values[i] = loss;
      sum += loss;
      total += weight(t);
    }
    if (o.reduction == Reduction::none) return losses;
    Dense result{Shape{}};
    result.values[0] = o.reduction == Reduction::sum || total == 0 ? sum : sum / total;
    return result;
  };
}

CrossEntropyOptions options(const Plain& o) {
  CrossEntropyOptions result{
      .label_smoothing = o.smoothing, .ignore_index = o.ignore, .reduction = o.reduction};
  if (!o.weight.empty())
    result.weight = from_vector(o.weight, Shape{static_cast<std::int64_t>(o.weight.size())});
  return result;
}

OpSample sample(std::string note, const Tensor& x, const Tensor& target, const Plain& o,
                bool normalize) {
  const CrossEntropyOptions bound = options(o);
  const auto apply = [=](const Inputs& in) {
    return normalize ? cross_entropy(in[0], in[1], bound) : nll_loss(in[0], in[1], bound);
  };
  return {.note = std::move(note),
          .inputs = {x, target},
          .apply = apply,
          .reference = classification(o, normalize)};
}

/// The weights of the classes are an input too, so that their derivatives are checked.
OpSample weighted(std::string note, const Tensor& x, const Tensor& target, const Tensor& weight,
                  const Plain& o, bool normalize) {
  OpSample s = sample(std::move(note), x, target, o, normalize);
  s.inputs.push_back(weight);
  s.apply = [bound = options(o), normalize](const Inputs& in) {
    CrossEntropyOptions with = bound;
    with.weight = in[2];
    return normalize ? cross_entropy(in[0], in[1], with) : nll_loss(in[0], in[1], with);
  };
  return s;
}

void add_classification_rows(OpTable& table) {
  const Tensor x = table.random({4, 3}), deep = table.random({2, 3, 5});
  const Tensor t = tensor({0, 2, 1, 2}, i64), u = table.random_integers({2, 3}, 0, 5);
  const Tensor some = tensor({7, 2, 7, 1}, i64), none = tensor({7, 7, 7, 7}, i64);
  const std::vector<double> weight{0.5, 2, 1.25};
  const Tensor w = tensor({0.5, 2, 1.25}, f64), w5 = table.random({5}, 0.5, 2);
  const std::vector<OpError> errors_of_both{{"target 3 at position 1",
                                             [=] {
                                               cross_entropy(x, tensor({0, 3, 1, 1}, i64));
                                             }},
                                            {"target -1 at position 0", [=] {
                                               cross_entropy(x, tensor({-1, 2, 1, 1}, i64));
                                             }}};

  table.add(
      {.name = "cross_entropy",
       .samples = {sample("plain", x, t, {}, true),
                   sample("deep, sum", deep, u, {.reduction = Reduction::sum}, true),
                   sample("none", x, t, {.reduction = Reduction::none}, true),
                   sample("smoothing", x, t, {.smoothing = 0.2}, true),
                   sample("ignored", x, some, {.smoothing = 0.1, .ignore = 7}, true),
                   sample("all ignored", x, none, {.ignore = 7}, true),
                   sample("weights", x, t, {.weight = weight}, true),
                   sample("everything", x, some, {.smoothing = 0.3, .ignore = 7, .weight = weight},
                          true),
                   weighted("trained weights", x, t, w, {}, true),
                   weighted("trained weights, smoothing, ignored", x, some, w,
                            {.smoothing = 0.3, .ignore = 7}, true),
                   weighted("trained weights, sum", deep, u, w5,
                            {.smoothing = 0.1, .reduction = Reduction::sum}, true),
                   weighted("trained weights, none", x, t, w,
                            {.smoothing = 0.1, .reduction = Reduction::none}, true),
                   weighted("trained weights, all ignored", x, none, w, {.ignore = 7}, true)},
       .empty = {sample("no rows", table.random({0, 3}), zeros({0}, i64),
                        {.reduction = Reduction::sum}, true)},
       .errors = {
           errors_of_both[0],
           errors_of_both[1],
           {"the batch is empty: shapes [0, 3] and [0]",
            [] {
              cross_entropy(ones({0, 3}), zeros({0}, i64));
            }},
           {"f32", [=] { cross_entropy(x, ones({4})); }},
           {"need targets of shape [4]", [=] { cross_entropy(x, zeros({3}, i64)); }},
           {"class weights have shape [2]", [=] { cross_entropy(x, t, {.weight = ones({2})}); }},
           {"label_smoothing is 1.5", [=] { cross_entropy(x, t, {.label_smoothing = 1.5}); }},
           {"i64", [=] {
              cross_entropy(ones({4, 3}, i64), t);
            }}}});

  table.add(
      {.name = "nll_loss",
       .samples = {sample("plain", x, t, {}, false),
                   sample("deep, none", deep, u, {.reduction = Reduction::none}, false),
                   sample("ignored, weights", x, some, {.ignore = 7, .weight = weight}, false),
                   weighted("trained weights", x, some, w, {.ignore = 7}, false)},
       .empty = {sample("no rows", table.random({0, 3}), zeros({0}, i64),
                        {.reduction = Reduction::sum}, false)},
       .errors = {{"only cross_entropy smooths", [=] { nll_loss(x, t, {.label_smoothing = 0.1}); }},
                  {"target 9", [=] {
                     nll_loss(x, tensor({0, 1, 2, 9}, i64));
                   }}}});
}

const Family classification_family(add_classification_rows);

}  // namespace
}  // namespace ladon::test
