#include "ladon/layers/infinite/gram/backward.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {

namespace {

void check_cotangent(const Tensor& c, std::int64_t n) {
  if (!c.defined()) return;
  LADON_CHECK(c.shape() == (Shape{n, n}), "backward_gram", "a cotangent has shape ", c.shape(),
              "; it must be ", (Shape{n, n}));
  if (n == 0) return;
  const Tensor x = c.detach();
  const double largest = amax(abs(x)).item(), apart = amax(abs(x - transpose(x))).item();
  LADON_CHECK(apart <= 1e-8 * largest, "backward_gram",
              "a cotangent is not symmetric: entries of up "
              "to ",
              largest, " differ from those across the diagonal by ", apart);
}

}  // namespace

void backward_gram(const Limit& limit, const Inputs& x, const Tensor& nngp, const Tensor& ntk,
                   const GramOptions& options) {
  const std::int64_t n = x.count(), side = options.tile > 0 ? options.tile : 16;
  LADON_CHECK(nngp.defined() || ntk.defined(), "backward_gram", "there is no cotangent");
  for (const Tensor* c : {&nngp, &ntk}) check_cotangent(*c, n);
  LADON_CHECK(options.replicates >= 2, "backward_gram", "replicates must be at least 2, got ",
              options.replicates);
  const Get get = ntk.defined() ? Get::ntk : Get::nngp;
  const int replicates = limit.draws() ? options.replicates : 1;
  const Limit all = limit.with_landmarks(x);
  const EnableGrad on;
  for (int r = 0; r < replicates; ++r) {
    const Limit one = limit.draws() ? all.with_replicate(static_cast<std::uint64_t>(r)) : all;
    for (std::int64_t i = 0; i < n; i += side)
      for (std::int64_t j = i; j < n; j += side) {
        const std::int64_t rows = std::min(n, i + side), columns = std::min(n, j + side);
        const Kernel k =
            i == j ? one(x.rows(i, rows), get) : one(x.rows(i, rows), x.rows(j, columns), get);
        LADON_CHECK(!k.has_positions(), "backward_gram",
                    "the model ends with positions; end it in vectors");
        const double weight = (i == j ? 1.0 : 2.0) / replicates;
        const auto part = [&](const Tensor& cotangent, const Tensor& of) {
          const Tensor tile = slice(slice(cotangent, 0, {.start = i, .stop = rows}), 1,
                                    {.start = j, .stop = columns});
          return sum(weight * tile.detach() * of);
        };
        Tensor total = scalar(0, f64);
        if (nngp.defined()) total = total + part(nngp, k.nngp);
        if (ntk.defined()) total = total + part(ntk, k.ntk);
        if (total.requires_grad()) backward(total);
      }
  }
}

}  // namespace ladon::infinite
