// Rows of the losses of predictions and targets of equal shape, and of losses of pairs of rows.

#include <cmath>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;
using Loss = Tensor (*)(const Tensor&, const Tensor&, Reduction);

Dense reduced(const Dense& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  Dense result{Shape{}};
  result.values[0] = std::accumulate(losses.values.begin(), losses.values.end(), 0.0);
  if (reduction == Reduction::mean) result.values[0] /= static_cast<double>(losses.values.size());
  return result;
}

/// f of each element of the inputs, which broadcast; then reduced.
Reference elements(std::function<double(const std::vector<double>&)> f, Reduction reduction) {
  return [=](const std::vector<Dense>& in) { return reduced(pointwise(f)(in), reduction); };
}

/// f of the rows of two inputs and, of a third, of its element at the row's place.
Reference rows(
    std::function<double(const std::vector<double>&, const std::vector<double>&, double)> f,
    Reduction reduction) {
  return [=](const std::vector<Dense>& in) {
    const Shape shape = in[0].shape.sub(0, in[0].shape.rank() - 1);
    const auto n = static_cast<std::ptrdiff_t>(in[0].shape[-1]);
    Dense losses(shape);
    for (std::size_t r = 0; r < losses.values.size(); ++r) {
      const auto row = [&](const Dense& x) {
        const auto at = x.values.begin() + static_cast<std::ptrdiff_t>(r) * n;
        return std::vector<double>(at, at + n);
      };
      losses.values[r] = f(row(in[0]), row(in[1]), in.size() > 2 ? in[2].values[r] : 0);
    }
    return reduced(losses, reduction);
  };
}

/// A loss of the distance e = prediction − target alone.
OpRow distance_row(OpTable& table, const std::string& name, Loss loss, double (*of)(double)) {
  const Tensor a = table.random({3, 4}), b = a + table.random_off_zero({3, 4});
  const auto sample = [&](std::string note, Reduction reduction) {
    return OpSample{
        .note = std::move(note),
        .inputs = {a, b},
        .apply = [=](const Inputs& in) { return loss(in[0], in[1], reduction); },
        .reference = elements([=](const auto& v) { return of(v[0] - v[1]); }, reduction)};
  };
  const auto apply = [loss](const Tensor& x, const Tensor& y) { loss(x, y, Reduction::mean); };
  return {.name = name,
          .samples = {sample("mean", Reduction::mean), sample("sum", Reduction::sum),
                      sample("none", Reduction::none)},
          .empty = {{.note = "no rows",
                     .inputs = {zeros({0, 3}, f64), zeros({0, 3}, f64)},
                     .apply = [=](const Inputs& in) { return loss(in[0], in[1], Reduction::none); },
                     .reference = [](const auto& in) { return in[0]; }}},
          .errors = {{"the batch is empty: shapes [0, 3] and [0, 3]",
                      [=] {
                        apply(ones({0, 3}), ones({0, 3}));
                      }},
                     {"shape [2, 3], the target [3]", [=] {
                        apply(ones({2, 3}), ones({3}));
                      }}}};
}

double huber(double e, double delta) {
  return std::abs(e) <= delta ? e * e / 2 : delta * (std::abs(e) - delta / 2);
}

void add_distance_rows(OpTable& table) {
  table.add(distance_row(table, "mse_loss", mse_loss, [](double e) { return e * e; }));
  table.add(distance_row(table, "l1_loss", l1_loss, [](double e) { return std::abs(e); }));
  OpRow robust = distance_row(
      table, "huber_loss",
      [](const Tensor& p, const Tensor& t, Reduction r) { return huber_loss(p, t, 0.7, r); },
      [](double e) { return huber(e, 0.7); });
  robust.errors.push_back({"delta is 0", [] { huber_loss(ones({2}), ones({2}), 0); }});
  table.add(robust);
  OpRow smooth = distance_row(
      table, "smooth_l1_loss",
      [](const Tensor& p, const Tensor& t, Reduction r) { return smooth_l1_loss(p, t, 0.7, r); },
      [](double e) { return huber(e, 0.7) / 0.7; });
  smooth.errors.push_back({"beta is -1; it must be at least 0, where it is l1_loss",
                           [] { smooth_l1_loss(ones({2}), ones({2}), -1); }});
  table.add(smooth);
}

// σ(x) and 1 − σ(x) = σ(−x), each without cancellation.
double binary_loss(double x, double t, double positive) {
  return positive * t * std::log1p(std::exp(-x)) + (1 - t) * std::log1p(std::exp(x));
}

