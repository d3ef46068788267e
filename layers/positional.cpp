#include "ladon/layers/positional.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/layers/init.h"

namespace ladon {
namespace {

void check_sequence(const char* layer, const Tensor& x) {
  check(x.rank() >= 2, layer, "expects [.., T, dim], got shape ", x.shape());
}

}  // namespace

Tensor sinusoidal_table(std::int64_t length, std::int64_t dim, DType dtype) {
  Tensor table = empty({length, dim}, f64);
  double* row = table.mutable_data<double>();
  for (std::int64_t t = 0; t < length; ++t, row += dim)
    for (std::int64_t c = 0; c < dim; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(dim);
      const double angle = static_cast<double>(t) * std::pow(10000.0, -exponent);
      row[c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return cast(table, dtype);
}

Tensor SinusoidalPositions::forward(const Tensor& x) const {
  check_sequence("SinusoidalPositions", x);
  return x + sinusoidal_table(x.size(-2), x.size(-1), x.dtype());
}

std::string SinusoidalPositions::describe() const { return "SinusoidalPositions"; }

LearnedPositions::LearnedPositions(const LearnedPositionsOptions& o, Generator& rng)
    : weight(initialize(Init::normal, {o.max_length, o.dim}, rng, {.gain = o.stddev})) {}

Tensor LearnedPositions::forward(const Tensor& x) const {
  check_sequence("LearnedPositions", x);
  check(x.size(-2) <= weight.size(0), "LearnedPositions", "the sequence has ", x.size(-2),
        " positions, the table ", weight.size(0), "; truncate it or raise max_length");
  return x + slice(weight, 0, {.stop = x.size(-2)});
}

void LearnedPositions::visit(Visitor& v) { v("weight", weight); }

std::string LearnedPositions::describe() const {
  return concat("LearnedPositions(", weight.size(0), " × ", weight.size(1), ")");
}

}  // namespace ladon
