#include "ladon/optim/samplers/collect.h"

#include <bit>
#include <limits>
#include <utility>

#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Collect::Collect(CollectOptions options) : options_(options), every_(options.every) {
  LADON_CHECK(options.after >= 0, "collect", "`after` is ", options.after,
              "; it must be at least 0");
  LADON_CHECK(options.every >= 1, "collect", "`every` is ", options.every,
              "; it must be at least 1");
  LADON_CHECK(options.most == 0 || options.most >= 2, "collect", "`most` is ", options.most,
              "; it must be at least 2, or 0 for no bound");
}

bool Collect::due(std::int64_t step) const {
  LADON_CHECK(step >= 0, "collect", "`step` is ", step, "; it must be at least 0");
  return step >= options_.after && (step - options_.after) % every_ == 0;
}

void Collect::add(const Tensor& draw) {
  LADON_CHECK(draw.defined(), "collect", "draw ", count(),
              " is undefined; pass a tensor with values");
  if (!draws_.empty()) {
    const Tensor& first = draws_[0];
    LADON_CHECK(draw.shape() == first.shape() && draw.dtype() == first.dtype(), "collect",
                "all draws must have the same dtype and shape, but draw ", count(), " is ",
                draw.dtype(), " ", draw.shape(), ", and earlier draws are ", first.dtype(), " ",
                first.shape());
  }
  const bool full = options_.most > 0 && count() == options_.most;
  LADON_CHECK(!full || every_ <= std::numeric_limits<std::int64_t>::max() / 2, "collect",
              "draws are ", every_, " steps apart, which cannot be doubled without overflow");
  draws_.push_back(kernels::clone(draw.detach()));
  if (!full) return;
  for (std::size_t i = 1; 2 * i < draws_.size(); ++i) draws_[i] = std::move(draws_[2 * i]);
  draws_.resize((draws_.size() + 1) / 2);
  every_ *= 2;
}

Tensor Collect::draws() const {
  LADON_CHECK(!draws_.empty(), "collect", "there is no draw yet; add() one when due(step)");
  return stack(draws_, 0);
}

StateDict Collect::state_dict() const {
  StateDict state{{"every", detail::state_of(every_)}};
  if (!draws_.empty()) state["draws"] = draws();
  return state;
}

void Collect::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const std::int64_t distance = reader.count("every");
  const bool some = reader.has("draws");
  const Tensor all = some ? reader.entry("draws") : Tensor();
  reader.finish("this collection");
  const auto times = static_cast<std::uint64_t>(distance / options_.every);
  LADON_CHECK(distance > 0 && distance % options_.every == 0 &&
                  (options_.most > 0 ? std::has_single_bit(times) : times == 1),
              "collect", "\"every\" is ", distance, "; it must be the option `every`, ",
              options_.every, options_.most > 0 ? ", times a power of two" : "");
  std::vector<Tensor> held;
  if (some) {
    LADON_CHECK(all.defined() && all.rank() >= 1 && all.size(0) >= 1 &&
                    (options_.most == 0 || all.size(0) <= options_.most),
                "collect", "\"draws\" ",
                all.defined() ? detail::join("has shape ", all.shape()) : "is an undefined tensor",
                "; it must be [S, ...], S at least 1",
                options_.most > 0 ? detail::join(" and at most ", options_.most) : "");
    for (std::int64_t i = 0; i < all.size(0); ++i)
      held.push_back(kernels::clone(select(all.detach(), 0, i)));
  }
  every_ = distance;
  draws_ = std::move(held);
}

}  // namespace ladon
