#include "ladon/layers/infinite/limit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ostream>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/infinite/kernel/derivation.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {

namespace {

/// Mean of estimate(0) to estimate(count − 1), with the standard errors of its kernels.
Kernel mean_of(int count, const std::function<Kernel(int)>& estimate) {
  Kernel total = estimate(0);
  if (count == 1) return total;
  constexpr std::array parts = {&Kernel::nngp, &Kernel::ntk, &Kernel::cov1, &Kernel::cov2};
  RunningMoments nngp, ntk;
  const auto observe = [&](const Kernel& k) {
    if (k.nngp.defined()) nngp.add(k.nngp);
    if (k.ntk.defined()) ntk.add(k.ntk);
  };
  observe(total);
  for (int i = 1; i < count; ++i) {
    const Kernel k = estimate(i);
    observe(k);
    for (const auto part : parts)
      if ((total.*part).defined()) total.*part = total.*part + k.*part;
  }
  for (const auto part : parts)
    if ((total.*part).defined()) total.*part = total.*part / static_cast<double>(count);
  if (nngp.count() > 0) total.nngp_se = nngp.standard_error();
  if (ntk.count() > 0) total.ntk_se = ntk.standard_error();
  return total;
}

}  // namespace

Kernel Limit::operator()(const Inputs& a, const Inputs& b, Get get, Entries wanted) const {
  const auto described = graph(kind_of(a, b), get);
  const bool drawn = described->draws();
  const Inputs tokens = drawn ? landmarks(b) : Inputs();
  return mean_of(replicates(*described, tokens), [&](int i) {
    KeptDraws kept;
    const PassScope scope(kept);
    const Passes passes(with_replicate(replicate_ + static_cast<std::uint64_t>(i)), described,
                        tokens, wanted);
    const Selves of_a = drawn ? passes.selves(a, a.count()) : Selves();
    const Selves of_b = drawn ? passes.selves(b, b.count()) : Selves();
    return passes.pairs({a, of_a, 0, a.count()}, {b, of_b, 0, b.count()});
  });
}

Kernel Limit::operator()(const Inputs& a, Get get, Entries wanted) const {
  const auto described = graph(kind_of(a), get);
  const bool drawn = described->draws();
  const Inputs tokens = drawn ? landmarks(a) : Inputs();
  return mean_of(replicates(*described, tokens), [&](int i) {
    KeptDraws kept;
    const PassScope scope(kept);
    const Passes passes(with_replicate(replicate_ + static_cast<std::uint64_t>(i)), described,
                        tokens, wanted);
    const Selves of_a = drawn ? passes.selves(a, a.count()) : Selves();
    return passes.pairs({a, of_a, 0, a.count()});
  });
}

int Limit::replicates(const Inputs& x) const {
  return replicates(*graph(kind_of(x), Get::nngp), landmarks(x));
}

// One estimate, the mean of 256 draws, has a standard error of 2 to 3% of a variance, for 20 to 160
// tokens with independent channels, so the mean of 16 estimates has 0.6 to 0.8%. For 512 tokens the
// number of estimates is 8, as in gram().
int Limit::replicates(const KernelGraph& graph, const Inputs& landmarks) const {
  if (!graph.draws()) return 1;
  if (count_ > 0) return count_;
  if (!graph.draws_automatically()) return 1;
  constexpr std::int64_t work = 4096, least = 4, most = 16;
  // Padding must not change the result, so only visible tokens count.
  const Tensor& mask = landmarks.mask;
  const std::int64_t tokens =
      mask.defined()
          ? static_cast<std::int64_t>(number_of("limit", sum(cast(mask, f64))))
          : landmarks.count() * std::max<std::int64_t>(1, kind_of(landmarks).positions.count());
  const std::int64_t count = std::clamp(work / std::max<std::int64_t>(1, tokens), least, most);
  return static_cast<int>(pivots_ ? std::min(count, std::ssize(*pivots_)) : count);
}

