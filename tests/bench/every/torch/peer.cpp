#include "../peer.h"

#include <limits>

#include "ladon/core/error.h"
#include "peers.h"

namespace ladon::bench::every {
namespace {

const PeerTable& peers() {
  static const PeerTable all = [] {
    PeerTable t;
    for (const auto add : {add_pointwise, add_reductions, add_shapes, add_products, add_losses,
                           add_windows, add_layers, add_optimizers})
      add(t);
    return t;
  }();
  return all;
}

/// A copy in the same strides: of all that lies in the storage.
at::Tensor in_its_layout(const Tensor& x) {
  if (x.contiguous()) return to_peer(x);
  const auto count = std::int64_t(x.storage().size() / item_size(x.dtype()));
  const Tensor all(x.storage(), x.dtype(), {count}, {1});
  return to_peer(all).as_strided({x.shape().begin(), x.shape().end()},
                                 {x.strides().begin(), x.strides().end()}, x.offset());
}

/// Largest difference of two lists, of which each may have undefined tensors in the same places,
/// relative to the largest number of theirs: one scale for all, so that gradients that are 0 but
/// for rounding (of keys' biases) are no difference.
double apart(const Tensors& ours, const P& theirs, int count) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::size_t most = count > 0 ? std::size_t(count) : std::max(ours.size(), theirs.size());
  if (ours.size() < most || theirs.size() < most) return infinite;
  double different = 0, largest = 0;
  for (std::size_t i = 0; i < most; ++i) {
    if (!ours[i].defined() && !theirs[i].defined()) continue;
    if (!ours[i].defined() || !theirs[i].defined()) return infinite;
    const at::Tensor a = to_peer(ours[i]).to(at::kDouble), b = theirs[i].to(at::kDouble);
    if (a.sizes() != b.sizes() || !at::isfinite(a).all().item<bool>()) return infinite;
    if (a.numel() == 0) continue;
    different = std::max(different, (a - b).abs().max().item<double>());
    largest = std::max(largest, b.abs().max().item<double>());
  }
  return largest > 0 ? different / largest : different;
}

P requiring(const P& results) {
  P list;
  for (const at::Tensor& y : results)
    if (y.requires_grad()) list.push_back(y);
  return list;
}

}  // namespace

void PeerTable::add(const std::string& name, PeerFunction apply) {
  add_made(name, [apply](const P&) { return apply; });
}

void PeerTable::add_made(const std::string& name, std::function<PeerFunction(const P&)> make) {
  LADON_CHECK(entries_.emplace(name, std::move(make)).second, "every", "has two peers of ", name);
}

PeerFunction PeerTable::find(const std::string& name, const P& inputs) const {
  const auto entry = entries_.find(name);
  return entry == entries_.end() ? PeerFunction() : entry->second(inputs);
}

std::optional<Peer> peer_of(const Row& row, const Call& call) {
  P inputs, cotangents, by;
  for (const Tensor& x : call.inputs) inputs.push_back(in_its_layout(x));
  for (const Tensor& c : call.cotangents) cotangents.push_back(to_peer(c));
  for (const std::size_t i : call.differentiated) by.push_back(inputs[i].requires_grad_(true));
  const PeerFunction apply = peers().find(row.entry->name, inputs);
  if (!apply) return {};
  std::function<P()> run = [=]() -> P {
    const c10::InferenceMode on;
    return apply(inputs);
  };
  if (row.gradient)
    run = [=]() -> P {
      return torch::autograd::grad(requiring(apply(inputs)), by, cotangents, c10::nullopt, false,
                                   true);
    };
  return Peer{[=] { run(); },
              [=](const Tensors& ours, int count) { return apart(ours, run(), count); }};
}

std::string peer_name() { return peer(); }
void turn_to_ours(int threads) { give_ours(threads); }
void turn_to_peer(int threads) { give_theirs(threads); }

}  // namespace ladon::bench::every
