#include "ladon/layers/extra/state/low_rank.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/layers/extra/state/replace.h"
#include "ladon/layers/infinite/kernel/branches.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

namespace {

double scale_of(const LowRankOptions& o) {
  LADON_CHECK(std::isfinite(o.alpha), "LowRank", "alpha is ", o.alpha, "; it must be finite");
  const auto rank = static_cast<double>(o.rank);
  return o.alpha / (o.stabilized ? std::sqrt(rank) : rank);
}

/// Initial A [rank, in] and B [out, rank] for a weight [out, in].
std::pair<Tensor, Tensor> drawn(std::int64_t out, std::int64_t in, std::int64_t rank, DType dtype,
                                Generator& rng) {
  LADON_CHECK(rank >= 1 && rank <= std::min(in, out), "LowRank", "the rank is ", rank,
              "; it must be at least 1 and at most min(in, out) = ", std::min(in, out));
  const double stddev = 1 / std::sqrt(static_cast<double>(in));
  return {parameter(normal({rank, in}, rng, 0, stddev, dtype)),
          parameter(zeros({out, rank}, dtype))};
}

}  // namespace

LowRank::LowRank(Linear given, const LowRankOptions& o, Generator& rng)
    : base(std::move(given)), scale(scale_of(o)) {
  const Tensor& w = base.weight;
  std::tie(lora_A, lora_B) = drawn(w.size(0), w.size(1), o.rank, w.dtype(), rng);
}

Tensor LowRank::forward(const Tensor& x) const {
  const Tensor y = base(x);
  const Tensor seen = linear(x, lora_A);  // [.., in] · [rank, in]ᵀ
  ParameterUses::report_product(x, seen);
  const Tensor z = seen * scale;
  const Tensor added = linear(z, lora_B);  // [.., rank] · [out, rank]ᵀ
  ParameterUses::report_product(z, added);
  return y + added;
}

infinite::KernelNode LowRank::limit(const infinite::KernelNode& k) const {
  LADON_CHECK(
      all(equal(lora_B, 0.0)).item<bool>(), "LowRank",
      "has a limit of infinite width only before training, while B is 0, but its B is not 0; "
      "take the limit of a new layer");
  const double learned = scale * scale * static_cast<double>(lora_A.size(0));
  const infinite::Step step{.makes = infinite::Law::random_linear(),
                            .formula =
                                [=] {
                                  return infinite::Formula{"0", infinite::times(learned, "$k")};
                                },
                            .needs = infinite::Needs::wanted};
  const auto adapter = [&](const infinite::KernelNode& seen) {
    return infinite::map_pairs(seen, step, [learned](const infinite::Pairs& pairs) {
      infinite::PairKernels y{0.0 * pairs.nngp, {}};
      if (pairs.ntk.defined()) y.ntk = learned * pairs.nngp;
      return y;
    });
  };
  return infinite::sum("LowRank", k,
                       {{"base", [&](const auto& x) { return base(x); }}, {"adapter", adapter}});
}

void LowRank::visit(Visitor& v) {
  v("base", base);
  v("lora_A", lora_A);
  v("lora_B", lora_B);
}

std::string LowRank::describe() const {
  return detail::join("LowRank(", lora_B.size(0), " × ", lora_A.size(1), ", rank ", lora_A.size(0),
                      ")");
}

Linear LowRank::merged() const {
  const NoGrad off;
  const Linear one = clone(base);
  add_(one.weight.detach(), matmul(lora_B, lora_A), scale / base.scale());
  return one;
}

LowRankUpdate::LowRankUpdate(const ParameterSet& of, const LowRankOptions& o, Generator& rng)
    : set(of), scale(scale_of(o)) {
  LADON_CHECK(!set.empty(), "LowRankUpdate",
              "there is no parameter in the set; it needs at least one");
  set.check_in_place("LowRankUpdate");
  LADON_CHECK(set.distinct().size() == set.size(), "LowRankUpdate", "the set of ", set.size(),
              " parameters has only ", set.distinct().size(),
              " tensors, and each gets one update; use distinct()");
  for (const auto& [name, w] : set) {
    LADON_CHECK(w.rank() >= 2 && w.count() > 0, "LowRankUpdate", "`", name, "` has shape ",
                w.shape(), "; it must have two axes or more, and at least one element");
    const auto [a, b] = drawn(w.count() / w.size(-1), w.size(-1), o.rank, w.dtype(), rng);
    adapters.emplace_back(name + ".lora_A", a);
    adapters.emplace_back(name + ".lora_B", b);
  }
}

