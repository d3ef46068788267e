#pragma once
// Conversion of tensors between Ladon and LibTorch, for equal inputs, and differences between
// results.

#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"
#include "row.h"

namespace ladon::bench {

/// A copy for LibTorch, of the same shape and dtype (f32, f64, i64, bool).
at::Tensor to_peer(const Tensor& x);

/// max |ours − theirs| / max |theirs|; infinity where shapes differ or a number is not finite.
double difference(const Tensor& ours, const at::Tensor& theirs);
double difference(const std::vector<Tensor>& ours, const std::vector<at::Tensor>& theirs);

/// The two sides of a row, Ladon's and LibTorch's, from two functions that return a tensor or
/// several. Their difference is computed from the results of the second call of each, so that a
/// state which the first call changes is compared, too.
template <class Ours, class Theirs>
Sides sides(Ours ours, Theirs theirs) {
  const auto apart = [ours, theirs]() mutable {
    ours();
    theirs();
    return difference(ours(), theirs());
  };
  return {[ours]() mutable { ours(); }, [theirs]() mutable { theirs(); }, apart};
}

/// LibTorch's side of a row without gradients: calls `theirs` in inference mode, which records
/// nothing.
template <class Theirs>
auto in_inference_mode(Theirs theirs) {
  return [theirs] {
    const c10::InferenceMode on;
    return theirs();
  };
}

/// Parameters of a model, by PyTorch's names and in PyTorch's memory layout.
using Named = std::map<std::string, at::Tensor>;
/// Copies of a model's parameters, which require gradients.
Named to_peer(const Module& model);
double difference(const Module& ours, const Named& theirs);
std::vector<at::Tensor> values(const Named& parameters);

/// Settings of LibTorch's Adam, or with `decoupled` weight decay AdamW. LibTorch 2.4 and later have
/// a fused step, which is used; earlier versions use their C++ optimizer.
struct PeerAdamOptions {
  double lr = 1e-3, eps = 1e-8, weight_decay = 0;
  bool decoupled = false;
};
class PeerAdam {
 public:
  PeerAdam(std::vector<at::Tensor> parameters, const PeerAdamOptions& options);
  void zero_grad();
  void step();

 private:
  std::vector<at::Tensor> parameters_;
  PeerAdamOptions options_;
  std::vector<at::Tensor> means_, squares_, steps_;     ///< State of the fused step.
  std::shared_ptr<torch::optim::Optimizer> optimizer_;  ///< Null if there is a fused step.
};

/// softmax(q·kᵀ/√d + mask)·v. In a boolean mask true means that the query may attend to the key, in
/// both libraries.
at::Tensor peer_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          bool causal, const at::Tensor& mask = {});

/// −φ = (K·g − R)/M with k_ij = exp(−d²_ij/(2h²)), R_i = Σ_j k_ij (θ_i − θ_j)/h² and h² =
/// ½·median(d², i ≠ j)/ln(M + 1), as Svgd computes it by default. Only three products read the
/// particles: θ·θᵀ, whose diagonal has the squared norms; K·g; and (K − diag(Σ_j k_ij))·θ, which is
/// −h²R and is added to K·g after division by h².
at::Tensor peer_svgd_force(const at::Tensor& theta, const at::Tensor& gradient);

}  // namespace ladon::bench
