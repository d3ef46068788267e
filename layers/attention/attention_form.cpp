#include "ladon/layers/attention/attention_form.h"

#include <array>
#include <string>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/core/names.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 2> scaling_names = {"sqrt", "linear"};
constexpr std::array<std::string_view, 4> weighting_names = {"softmax", "identity", "relu", "abs"};

}  // namespace

std::string_view to_string(AttentionScaling scaling) {
  return scaling_names[static_cast<std::size_t>(scaling)];
}

AttentionScaling attention_scaling_from_name(std::string_view name) {
  return static_cast<AttentionScaling>(index_of_name("attention scaling", name, scaling_names));
}

std::string_view to_string(Weighting weighting) {
  return weighting_names[static_cast<std::size_t>(weighting)];
}

Weighting weighting_from_name(std::string_view name) {
  return static_cast<Weighting>(index_of_name("weighting", name, weighting_names));
}

std::string to_string(const AttentionForm& form) {
  return detail::join(to_string(form.weighting), ", ", to_string(form.scaling), " scaling",
                      form.tied ? ", tied" : "");
}

Tensor attention_weights(Weighting weighting, const Tensor& logits) {
  switch (weighting) {
    case Weighting::softmax:
      return softmax(logits, -1);
    case Weighting::identity:
      return logits;
    case Weighting::relu:
      return relu(logits);
    case Weighting::abs:
      return abs(logits);
  }
  detail::fail("attention_weights", "unknown weighting; use a value of the enum Weighting");
}

}  // namespace ladon
