#pragma once
// Forms of attention: scaling of logits, the map from logits to weights, and tied weights.

#include <string>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// Divisor of the logits ⟨q, k⟩.
enum class AttentionScaling {
  sqrt,   ///< sqrt(head_dim) (Vaswani et al. 2017): logits stay random however wide the head is.
  linear  ///< head_dim (Hron et al. 2020): logits converge to their mean in wide heads.
};
std::string_view to_string(AttentionScaling scaling);
/// The scaling named `name`, "sqrt" or "linear"; throws Error listing them for another name.
AttentionScaling attention_scaling_from_name(std::string_view name);

/// Map of logits to weights, ζ in Hron et al. 2020. Where a query may not attend, the weight
/// is 0.
enum class Weighting { softmax, identity, relu, abs };
std::string_view to_string(Weighting weighting);
/// The weighting named `name`, "softmax", "identity", "relu" or "abs"; throws Error listing them
/// for another name.
Weighting weighting_from_name(std::string_view name);
/// ζ of logits [.., Tq, Tk]; softmax is over the last axis, and zero where all are −∞.
Tensor attention_weights(Weighting weighting, const Tensor& logits);

struct AttentionForm {
  AttentionScaling scaling = AttentionScaling::sqrt;
  Weighting weighting = Weighting::softmax;
  bool tied = false;  ///< Queries and keys share their weights.

  bool operator==(const AttentionForm&) const = default;
};
/// Text such as "softmax, sqrt scaling", followed by ", tied" for tied queries and keys.
std::string to_string(const AttentionForm& form);

}  // namespace ladon
