#include "ladon/core/state.h"

#include <limits>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/moments.h"

namespace ladon::detail {

Tensor state_of(const Generator& rng) {
  const auto bits = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
  return from_vector(std::vector{bits(rng.seed()), bits(rng.stream()), bits(rng.position())}, {3});
}

Tensor state_of(std::int64_t count) { return from_vector(std::vector{count}, {}); }

const Tensor& StateReader::entry(const std::string& name) {
  const auto at = state_.find(name);
  LADON_CHECK(at != state_.end(), "load_state_dict", "the state has no entry \"", name,
              "\"; pass the state_dict() of an object of the same class and options");
  LADON_CHECK(at->second.defined(), "load_state_dict", "\"", name,
              "\" is an undefined tensor in the state; give it a value");
  used_.insert(name);
  return at->second;
}

const Tensor& StateReader::entry(const std::string& name, DType dtype, const Shape& shape) {
  const Tensor& x = entry(name);
  LADON_CHECK(x.shape() == shape && x.dtype() == dtype, "load_state_dict", "\"", name, "\" is ",
              x.dtype(), " of shape ", x.shape(), ", expected ", dtype, " of shape ", shape);
  return x;
}

void StateReader::refuse_nan(const std::string& name) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LADON_CHECK(kernels::all_within(entry(name), -infinity, infinity), "load_state_dict", "\"", name,
              "\" has NaN elements, as after a training that diverged; load an earlier state");
}

double StateReader::number(const std::string& name) { return entry(name, f64, {}).item(); }

std::int64_t StateReader::count(const std::string& name) {
  const auto count = entry(name, i64, {}).item<std::int64_t>();
  LADON_CHECK(count >= 0, "load_state_dict", "\"", name, "\" is ", count,
              "; it must be at least 0");
  return count;
}

Generator StateReader::generator(const std::string& name) {
  const auto words = entry(name, i64, {3}).to_vector<std::int64_t>();
  const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(words[i]); };
  Generator rng(word(0), word(1));
  rng.set_position(word(2));
  return rng;
}

void StateReader::finish(const std::string& who) const {
  std::string others;
  for (const auto& [name, x] : state_)
    if (!used_.contains(name)) others += (others.empty() ? "\"" : ", \"") + name + "\"";
  LADON_CHECK(others.empty(), "load_state_dict", "the state has entries that ", who,
              " does not know: ", others,
              "; pass the state_dict() of an object of the same class and options");
}

}  // namespace ladon::detail
