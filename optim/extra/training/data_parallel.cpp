#include "ladon/optim/extra/training/data_parallel.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <string>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/machine/background.h"

namespace ladon {
namespace {

constexpr std::int64_t message_elements = std::int64_t{1} << 23;

/// Text with one line per parameter, such as "`weight` f32 [2, 3], frozen".
std::string description(const ParameterSet& parameters) {
  std::string text;
  for (const auto& [name, p] : parameters)
    text += detail::join("`", name, "` ", p.dtype(), " ", p.shape(),
                         p.requires_grad() ? "\n" : ", frozen\n");
  return text;
}

/// The message of the Error that ParameterSet::check_in_place throws; empty if it throws none.
std::string replaced(const char* operation, const ParameterSet& parameters) {
  try {
    parameters.check_in_place(operation);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// For each parameter, whether any rank has a gradient of it. Throws Error, in all ranks, if
/// parameters differ between ranks, or if a parameter was replaced in any rank.
std::vector<bool> with_gradient(const char* operation, const ParameterSet& parameters) {
  ranks::check_alike(operation, description(parameters));
  std::vector<std::byte> own;
  for (const auto& [name, p] : parameters)
    own.push_back(std::byte(p.requires_grad() && p.grad().defined()));
  for (const char c : replaced(operation, parameters)) own.push_back(std::byte(c));
  const auto all = ranks::all_gather(own);
  std::vector<bool> any(parameters.size(), false);
  for (const std::vector<std::byte>& rank : all) {
    const auto flags = std::span(rank).first(any.size()),
               error = std::span(rank).subspan(any.size());
    if (!error.empty())
      throw Error(std::string(reinterpret_cast<const char*>(error.data()), error.size()));
    for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || flags[i] != std::byte(0);
  }
  return any;
}

using Message = std::vector<Tensor>;

/// Calls send(message) with groups of parameters of one dtype and about `most` elements. Grouping
/// saves time, because every message waits for all ranks.
void for_each_message(const Message& parameters, const std::function<void(const Message&)>& send,
                      std::int64_t most = message_elements) {
  Message message;
  std::int64_t elements = 0;
  const auto flush = [&] {
    if (!message.empty()) send(message);
    message.clear();
    elements = 0;
  };
  for (const Tensor& p : parameters) {
    if (!message.empty() && message[0].dtype() != p.dtype()) flush();
    message.push_back(p);
    elements += p.count();
    if (elements >= most) flush();
  }
  flush();
}

/// All tensors concatenated, [Σ count].
Tensor packed(const Message& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& x : parts) flat.push_back(reshape(x, {x.count()}));
  return concat(flat, 0);
}

/// Inverse of packed(): calls take(parameter, part) for each parameter, where `part` holds the
/// elements of `all` that belong to this parameter, in its shape.
void unpack(const Tensor& all, const Message& parameters,
            const std::function<void(Tensor, const Tensor&)>& take) {
  std::int64_t at = 0;
  for (const Tensor& p : parameters) {
    take(p, reshape(slice(all, 0, {.start = at, .stop = at + p.count()}), p.shape()));
    at += p.count();
  }
}

void sum_together(const Message& parameters) {
  Message gradients;
  for (const Tensor& p : parameters)
    gradients.push_back(p.grad().defined() ? p.grad() : zeros_like(p));
  const Tensor sum = packed(gradients);
  ranks::all_reduce(sum);
  unpack(sum, parameters, [](Tensor p, const Tensor& part) { p.set_grad(part); });
}

/// Owner rank of each parameter: from the largest parameter to the smallest, each goes to the rank
/// with the fewest elements so far.
std::vector<int> owners(const ParameterSet& parameters) {
  const auto n = static_cast<std::size_t>(ranks::count());
  LADON_CHECK(parameters.size() >= n, "own_parameters", n, " ranks cannot divide ",
              parameters.size(),
              " trained parameters; each rank needs at least one: use fewer ranks");
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return parameters[i].second.count(); });
  std::vector<std::pair<std::int64_t, int>> held(n, {0, 0});  // per rank: numbers of elements and
                                                              // of parameters
  std::vector<int> owner(parameters.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(held);
    owner[i] = static_cast<int>(least - held.begin());
    least->first += parameters[i].second.count();
    ++least->second;
  }
  return owner;
}

ParameterSet owned_by(int rank, const ParameterSet& parameters) {
  const std::vector<int> owner = owners(parameters);
  ParameterSet own;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (owner[i] == rank) own.push_back(parameters[i]);
  return own;
}

Message tensors_of(const ParameterSet& parameters) {
  Message tensors;
  for (const auto& [name, p] : parameters) tensors.push_back(p);
  return tensors;
}

}  // namespace

void sum_gradients(const ParameterSet& set) {
  if (ranks::count() == 1) return set.check_in_place("sum_gradients");
  const NoGrad off;
  const ParameterSet parameters = set.distinct();
  const std::vector<bool> any = with_gradient("sum_gradients", parameters);
  Message summed;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (any[i]) summed.push_back(parameters[i].second);
  for_each_message(summed, sum_together);
}

bool OverlappedSum::Bucket::complete() const {
  return std::ranges::all_of(gradients, [](const Tensor& g) { return g.defined(); });
}