namespace {

/// Throws Error unless masks, means and `same` of a kernel fit n1 and n2 inputs.
void check_beside(const Kernel& k, std::int64_t n1, std::int64_t n2) {
  const auto of = [&](const char* name, const Tensor& x, DType dtype, const Shape& shape) {
    LADON_CHECK(!x.defined() || (x.dtype() == dtype && x.shape() == shape), "limit",
                "the kernel's ", name, " is ", x.dtype(), " ", x.shape(), "; it must be ", dtype,
                " ", shape);
  };
  const auto rows = [&](std::int64_t n) {
    return k.has_positions() ? Shape{n, k.position_count()} : Shape{n};
  };
  const auto of_means = [&](const char* name, const Tensor& x, std::int64_t n) {
    if (!x.defined()) return;
    of(name, x, f64, rows(x.rank() > 0 && x.size(0) == 1 ? 1 : n));
    const double largest = x.count() > 0 ? number_of("limit", amax(abs(x.detach()))) : 0;
    LADON_CHECK(std::isfinite(largest), "limit", "the kernel's ", name, " has an element of size ",
                largest, "; all must be finite");
  };
  LADON_CHECK(k.mask1.defined() == k.mask2.defined() && k.mean1.defined() == k.mean2.defined(),
              "limit", "the kernel has a mask or a mean of one block only; give those of both");
  LADON_CHECK(k.has_positions() || !k.mask1.defined(), "limit",
              "the kernel has masks, but no positions");
  of("mask1", k.mask1, boolean, rows(n1));
  of("mask2", k.mask2, boolean, rows(n2));
  of("same", k.same, boolean, {n1, n2});
  of_means("mean1", k.mean1, n1);
  of_means("mean2", k.mean2, n2);
}

/// Throws Error unless the kernels have the shapes of some inputs, are finite, and are variances
/// and covariances.
void check_given(const Kernel& k) {
  LADON_CHECK(k.cov1.defined() && k.cov2.defined(), "limit",
              "the kernel has no cov1 or cov2, the kernels of each input with itself");
  LADON_CHECK(k.nngp.defined(), "limit",
              "the kernel has no nngp, the kernel between its two blocks of inputs");
  LADON_CHECK(k.cov1.rank() > 0 && k.cov2.rank() > 0, "limit",
              "cov1 and cov2 of the kernel must have an axis of inputs, got shapes ",
              k.cov1.shape(), " and ", k.cov2.shape());
  const std::int64_t n1 = k.cov1.size(0), n2 = k.cov2.size(0);
  k.check("limit", n1, n2);
  check_beside(k, n1, n2);
  const auto check = [](const Pairs& pairs) {
    check_covariances("limit", pairs.left_variance(), pairs.right_variance(),
                      pairs.visible(pairs.nngp));
  };
  check(cross_pairs(k));
  for (const int block : {0, 1}) check(self_pairs(k, block));
}

}  // namespace

Kernel Limit::operator()(const Kernel& inputs) const {
  check_given(inputs);
  const InputKind kind{.law = inputs.law,
                       .positions = inputs.positions,
                       .masked = inputs.mask1.defined(),
                       .has_means = inputs.mean1.defined()};
  return evaluate(*graph(kind, inputs.ntk.defined() ? Get::ntk : Get::nngp), inputs);
}

std::shared_ptr<const KernelGraph> Limit::graph(const InputKind& inputs, Get get,
                                                bool finite_heads) const {
  const Layer* model = model_;
  return KernelGraph::of(
      inputs, get, finite_heads, [model](const KernelNode& k) { return (*model)(k); },
      [model, kept = owned_](const Layer* inner) -> std::optional<LayerPlace> {
        if (inner == nullptr) return {};
        // path_of() only compares addresses: the layer may no longer exist
        const auto path = model->path_of(*inner);
        if (!path) return {};
        return LayerPlace{*path, inner->describe()};
      });
}

std::shared_ptr<const KernelGraph> Limit::graph(Get get) const {
  const auto of = [&](const Shape& positions) {
    return graph({.law = Law::data(), .positions = positions}, get);
  };
  const auto takes = [&](const Shape& positions) -> std::shared_ptr<const KernelGraph> {
    try {
      return of(positions);
    } catch (const Error&) {
      return nullptr;
    }
  };
  if (auto vectors = takes({})) return vectors;
  if (auto sequences = takes({-1})) return sequences;
  if (auto images = takes({-1, -1})) return images;
  return of({-1});  // throws the Error for sequences, which helps users of attention
}

std::vector<Remainder> Limit::remainders(const Inputs& x) const {
  std::vector<Remainder> remainders;
  Selves selves;
  const auto described = graph(kind_of(x), Get::nngp);
  if (described->draws())
    Passes(*this, described, landmarks(x), Entries::full)
        .record(x, 0, x.count(), x.count(), selves, &remainders);
  return remainders;
}

std::vector<double> Limit::unexplained(const Inputs& x) const {
  std::vector<double> shares;
  for (const Remainder& of_layer : remainders(x)) shares.push_back(of_layer.mean());
  return shares;
}

std::vector<double> Limit::most_unexplained(const Inputs& x) const {
  std::vector<double> shares;
  for (const Remainder& of_layer : remainders(x)) shares.push_back(of_layer.worst);
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
  y.count_ = 1;
  return y;
}

