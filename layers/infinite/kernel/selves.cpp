#include "ladon/layers/infinite/kernel/selves.h"

#include <utility>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

void check_steps(bool fine, const char* what, std::size_t taken, std::size_t known) {
  LADON_CHECK(fine, "limit", what, taken, " of its inputs' own kernels, but a pass before had ",
              known, "; a limit must make the same maps in every pass (Layer::limit)");
}

}  // namespace

RecordSelves::RecordSelves(Selves& selves, std::int64_t begin, std::int64_t count)
    : selves_(selves), begin_(begin), count_(count), known_(selves.size()) {}

Tensor RecordSelves::next(const std::function<Tensor()>& compute) {
  const Tensor computed = compute();
  if (computed.size(0) == count_) {  // all at once: with their graph
    detail::require(step_ == selves_.size(), "inputs that are recorded at once are recorded once");
    selves_.push_back(computed);
    ++step_;
    return computed;
  }
  if (step_ == selves_.size()) {
    check_steps(known_ == 0, "a layer took step ", step_ + 1, known_);
    Shape shape = computed.shape();
    shape[0] = count_;
    selves_.push_back(empty(shape, f64));
  }
  const Slice rows{.start = begin_, .stop = begin_ + computed.size(0)};
  copy_(slice(selves_[step_++], 0, rows), computed);
  return computed;
}

void RecordSelves::finish() const {
  check_steps(known_ == 0 || step_ == known_, "a pass ended with step ", step_, known_);
}

RecallSelves::RecallSelves(Selves selves, std::int64_t begin, std::int64_t end)
    : selves_(std::move(selves)), begin_(begin), end_(end) {}

Tensor RecallSelves::next(const std::function<Tensor()>&) {
  check_steps(step_ < selves_.size(), "a layer took step ", step_ + 1, selves_.size());
  return slice(selves_[step_++], 0, {.start = begin_, .stop = end_});
}

void RecallSelves::finish() const {
  check_steps(step_ == selves_.size(), "a pass ended with step ", step_, selves_.size());
}

}  // namespace ladon::infinite