OverlappedSum::OverlappedSum(const ParameterSet& parameters, std::int64_t bucket)
    : parameters_(parameters.trained()) {
  LADON_CHECK(bucket >= 1, "OverlappedSum", "the bucket size must be at least 1, got ", bucket);
  if (ranks::count() == 1) return;
  ranks::check_alike("OverlappedSum",
                     detail::join(description(parameters_), "buckets of ", bucket, "\n"));
  std::ranges::reverse(parameters_);
  const auto add = [&](const Message& own) {
    buckets_.push_back({own, std::vector<Tensor>(own.size())});
  };
  for_each_message(tensors_of(parameters_), add, bucket);
  for (Bucket& b : buckets_)
    for (std::size_t i = 0; i < b.parameters.size(); ++i)
      hooks_.push_back(register_hook(b.parameters[i], [this, &b, i](const Tensor& g) {
        take(b, i, g);
        return Tensor();
      }));
}

OverlappedSum::~OverlappedSum() {
  for (HookHandle& hook : hooks_) hook.remove();
  for (const Bucket& bucket : buckets_)
    if (bucket.sum.valid()) bucket.sum.wait();
}

void OverlappedSum::take(Bucket& bucket, std::size_t place, const Tensor& gradient) {
  const Tensor& p = bucket.parameters[place];
  LADON_CHECK(!bucket.gradients[place].defined() && !p.grad().defined(), "OverlappedSum",
              "a parameter of shape ", p.shape(),
              " has a gradient of an earlier backward pass; call finish() after each backward(), "
              "and zero_grad() before it");
  bucket.gradients[place] = gradient.detach();
  while (begun_ < buckets_.size() && buckets_[begun_].complete()) begin(begun_++);
}

void OverlappedSum::begin(std::size_t bucket) {
  const NoGrad off;
  const auto before = bucket > 0 ? buckets_[bucket - 1].sum : std::shared_future<Tensor>();
  const auto add = [before, x = packed(buckets_[bucket].gradients)] {
    if (before.valid()) before.wait();  // all ranks exchange the buckets one by one, in one order
    ranks::all_reduce(x);
    return x;
  };
  buckets_[bucket].sum = parallel::in_background(add).share();
}

void OverlappedSum::finish() {
  if (ranks::count() == 1) return parameters_.check_in_place("OverlappedSum");
  const NoGrad off;
  // The gradient of a parameter that the backward pass did not reach counts as zeros.
  for (; begun_ < buckets_.size(); ++begun_) {
    Bucket& b = buckets_[begun_];
    for (std::size_t i = 0; i < b.gradients.size(); ++i)
      if (!b.gradients[i].defined()) b.gradients[i] = zeros_like(b.parameters[i]);
    begin(begun_);
  }
  begun_ = 0;
  std::vector<std::shared_future<Tensor>> sums;
  for (Bucket& b : buckets_) {  // emptied for the next pass, even if the check below throws
    b.sum.wait();
    sums.push_back(b.sum);
    b = {b.parameters, std::vector<Tensor>(b.parameters.size())};
  }
  const std::vector<bool> any = with_gradient("OverlappedSum", parameters_);
  std::size_t at = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    unpack(sums[i].get(), buckets_[i].parameters, [&](Tensor p, const Tensor& part) {
      if (any[at++]) p.set_grad(part);
    });
}

ParameterSet own_parameters(const ParameterSet& parameters) {
  ranks::check_alike("own_parameters", description(parameters));
  return owned_by(ranks::rank(), parameters.trained());
}

namespace {

/// Throws Error, in all ranks, if a rank has updated a parameter that another rank owns.
void check_moved_by_owner(const ParameterSet& trained) {
  const std::vector<int> owner = owners(trained);
  std::string moved;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const Leaf* leaf = Leaf::of(trained[i].second);
    if (owner[i] != ranks::rank() && leaf && leaf->used() && moved.empty())
      moved = detail::join("rank ", ranks::rank(), " has updated `", trained[i].first,
                           "`, which belongs to rank ", owner[i]);
  }
  for (const std::vector<std::byte>& of : ranks::all_gather(std::as_bytes(std::span(moved))))
    LADON_CHECK(of.empty(), "share_parameters",
                std::string(reinterpret_cast<const char*>(of.data()), of.size()),
                "; each rank's optimizer must have own_parameters() of the same set, and must be "
                "constructed again when parameters are frozen or thawed");
}

}  // namespace

void share_parameters(const ParameterSet& parameters) {
  if (ranks::count() == 1) return;
  const NoGrad off;
  ranks::check_alike("share_parameters", description(parameters));
  const ParameterSet trained = parameters.trained();
  check_moved_by_owner(trained);
  for (int r = 0; r < ranks::count(); ++r)
    for_each_message(tensors_of(owned_by(r, trained)), [r](const Message& own) {
      const Tensor all = packed(own);
      ranks::broadcast(all, r);
      if (r != ranks::rank())
        unpack(all, own, [](Tensor p, const Tensor& part) { copy_(p, part); });
    });
}

void broadcast_state(const Module& model, int from) {
  const StateDict state = model.state_dict();
  std::string tensors;
  for (const auto& [name, x] : state)
    tensors += detail::join("`", name, "` ", x.dtype(), " ", x.shape(), "\n");
  ranks::check_alike("broadcast_state", tensors);
  for (const auto& [name, x] : state) ranks::broadcast(x, from);
}

void share_gradients(const Particles& particles) {
  if (ranks::count() == 1) return;
  std::string blocks;
  for (const ParticleBlock& block : particles)
    blocks += detail::join("`", block.name(), "` ", block.dtype(), " ",
                           Shape{block.count(), block.dim()}, "\n");
  ranks::check_alike("share_gradients", blocks);
  for (const ParticleBlock& block : particles) {
    const Tensor all = clone(block.gradients());
    ranks::gather_rows(all);
    block.set_gradients(all);
  }
}

}  // namespace ladon
