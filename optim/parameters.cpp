#include "ladon/optim/parameters.h"

#include <cmath>
#include <map>
#include <string>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/core/error.h"

namespace ladon::detail {

void check_parameters(const ParameterSet& parameters) {
  LADON_CHECK(!parameters.empty(), "optimizer", "there is no parameter to optimize");
  std::map<const detail::Node*, std::string> seen;
  for (const auto& [name, x] : parameters) {
    LADON_CHECK(x.defined() && x.history(), "optimizer", "parameter ", name,
                " requires no gradient; make it with parameter(x)");
    LADON_CHECK(x.contiguous(), "optimizer", "parameter ", name, " of shape ", x.shape(),
                " is not contiguous (strides ", x.strides(), ")");
    LADON_CHECK(Leaf::of(x), "optimizer", "parameter ", name, " is the result of `",
                x.history()->operation(), "`; only leaves keep a gradient");
    const auto [first, is_new] = seen.emplace(x.history().get(), name);
    LADON_CHECK(is_new, "optimizer", "parameters ", first->second, " and ", name,
                " are the same tensor; it would be updated twice a step");
  }
}

Tensor gradient_row(const Tensor& value, const ParameterSet& set, const Tensor& cotangent) {
  std::vector<Tensor> gradients(set.size()), trained;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i].second.requires_grad()) {
      trained.push_back(set[i].second);
      places.push_back(i);
    }
  GradOptions options{.allow_unused = true};
  if (cotangent.defined()) options.cotangents = {cotangent};
  const std::vector<Tensor> found = trained.empty() || !value.requires_grad()
                                        ? std::vector<Tensor>(trained.size())
                                        : grad({value}, trained, options);
  for (std::size_t k = 0; k < places.size(); ++k) gradients[places[k]] = found[k];
  return set.to_row(gradients);
}

void check_not_negative(const char* operation, const char* name, double value) {
  LADON_CHECK(std::isfinite(value) && value >= 0, operation, name, " is ", value,
              "; it must be finite and at least 0");
}

void check_fraction(const char* operation, const char* name, double value) {
  LADON_CHECK(value >= 0 && value < 1, operation, name, " is ", value, "; it must be in [0, 1)");
}

}  // namespace ladon::detail
