#include "both.h"

#include <cblas.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/state/torch_layout.h"

namespace ladon::bench {
namespace {

at::ScalarType peer_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return at::kFloat;
    case DType::f64:
      return at::kDouble;
    case DType::i64:
      return at::kLong;
    case DType::boolean:
      return at::kBool;
    default:
      break;
  }
  LADON_CHECK(false, "compare", "has no peer of dtype ", dtype);
}

/// Of the entries above the diagonal.
double median_of_pairs(const at::Tensor& d2) {
  std::vector<double> pairs;
  const at::Tensor numbers = d2.to(at::kDouble);
  const auto entry = numbers.accessor<double, 2>();
  for (std::int64_t i = 0; i < d2.size(0); ++i)
    for (std::int64_t j = i + 1; j < d2.size(1); ++j) pairs.push_back(entry[i][j]);
  const auto middle = pairs.begin() + std::ptrdiff_t(pairs.size() / 2);
  std::nth_element(pairs.begin(), middle, pairs.end());
  if (pairs.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(pairs.begin(), middle));
}

std::vector<std::int64_t> sizes(const Tensor& x) { return {x.shape().begin(), x.shape().end()}; }

}  // namespace

at::Tensor to_peer(const Tensor& x) {
  const Tensor whole = contiguous(x.detach());
  return torch::from_blob(const_cast<std::byte*>(whole.strided_bytes()), sizes(whole),
                          peer_type(whole.dtype()))
      .clone();
}

double difference(const Tensor& ours, const at::Tensor& theirs) {
  constexpr double apart = std::numeric_limits<double>::infinity();
  const at::Tensor a = to_peer(ours).to(at::kDouble), b = theirs.detach().to(at::kDouble);
  if (a.sizes() != b.sizes() || !at::isfinite(a).all().item<bool>()) return apart;
  const double largest = b.abs().max().item<double>(), most = (a - b).abs().max().item<double>();
  if (!std::isfinite(largest)) return apart;
  return largest > 0 ? most / largest : most;
}

double difference(const std::vector<Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  if (ours.size() != theirs.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    most = std::max(most, difference(ours[i], theirs[i]));
  return most;
}

Named to_peer(const Module& model) {
  Named copies;
  for (const auto& [name, value] : to_torch(model))
    copies[name] = to_peer(value).requires_grad_(true);
  return copies;
}

double difference(const Module& ours, const Named& theirs) {
  double most = 0;
  for (const auto& [name, value] : to_torch(ours))
    most = std::max(most, difference(value, theirs.at(name)));
  return most;
}

std::vector<at::Tensor> values(const Named& parameters) {
  std::vector<at::Tensor> list;
  for (const auto& [name, value] : parameters) list.push_back(value);
  return list;
}

// The fused step on processors came with LibTorch 2.4.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
PeerAdam::PeerAdam(std::vector<at::Tensor> parameters, const PeerAdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const at::Tensor& p : parameters_) {
    means_.push_back(at::zeros_like(p));
    squares_.push_back(at::zeros_like(p));
  }
  steps_.assign(parameters_.size(), at::zeros({}, at::kFloat));  // one number for all
}

void PeerAdam::step() {
  const at::NoGradGuard off;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& p : parameters_) gradients.push_back(p.grad());
  steps_[0] += 1;
  const auto fused = [&](auto update) {
    update(parameters_, gradients, means_, squares_, at::TensorList(), steps_, options_.lr, 0.9,
           0.999, options_.weight_decay, options_.eps, false, false);
  };
  options_.decoupled ? fused([](auto&&... of) { at::_fused_adamw_(of...); })
                     : fused([](auto&&... of) { at::_fused_adam_(of...); });
}
#else
PeerAdam::PeerAdam(std::vector<at::Tensor> parameters, const PeerAdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  const auto [lr, eps, decay, decoupled] = options_;
  if (decoupled)
    optimizer_ = std::make_shared<torch::optim::AdamW>(
        parameters_, torch::optim::AdamWOptions(lr).eps(eps).weight_decay(decay));
  else
    optimizer_ = std::make_shared<torch::optim::Adam>(
        parameters_, torch::optim::AdamOptions(lr).eps(eps).weight_decay(decay));
}

void PeerAdam::step() { optimizer_->step(); }
#endif

void PeerAdam::zero_grad() {
  for (at::Tensor& p : parameters_) p.mutable_grad().reset();
}

at::Tensor peer_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          bool causal, const at::Tensor& mask) {
  const auto given = mask.defined() ? c10::optional<at::Tensor>(mask) : c10::nullopt;
#if TORCH_VERSION_MAJOR < 2
  return std::get<0>(at::_scaled_dot_product_attention(q, k, v, given, 0.0, false, causal));
#else
  return at::scaled_dot_product_attention(q, k, v, given, 0.0, causal);
#endif
}

at::Tensor peer_svgd_force(const at::Tensor& theta, const at::Tensor& gradient) {
  const auto count = double(theta.size(0));
  const at::Tensor gram = at::mm(theta, theta.t()), norms = gram.diagonal();
  const at::Tensor d2 = (norms.unsqueeze(1) + norms.unsqueeze(0)).sub_(gram, 2).clamp_min_(0);
  const double h2 = 0.5 * median_of_pairs(d2) / std::log(count + 1);
  const at::Tensor k = d2.mul(-0.5 / h2).exp_().fill_diagonal_(1);
  at::Tensor force = at::mm(k, gradient);
  return force.addmm_(k - at::diag(k.sum(1)), theta, 1 / count, 1 / (count * h2));
}

void give_ours(int threads) {
  at::set_num_threads(1);
  openblas_set_num_threads(1);
  set_num_threads(threads);
}

void give_theirs(int threads) {
  set_num_threads(1);
  at::set_num_threads(threads);
  openblas_set_num_threads(threads);
}

std::string peer() {
  const char* const flavours[] = {"serial", "threads of its own", "OpenMP"};
  std::ostringstream line;
  line << "LibTorch " << TORCH_VERSION << ", " << openblas_get_config() << " ("
       << flavours[std::clamp(openblas_get_parallel(), 0, 2)] << ")";
  return line.str();
}

}  // namespace ladon::bench
