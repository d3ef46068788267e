#include "ladon/autograd/ops/attention_values.h"

#include <numeric>
#include <vector>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/mapped.h"

namespace ladon::detail {
namespace {

// An element is *ordinary* if it is finite and small enough that its products with gradients cannot
// overflow. Ordinary elements are multiplied in one matrix product. Keys and values with other
// elements, called odd, are added one by one, only for the queries that attend to them: in the
// matrix product, 0·NaN = NaN would reach the other queries too.

double bound_of(DType dtype) { return dtype == f64 ? 0x1p500 : 0x1p60; }

Tensor ordinary(const Tensor& x) { return less_equal(abs(x), bound_of(x.dtype())); }

/// Whether each key (or value, or query) has an element that is not ordinary:  x [.., T, d] → bool
/// [.., T].
Tensor odd_keys(const Tensor& x) { return logical_not(all(ordinary(x.detach()), -1)); }

/// Indices of the keys marked in `odd` (bool [.., Tk]) that at least one query attends to, in any
/// batch or head. `seen`, bool [.., Tq, Tk], is true where a query attends to a key.
std::vector<std::int64_t> seen_keys(const Tensor& odd, const Tensor& seen) {
  const Tensor both = mapped::show(logical_and(odd, any(seen, -2)));
  std::vector<int> others(both.rank() - 1);
  std::iota(others.begin(), others.end(), 0);
  std::vector<std::int64_t> keys;
  const std::vector<double> flags = numbers_of("scaled_dot_product_attention", any(both, others));
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) keys.push_back(static_cast<std::int64_t>(i));
  return keys;
}

Tensor ordinary_part(const Tensor& x) {
  return where(ordinary(x.detach()), x, scalar(0, x.dtype()));
}
/// The elements of one key that ordinary_part() replaced by 0, and 0 in place of all other elements
/// of the key: [.., 1, d].
Tensor rest_of(const Tensor& x, std::int64_t key) {
  const Tensor one = slice(x, -2, {.start = key, .stop = key + 1});
  return where(ordinary(one.detach()), scalar(0, x.dtype()), one);
}

/// product(x) of keys or values x [.., Tk, d], in which odd keys (with elements that are not
/// ordinary) affect only the queries that attend to them: product(ordinary_part(x)) plus, for each
/// odd key that a query attends to,
/// of(key, rest_of(x, key), s). seen() returns bool [.., Tq, Tk], true where a query attends to a
/// key, and s [.., Tq, 1] is the column of seen() for the odd key.
template <class Product, class Seen, class OfKey>
Tensor by_seen_keys(const Tensor& x, const Product& product, const Seen& seen, const OfKey& of) {
  if (all_ordinary(x)) return product(x);
  const Tensor sees = seen();
  Tensor y = product(ordinary_part(x));
  for (const std::int64_t key : seen_keys(odd_keys(x), sees))
    y = y + of(key, rest_of(x, key), slice(sees, -1, {.start = key, .stop = key + 1}));
  return y;
}

}  // namespace

bool all_ordinary(const Tensor& x) {
  const double bound = bound_of(x.dtype());
  return kernels::all_within(x.detach(), -bound, bound);
}

Tensor products_of_seen(const Tensor& q, const Tensor& k, const std::function<Tensor()>& may) {
  const Tensor none = scalar(0, k.dtype());
  return by_seen_keys(
      k, [&](const Tensor& keys) { return matmul(q, transpose(keys)); }, may,
      [&](std::int64_t key, const Tensor& rest, const Tensor& sees) {
        const Tensor column = sum(q * where(sees, rest, none), -1, keep_dims);  // [.., Tq, 1]
        return where(equal(arange(k.size(-2)), static_cast<double>(key)), column, none);
      });
}

Tensor odd_queries(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& may) {
  const Tensor of_keys = unsqueeze(logical_or(odd_keys(k), odd_keys(v)), -2);  // [.., 1, Tk]
  const Tensor sees = any(logical_and(may, of_keys), -1);                      // [.., Tq]
  const Tensor rows = unsqueeze(logical_or(odd_keys(q), sees), -1);
  return kernels::anywhere(rows) ? rows : Tensor();
}

Tensor odd_rows(const Tensor& x) { return all_ordinary(x) ? Tensor() : unsqueeze(odd_keys(x), -1); }

Tensor gated(const Tensor& x) {
  return record("gate", x.detach(), {x},
                with_forward(
                    [](const Tensor& g) {
                      return kernels::anywhere(not_equal(g.detach(), 0)) ? g : Tensor();
                    },
                    [](const Tensor& t) { return t; }));
}

AttentionResult joined(const Tensor& odd, const AttentionResult& ordinary,
                       const AttentionResult& rest) {
  return {where(odd, gated(rest.output), ordinary.output),
          where(odd, gated(rest.weights), ordinary.weights)};
}

Tensor weighted_values(const Tensor& weights, const Tensor& values) {
  const Tensor none = scalar(0, values.dtype());
  return by_seen_keys(
      values, [&](const Tensor& v) { return matmul(weights, v); },
      [&] { return not_equal(weights.detach(), 0); },
      [&](std::int64_t key, const Tensor& rest, const Tensor& sees) {
        const Tensor weight = slice(weights, -1, {.start = key, .stop = key + 1});  // [.., Tq, 1]
        return where(sees, weight, none) * where(sees, rest, none);
      });
}

}  // namespace ladon::detail