void add_binary_row(OpTable& table) {
  const char* name = "binary_cross_entropy_with_logits";
  const Tensor x = table.random({4, 3}, -4, 4), t = table.random({4, 3}, 0, 1);
  const auto weighted = [](const Inputs& in) {
    return binary_cross_entropy_with_logits(in[0], in[1], {.weight = in[2], .pos_weight = in[3]});
  };
  const auto plain = [](Reduction r) {
    return [r](const Inputs& in) {
      return binary_cross_entropy_with_logits(in[0], in[1], {.reduction = r});
    };
  };
  const auto of = [](const auto& v) { return binary_loss(v[0], v[1], 1); };
  const auto of_weighted = [](const auto& v) { return v[2] * binary_loss(v[0], v[1], v[3]); };
  table.add(
      {.name = name,
       .samples = {{"mean", {x, t}, plain(Reduction::mean), elements(of, Reduction::mean)},
                   {"sum", {x, t}, plain(Reduction::sum), elements(of, Reduction::sum)},
                   {"none, far out",
                    {tensor({-50, 50, -700, 700}, f64), tensor({0, 1, 0, 0.5}, f64)},
                    plain(Reduction::none),
                    elements(of, Reduction::none)},
                   {"boolean targets",
                    {x, table.random_booleans({4, 3})},
                    plain(Reduction::mean),
                    elements(of, Reduction::mean)},
                   {"weights",
                    {x, t, table.random({4, 1}, 0, 2), table.random({3}, 0, 4)},
                    weighted,
                    elements(of_weighted, Reduction::mean)}},
       .errors = {
           {"the batch is empty",
            [] {
              binary_cross_entropy_with_logits(ones({0, 3}), ones({0, 3}));
            }},
           {"shape [2, 3], the target [3]",
            [] {
              binary_cross_entropy_with_logits(ones({2, 3}), ones({3}));
            }},
           {"floating", [] { binary_cross_entropy_with_logits(ones({3}, i64), ones({3})); }},
           {"weight has shape [2, 3], the logits [3]",
            [] {
              binary_cross_entropy_with_logits(ones({3}), ones({3}), {.weight = ones({2, 3})});
            }},
           {"pos_weight has shape [2, 3], the logits [3]", [] {
              binary_cross_entropy_with_logits(ones({3}), ones({3}), {.pos_weight = ones({2, 3})});
            }}}});
}