std::vector<Tensor> LowRankUpdate::values() const {
  set.check_in_place("LowRankUpdate");
  LADON_CHECK(adapters.size() == 2 * set.size(), "LowRankUpdate", "there are ", adapters.size(),
              " adapters for ", set.size(),
              " tensors; each tensor has two, A and B, as the constructor makes them");
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const auto& [name, w] = set[i];
    const Tensor &a = adapters[2 * i].second, &b = adapters[2 * i + 1].second;
    values.push_back(w + scale * reshape(matmul(b, a), w.shape()));
  }
  return values;
}

void LowRankUpdate::merge() const {
  const NoGrad off;
  set.check_in_place("merge");
  set.check_own_values("merge");
  adapters.check_own_values("merge");
  const std::vector<Tensor> merged = values();
  for (std::size_t i = 0; i < set.size(); ++i) {
    copy_(set[i].second.detach(), merged[i]);
    fill_(adapters[2 * i + 1].second.detach(), 0);
  }
}

namespace {

/// Hint for a pattern that matches no part that can be replaced, but may match parameters.
std::string weights_called(const Module& model, const std::string& pattern) {
  for (const std::string& name : {pattern, pattern + ".weight"})
    for (const auto& [path, x] : model.named_parameters())
      if (matches_name(name, path))
        return "; other weights, such as the queries of attention, are adapted by "
               "LowRankUpdate(model.choose(\"" +
               name + "\"), …)";
  return ", nor a parameter of that name";
}

}  // namespace

ParameterSet add_low_rank(Module& model, const std::string& pattern, const LowRankOptions& options,
                          Generator& rng) {
  bool any = false;
  detail::for_each_place(model, [&](const std::string& path, Owned<Layer>& place, bool) {
    any = any || (place && matches_name(pattern, path));
  });
  LADON_CHECK(any, "add_low_rank", model.describe(), " has no Linear at `", pattern, "`",
              weights_called(model, pattern));
  const auto paths = replace_each(model, pattern, [&](Owned<Layer> part) -> Owned<Layer> {
    const auto* linear = dynamic_cast<const Linear*>(part.get());
    LADON_CHECK(linear, "add_low_rank", "adapts only Linear; `", pattern, "` also matches ",
                part->describe());
    return LowRank(*linear, options, rng);
  });
  ParameterSet adapters;
  for (const std::string& path : paths)
    for (const auto& added : model.choose(path + ".lora_?")) adapters.push_back(added);
  return adapters;
}

std::map<std::string, LowRank> merge_low_rank(Module& model) {
  std::map<std::string, LowRank> apart;
  detail::for_each_place(model, [&](const std::string& path, Owned<Layer>& place, bool) {
    if (const auto* adapted = dynamic_cast<const LowRank*>(place.get()))
      apart.emplace(path, *adapted);
  });
  const detail::Replacing replacing(model, "merge_low_rank(), until unmerge_low_rank(),");
  for (const auto& [path, adapted] : apart) replace(model, path, adapted.merged());
  return apart;
}

void unmerge_low_rank(Module& model, const std::map<std::string, LowRank>& apart) {
  std::map<std::string, LowRank> back = apart;
  detail::for_each_place(model, [&](const std::string& path, Owned<Layer>& place, bool) {
    const auto at = back.find(path);
    if (at == back.end() || !place) return;
    const auto* merged = dynamic_cast<const Linear*>(place.get());
    const Tensor& before = at->second.base.weight;
    LADON_CHECK(merged && merged->weight.shape() == before.shape(), "unmerge_low_rank", "`", path,
                "` is ", place->describe(),
                " now, not the Linear of merge_low_rank(), and would be overwritten: take it out "
                "of the model, or leave `",
                path, "` out of the map");
    if (merged->weight.dtype() != before.dtype()) at->second.to(merged->weight.dtype());
  });
  for (const auto& [path, adapted] : back) replace(model, path, adapted);
}

}  // namespace ladon
