#include "ladon/optim/training/data_parallel.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/ranks/ranks.h"

namespace ladon {
namespace {

constexpr std::int64_t message_elements = std::int64_t{1} << 23;

/// Which parameters have a gradient in some rank.
std::vector<bool> with_gradient(const ParameterSet& parameters) {
  std::vector<std::byte> own;
  for (const auto& [name, p] : parameters)
    own.push_back(std::byte(p.requires_grad() && p.grad().defined()));
  const auto all = ranks::all_gather(own);
  std::vector<bool> any(parameters.size(), false);
  for (std::size_t r = 0; r < all.size(); ++r) {
    LADON_CHECK(all[r].size() == all[0].size(), "sum_gradients", "rank 0 has ", all[0].size(),
                " parameters, rank ", r, " has ", all[r].size());
    for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || all[r][i] != std::byte(0);
  }
  return any;
}

/// Sums gradients of one dtype in one message: each small one alone would wait for all ranks.
void sum_together(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters)
    flat.push_back(p.grad().defined() ? reshape(p.grad(), {p.count()})
                                      : zeros({p.count()}, p.dtype()));
  const Tensor sum = concat(flat, 0);
  ranks::all_reduce(sum);
  std::int64_t at = 0;
  for (Tensor p : parameters) {
    p.set_grad(reshape(slice(sum, 0, {.start = at, .stop = at + p.count()}), p.shape()));
    at += p.count();
  }
}

}  // namespace

void sum_gradients(const ParameterSet& parameters) {
  if (ranks::count() == 1) return;
  const NoGrad off;
  const std::vector<bool> any = with_gradient(parameters);
  std::vector<Tensor> message;
  std::int64_t elements = 0;
  const auto send = [&] {
    if (!message.empty()) sum_together(message);
    message.clear();
    elements = 0;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!any[i]) continue;
    const Tensor& p = parameters[i].second;
    if (!message.empty() && message[0].dtype() != p.dtype()) send();
    message.push_back(p);
    elements += p.count();
    if (elements >= message_elements) send();
  }
  send();
}

void broadcast_state(const Module& model, int from) {
  for (const auto& [name, x] : model.state_dict()) ranks::broadcast(x, from);
}

}  // namespace ladon