void add_kl_row(OpTable& table) {
  const auto apply = [](KlDivOptions o) {
    return [o](const Inputs& in) { return kl_div(in[0], in[1], o); };
  };
  const auto divergence = [](bool log_target) {
    return [=](const std::vector<double>& log_q, const std::vector<double>& target, double) {
      double sum = 0;
      for (std::size_t i = 0; i < log_q.size(); ++i) {
        const double p = log_target ? std::exp(target[i]) : target[i];
        if (p > 0) sum += p * (std::log(p) - log_q[i]);
      }
      return sum;
    };
  };
  const Tensor log_q = table.random({2, 3, 4}), p = table.random({2, 3, 4}, 0.1, 1);
  const Tensor some = tensor({0, 0.25, 0.75, 0.5, 0.5, 0}, f64);
  const double inf = HUGE_VAL;
  table.add({.name = "kl_div",
             .samples = {{"mean", {log_q, p}, apply({}), rows(divergence(false), Reduction::mean)},
                         {"none",
                          {log_q, p},
                          apply({.reduction = Reduction::none}),
                          rows(divergence(false), Reduction::none)},
                         {"sum, target as its log",
                          {log_q, table.random({2, 3, 4}, -3, 0)},
                          apply({.log_target = true, .reduction = Reduction::sum}),
                          rows(divergence(true), Reduction::sum)},
                         {.note = "zeros against −∞",
                          .inputs = {reshape(tensor({-inf, -1, -2, -0.5, -1, -inf}, f64), {2, 3}),
                                     reshape(some, {2, 3})},
                          .apply = apply({.reduction = Reduction::none}),
                          .reference = rows(divergence(false), Reduction::none),
                          .differentiable = false},
                         {.note = "zeros as their log",
                          .inputs = {tensor({-inf, -1, -2}, f64), tensor({-inf, -0.5, -1}, f64)},
                          .apply = apply({.log_target = true}),
                          .reference = rows(divergence(true), Reduction::mean),
                          .differentiable = false}},
             .errors = {{"the batch is empty", [] { kl_div(ones({0, 3}), ones({0, 3})); }},
                        {"shape [2, 3], the target [3]", [] { kl_div(ones({2, 3}), ones({3})); }},
                        {"[.., classes]", [] { kl_div(scalar(1), scalar(1)); }},
                        {"i64", [] { kl_div(ones({3}), ones({3}, i64)); }}}});
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const auto product = [](const auto& u, const auto& v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  };
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

void add_cosine_rows(OpTable& table) {
  const auto of = [](const auto& a, const auto& b, double) { return cosine(a, b); };
  const auto along = [](int axis) {
    return [axis](const Inputs& in) { return cosine_similarity(in[0], in[1], axis); };
  };
  const Tensor a = table.random({3, 5}), b = table.random({3, 5});
  const Tensor label = tensor({1, -1, -1}, i64);
  // As columns: the reference turns them.
  const Reference of_columns = [of](const std::vector<Dense>& in) {
    std::vector<Dense> turned;
    for (const Dense& x : in)
      turned.push_back(remap({x.shape[1], x.shape[0]}, [](const Shape& i) {
        return Shape{i[1], i[0]};
      })({x}));
    return rows(of, Reduction::none)(turned);
  };
  const Reference against_one = [of](const std::vector<Dense>& in) {
    Dense repeated(in[0].shape);
    for (std::size_t i = 0; i < repeated.values.size(); ++i)
      repeated.values[i] = in[1].values[i % in[1].values.size()];
    return rows(of, Reduction::none)({in[0], repeated});
  };
  const Reference against_columns = [of](const std::vector<Dense>& in) {
    Dense repeated(in[0].shape);
    const auto width = static_cast<std::size_t>(in[0].shape[-1]);
    for (std::size_t i = 0; i < repeated.values.size(); ++i)
      repeated.values[i] = in[1].values[i / width];
    return rows(of, Reduction::none)({in[0], repeated});
  };
  table.add(
      {.name = "cosine_similarity",
       .samples = {{"rows", {a, b}, along(-1), rows(of, Reduction::none)},
                   {"columns", {a, b}, along(0), of_columns},
                   {"one against all", {a, table.random({5})}, along(1), against_one},
                   {"one for a whole row", {a, table.random({3, 1})}, along(1), against_columns},
                   {.note = "zeros",
                    .inputs = {tensor({0, 0}, f64), tensor({3, 4}, f64)},
                    .apply = along(0),
                    .reference = [](const auto&) { return Dense(Shape{}); },
                    .differentiable = false}},
       .errors = {{"eps is 0", [] { cosine_similarity(ones({3}), ones({3}), -1, 0); }},
                  {"axis 0 must be an axis of both tensors, but the shapes are [2, 3] and [3]",
                   [] {
                     cosine_similarity(ones({2, 3}), ones({3}), 0);
                   }},
                  {"i64", [] { cosine_similarity(ones({3}, i64), ones({3})); }}}});

  const auto loss = [](CosineEmbeddingOptions o) {
    return [o](const Inputs& in) { return cosine_embedding_loss(in[0], in[1], in[2], o); };
  };
  const auto pair = [](double margin) {
    return [=](const auto& u, const auto& v, double l) {
      return l > 0 ? 1 - cosine(u, v) : std::max(0.0, cosine(u, v) - margin);
    };
  };
  table.add(
      {.name = "cosine_embedding_loss",
       .samples = {{"mean", {a, b, label}, loss({}), rows(pair(0), Reduction::mean)},
                   {"margin, none",
                    {a, b, label},
                    loss({.margin = -0.5, .reduction = Reduction::none}),
                    rows(pair(-0.5), Reduction::none)}},
       .errors = {
           {"a label is 0; it must be 1 (similar) or -1 (dissimilar)",
            [=] { cosine_embedding_loss(a, b, zeros({3}, i64)); }},
           {"need labels of shape [3], got [2]",
            [=] { cosine_embedding_loss(a, b, ones({2}, i64)); }},
           {"shapes [3, 5] and [5]", [=] { cosine_embedding_loss(a, ones({5}), ones({3}, i64)); }},
           {"the margin is 2", [=] { cosine_embedding_loss(a, b, label, {.margin = 2}); }},
           {"the batch is empty", [] {
              cosine_embedding_loss(ones({0, 2}), ones({0, 2}), ones({0}, i64));
            }}}});
}

const Family distances(add_distance_rows);
const Family binary(add_binary_row);
const Family divergences(add_kl_row);
const Family cosines(add_cosine_rows);

}  // namespace
}  // namespace ladon::test
