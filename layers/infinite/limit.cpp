#include "ladon/layers/infinite/limit.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/index.h"

namespace ladon::infinite {

Kernel Limit::operator()(const Inputs& a, const Inputs& b, Get get, Entries wanted) const {
  const Passes passes(*this, landmarks(b), wanted);
  const Selves of_a = draws() ? passes.selves(a, a.count()) : Selves();
  const Selves of_b = draws() ? passes.selves(b, b.count()) : Selves();
  return passes.pairs({a, of_a, 0, a.count()}, {b, of_b, 0, b.count()}, get);
}

Kernel Limit::operator()(const Inputs& a, Get get, Entries wanted) const {
  const Passes passes(*this, landmarks(a), wanted);
  const Selves of_a = draws() ? passes.selves(a, a.count()) : Selves();
  return passes.pairs({a, of_a, 0, a.count()}, get);
}

std::vector<double> Limit::unexplained(const Inputs& x) const {
  std::vector<Remainder> remainders;
  Selves selves;
  if (draws())
    Passes(*this, landmarks(x), Entries::full)
        .record(x, 0, x.count(), x.count(), selves, &remainders);
  std::vector<double> shares;
  for (const Remainder& of_layer : remainders) shares.push_back(of_layer.share());
  return shares;
}

Limit Limit::with_landmarks(const Inputs& x) const {
  Limit y = *this;
  y.landmarks_.reset();
  y.pivots_.reset();
  y.landmarks_ = y.landmarks(x);
  return y;
}

Limit Limit::with_replicate(std::uint64_t replicate) const {
  Limit y = *this;
  y.replicate_ = replicate;
  return y;
}

Limit Limit::with_pivots(const Inputs& x, int count) const {
  const NoGrad off;
  Limit y = *this;
  y.landmarks_ = landmarks(x);
  y.pivots_.reset();  // those of an earlier call would be taken for found
  std::map<std::uint64_t, Pivots> found;
  for (int i = 0; i < count && draws(); ++i) {
    const std::uint64_t number = replicate_ + static_cast<std::uint64_t>(i);
    const Passes passes(y.with_replicate(number), *y.landmarks_, Entries::full);
    for (const RootFactor& factor : passes.landmarks()->factors)
      found[number].push_back(factor.pivots);
  }
  y.pivots_ = std::make_shared<const std::map<std::uint64_t, Pivots>>(std::move(found));
  return y;
}

Pivots Limit::pivots() const {
  if (!pivots_ || !pivots_->contains(replicate_)) return {};
  return pivots_->at(replicate_);
}

// Some hundred tokens, of inputs that lie evenly among all.
Inputs Limit::landmarks(const Inputs& x) const {
  if (landmarks_) return *landmarks_;
  if (!draws() || !x.x.defined() || x.x.rank() == 0) return {};
  constexpr std::int64_t tokens = 512, least = 4, most = 64;
  const Shape& shape = x.x.shape();
  const int channels = x.x.dtype() == i64 ? 0 : 1;
  const Shape positions = shape.sub(1, std::max(1, shape.rank() - channels));
  const std::int64_t n = x.count(), t = std::max<std::int64_t>(1, positions.count());
  const std::int64_t count = std::min(n, std::clamp(tokens / t, least, most));
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i * n / count);
  const Tensor index = from_vector(rows, {count});
  return {index_select(x.x, 0, index), x.mask.defined() ? index_select(x.mask, 0, index) : x.mask};
}

Passes::Passes(Limit limit, const Inputs& landmarks, Entries wanted)
    : limit_(std::move(limit)), inputs_(landmarks), wanted_(wanted) {
  if (!limit_.draws()) return;
  landmarks_ = std::make_shared<Landmarks>();
  landmarks_->pivots = limit_.pivots();
  const KernelOptions asked = options(Call::Of::landmarks, Get::nngp);
  asked.call->selves1 = std::make_shared<RecordSelves>(landmarks_->selves, 0, inputs_.count());
  run(input_kernel(inputs_, asked));
}

KernelOptions Passes::options(Call::Of of, Get get) const {
  auto call = std::make_shared<Call>();
  call->of = of;
  call->replicate = limit_.replicate();
  call->landmarks = landmarks_;
  return {.get = get, .entries = limit_.model().needs(wanted_), .call = std::move(call)};
}

Kernel Passes::run(Kernel inputs) const {
  inputs.wanted = wanted_;
  Kernel y = limit_(inputs);
  // The pass ends here; the second block of one over inputs may have ended before.
  y.call = nullptr;
  const Call& pass = *inputs.call;
  if (pass.selves1) pass.selves1->finish();
  if (pass.selves2 && y.cov2.defined()) pass.selves2->finish();
  pass.check_drawn();
  return y;
}

Kernel Passes::record(const Inputs& in, std::int64_t begin, std::int64_t end, std::int64_t count,
                      Selves& selves, std::vector<Remainder>* remainders) const {
  const KernelOptions asked = options(Call::Of::inputs, Get::nngp);
  asked.call->selves1 = std::make_shared<RecordSelves>(selves, begin, count);
  asked.call->remainders = remainders;
  const Inputs rows = in.rows(begin, end);
  if (!landmarks_) return run(input_selves(rows, asked));
  asked.call->selves2 = std::make_shared<RecallSelves>(landmarks_->selves, 0, inputs_.count());
  return run(input_kernel(rows, inputs_, asked));
}

Selves Passes::selves(const Inputs& in, std::int64_t at_once,
                      std::vector<Remainder>* remainders) const {
  Selves found;
  const std::int64_t n = in.count();
  std::int64_t begin = 0;
  do {
    record(in, begin, std::min(n, begin + at_once), n, found, remainders);
    begin += at_once;
  } while (begin < n);
  return found;
}

Kernel Passes::pairs(const Rows& a, const Rows& b, Get get) const {
  const KernelOptions asked = options(Call::Of::pairs, get);
  const auto known = [](const Rows& rows) -> std::shared_ptr<SelfSteps> {
    if (rows.selves.empty()) return nullptr;
    return std::make_shared<RecallSelves>(rows.selves, rows.begin, rows.end);
  };
  asked.call->selves1 = known(a);
  asked.call->selves2 = known(b);
  const Inputs left = a.inputs.rows(a.begin, a.end);
  const bool one_block = &a == &b;
  return run(one_block ? input_kernel(left, asked)
                       : input_kernel(left, b.inputs.rows(b.begin, b.end), asked));
}

Kernel Passes::pairs(const Rows& a, Get get) const { return pairs(a, a, get); }

Passes Passes::with(Landmarks landmarks) const {
  Passes y = *this;
  y.landmarks_ = std::make_shared<Landmarks>(std::move(landmarks));
  return y;
}

}  // namespace ladon::infinite
