#include "ladon/layers/infinite/kernel/selves.h"

#include <utility>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {

RecordSelves::RecordSelves(Selves& selves, std::int64_t begin, std::int64_t count)
    : selves_(selves), begin_(begin), count_(count) {}

Tensor RecordSelves::next(const std::function<Tensor()>& compute) {
  const Tensor computed = compute();
  if (computed.size(0) == count_) {  // all at once: with their graph
    detail::require(step_ == selves_.size(), "inputs that are recorded at once are recorded once");
    selves_.push_back(computed);
    ++step_;
    return computed;
  }
  if (step_ == selves_.size()) {
    Shape shape = computed.shape();
    shape[0] = count_;
    selves_.push_back(empty(shape, f64));
  }
  const Slice rows{.start = begin_, .stop = begin_ + computed.size(0)};
  copy_(slice(selves_[step_++], 0, rows), computed);
  return computed;
}

RecallSelves::RecallSelves(Selves selves, std::int64_t begin, std::int64_t end)
    : selves_(std::move(selves)), begin_(begin), end_(end) {}

Tensor RecallSelves::next(const std::function<Tensor()>&) {
  LADON_CHECK(step_ < selves_.size(), "limit", "a layer took step ", step_ + 1,
              " of its inputs' own kernels, but the pass over inputs had ", selves_.size(),
              "; a limit must map the same kernels in every pass");
  return slice(selves_[step_++], 0, {.start = begin_, .stop = end_});
}

}  // namespace ladon::infinite