Limit Limit::with_replicates(int count) const {
  LADON_CHECK(count >= 1, "limit", "with_replicates() needs at least 1 replicate, got ", count);
  Limit y = *this;
  y.count_ = count;
  return y;
}

Limit Limit::with_pivots(const Inputs& x, int count) const {
  const NoGrad off;
  Limit y = *this;
  y.landmarks_ = landmarks(x);
  y.pivots_.reset();  // otherwise the passes below would use earlier pivots
  std::map<std::uint64_t, Pivots> found;
  const auto described = graph(kind_of(x), Get::nngp);
  for (int i = 0; i < count && described->draws(); ++i) {
    const std::uint64_t number = replicate_ + static_cast<std::uint64_t>(i);
    const Passes passes(y.with_replicate(number), described, *y.landmarks_, Entries::full);
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

namespace {

/// Number of tokens of the longest input, without padding, at least 1.
std::int64_t most_tokens(const Inputs& x, std::int64_t positions) {
  if (!x.mask.defined() || x.mask.rank() != 2 || x.mask.count() == 0)
    return std::max<std::int64_t>(1, positions);
  return std::max<std::int64_t>(1, amax(sum(cast(x.mask, i64), 1)).item<std::int64_t>());
}

}  // namespace

// Takes about 512 tokens, from inputs that are spread evenly over x.
Inputs Limit::landmarks(const Inputs& x) const {
  if (landmarks_) return *landmarks_;
  if (!x.x.defined() || x.x.rank() == 0) return {};
  constexpr std::int64_t tokens = 512, least = 4, most = 64;
  const Shape& shape = x.x.shape();
  const int channels = x.x.dtype() == i64 ? 0 : 1;
  const Shape positions = shape.sub(1, std::max(1, shape.rank() - channels));
  const std::int64_t n = x.count(), t = most_tokens(x, positions.count());
  const std::int64_t count = std::min(n, std::clamp(tokens / t, least, most));
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i * n / count);
  const Tensor index = from_vector(rows, {count});
  return {index_select(x.x, 0, index), x.mask.defined() ? index_select(x.mask, 0, index) : x.mask};
}

std::ostream& operator<<(std::ostream& out, const Limit& limit) {
  return out << derivation(*limit.graph());
}

Passes::Passes(Limit limit, std::shared_ptr<const KernelGraph> graph, const Inputs& landmarks,
               Entries wanted)
    : limit_(std::move(limit)), graph_(std::move(graph)), inputs_(landmarks), wanted_(wanted) {
  if (!graph_->draws()) return;
  const auto made = std::make_shared<Landmarks>();
  made->pivots = limit_.pivots();
  Walk first = walk();
  first.pairs = false;
  first.get = Get::nngp;
  first.found = made.get();
  first.selves[0] = {.kept = &made->selves, .count = inputs_.count()};
  evaluate(*graph_, inputs_, nullptr, first);
  landmarks_ = made;
}

Walk Passes::walk() const {
  return {.wanted = wanted_, .get = graph_->get(), .replicate = limit_.replicate()};
}

Kernel Passes::record(const Inputs& in, std::int64_t begin, std::int64_t end, std::int64_t count,
                      Selves& selves, std::vector<Remainder>* remainders) const {
  Walk alone = walk();
  alone.pairs = false;
  alone.get = Get::nngp;
  alone.selves[0] = {.begin = begin, .kept = &selves, .count = count};
  alone.remainders = remainders;
  const Inputs rows = in.rows(begin, end);
  if (!landmarks_) return evaluate(*graph_, rows, nullptr, alone);
  alone.landmarks = landmarks_.get();
  alone.selves[1] = {.known = &landmarks_->selves, .begin = 0, .end = inputs_.count()};
  return evaluate(*graph_, rows, &inputs_, alone);
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

Kernel Passes::pairs(const Rows& a, const Rows& b) const {
  Walk between = walk();
  const auto known = [](const Rows& rows) -> SelfRows {
    return {.known = rows.selves.empty() ? nullptr : &rows.selves,
            .begin = rows.begin,
            .end = rows.end};
  };
  between.selves = {known(a), known(b)};
  const Inputs left = a.inputs.rows(a.begin, a.end);
  if (&a == &b) return evaluate(*graph_, left, nullptr, between);
  const Inputs right = b.inputs.rows(b.begin, b.end);
  return evaluate(*graph_, left, &right, between);
}

Kernel Passes::pairs(const Rows& a) const { return pairs(a, a); }

Passes Passes::with(Landmarks landmarks) const {
  Passes y = *this;
  y.landmarks_ = std::make_shared<Landmarks>(std::move(landmarks));
  return y;
}

}  // namespace ladon::infinite
