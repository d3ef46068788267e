#include "ladon/layers/attention/positional.h"

#include <cmath>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/unread.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/infinite/dual/quadrature.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/init.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {
namespace {

void check_sequences(const char* layer, const Tensor& x) {
  LADON_CHECK(x.rank() == 3, layer, "expects sequences [batch, T, dim], got shape ", x.shape(),
              x.rank() == 4   ? "; put FlattenPositions before it for images"
              : x.rank() == 2 ? "; give it a batch axis: unsqueeze(x, 0)"
                              : "");
}

void check_sequences(const char* layer, const infinite::KernelNode& k) {
  k.need_positions(layer);
  LADON_CHECK(k.positions.rank() == 1, layer,
              "expects inputs with one axis of positions (sequences), got positions ", k.positions,
              "; put FlattenPositions before it for images");
}

}  // namespace

Tensor sinusoidal_table(std::int64_t length, std::int64_t dim, DType dtype) {
  Tensor table = empty({length, dim}, f64);
  double* row = table.mutable_data<double>();
  for (std::int64_t t = 0; dim > 0 && t < length; ++t, row += dim)
    for (std::int64_t c = 0; c < dim; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(dim);
      const double angle = static_cast<double>(t) * std::pow(10000.0, -exponent);
      row[c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return cast(table, dtype);
}

Tensor SinusoidalPositions::forward(const Tensor& x) const {
  check_sequences("SinusoidalPositions", x);
  return x + sinusoidal_table(x.size(-2), x.size(-1), x.dtype());
}

namespace {

/// ∫₀¹ f(n·10000⁻ˢ) ds: Gauss–Legendre with 8 nodes on pieces of less than one period each.
template <class F>
double over_frequencies(std::int64_t n, const F& f) {
  static const auto rule = infinite::gauss_legendre(8);
  const double *nodes = rule.first.data<double>(), *weights = rule.second.data<double>();
  const auto pieces = static_cast<std::int64_t>(8 + static_cast<double>(n) * std::log(10000.0));
  double sum = 0;
  for (std::int64_t piece = 0; piece < pieces; ++piece)
    for (int i = 0; i < 8; ++i) {
      const double s =
          (static_cast<double>(piece) + (1 + nodes[i]) / 2) / static_cast<double>(pieces);
      sum += weights[i] / 2 * f(static_cast<double>(n) * std::pow(10000.0, -s));
    }
  return sum / static_cast<double>(pieces);
}

/// Means over infinitely many channels of the sinusoidal table: of products of two positions, [T,
/// T], and of each position, [T].
struct TableMeans {
  Tensor products, own;
};

TableMeans table_means(std::int64_t length) {
  std::vector<double> by_distance, own;  // sin a·sin b + cos a·cos b = cos(a − b)
  for (std::int64_t n = 0; n < length; ++n) {
    by_distance.push_back(over_frequencies(n, [](double x) { return std::cos(x) / 2; }));
    own.push_back(over_frequencies(n, [](double x) { return (std::sin(x) + std::cos(x)) / 2; }));
  }
  std::vector<double> products;
  for (std::int64_t a = 0; a < length; ++a)
    for (std::int64_t b = 0; b < length; ++b) products.push_back(by_distance[std::abs(a - b)]);
  return {from_vector(products, {length, length}), from_vector(own, {length})};
}

}  // namespace

infinite::KernelNode SinusoidalPositions::limit(const infinite::KernelNode& k) const {
  check_sequences("SinusoidalPositions", k);
  k.law.need_mean_zero("SinusoidalPositions");  // so that E[x·P] = 0
  const TableMeans means = table_means(std::max<std::int64_t>(0, k.position_count()));
  const Tensor own = unsqueeze(means.own, 0);  // [1, T]
  const auto formula = [] {
    return infinite::Formula{"$k_ab + mean over frequencies ω of cos(ω·(a − b)) / 2", "$t"};
  };
  const infinite::Step step{.makes = k.law.after_adding_fixed(),
                            .formula = formula,
                            .needs = infinite::Needs::wanted,
                            .means = [own](const std::vector<Tensor>&) { return own; }};
  return infinite::map_pairs(k, step, [products = means.products](const infinite::Pairs& p) {
    return infinite::PairKernels{p.nngp + p.of_positions(products), p.ntk};
  });
}

std::string SinusoidalPositions::describe() const { return "SinusoidalPositions"; }

LearnedPositions::LearnedPositions(const LearnedPositionsOptions& o, Generator& rng)
    : weight(initialize(Init::normal, {o.max_length, o.dim}, {.gain = o.stddev}, rng)),
      init_std(o.stddev) {}

void LearnedPositions::check_length(std::int64_t length) const {
  LADON_CHECK(length <= weight.size(0), "LearnedPositions", "the sequence has ", length,
              " positions, the table ", weight.size(0), "; truncate it or raise max_length");
}

Tensor LearnedPositions::forward(const Tensor& x) const {
  check_sequences("LearnedPositions", x);
  LADON_CHECK(x.size(-1) == weight.size(1), "LearnedPositions", "expects [batch, T, ",
              weight.size(1), "], got shape ", x.shape());
  detail::warn_of_precision("LearnedPositions", x, weight);
  check_length(x.size(-2));
  const Tensor y = x + slice(weight, 0, {.stop = x.size(-2)});
  ParameterUses::report(y, [missing = weight.size(0) - x.size(-2)](const Tensor& delta) {
    return pad(delta, {0, 0, 0}, {0, missing, 0});
  });
  return y;
}

infinite::KernelNode LearnedPositions::limit(const infinite::KernelNode& k) const {
  check_sequences("LearnedPositions", k);
  k.law.need_channels("LearnedPositions", weight.size(1));
  check_length(k.position_count());
  const double variance = init_std * init_std;
  const auto formula = [variance] {
    return infinite::Formula{detail::join("$k_ab + ", variance, "·1{a = b}"), "$t_ab + 1{a = b}"};
  };
  const infinite::Step step{.makes = k.law, .formula = formula, .needs = infinite::Needs::wanted};
  return infinite::map_pairs(k, step, [variance](const infinite::Pairs& pairs) {
    const Tensor same = pairs.of_positions(eye(pairs.nngp.size(-1), f64));
    infinite::PairKernels y{pairs.nngp + variance * same, {}};
    if (pairs.ntk.defined()) y.ntk = pairs.ntk + same;
    return y;
  });
}

void LearnedPositions::visit(Visitor& v) { v("weight", weight); }

std::string LearnedPositions::describe() const {
  return detail::join("LearnedPositions(", weight.size(0), " × ", weight.size(1), ")");
}

// --- correlated positions ---

namespace {

/// Squared distances |a − b|² between the n positions of a grid in row-major order, [n, n].
Tensor squared_distances(const Shape& grid) {
  const std::int64_t n = grid.count(), columns = grid[grid.rank() - 1];
  Tensor distances = empty({n, n}, f64);
  double* out = distances.mutable_data<double>();
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) {
      const double rows = static_cast<double>(a / columns - b / columns);
      const double along = static_cast<double>(a % columns - b % columns);
      out[a * n + b] = rows * rows + along * along;
    }
  return distances;
}

Tensor correlation_of(const RandomPositionsOptions& o) {
  if (!o.correlation) return eye(o.grid.count(), f64);
  Tensor r = squared_distances(o.grid);
  double* element = r.mutable_data<double>();
  for (std::int64_t i = 0; i < r.count(); ++i) element[i] = o.correlation(element[i]);
  return r;
}

/// The symmetric square root V·sqrt(Λ)·Vᵀ; eigenvalues made negative by rounding count as 0.
Tensor square_root(const Tensor& r) {
  const auto [values, vectors] = lapack::eigh(r);
  const double least = numbers_of("RandomPositions", values).front(),
               trace = number_of("RandomPositions", sum(diagonal(r)));
  LADON_CHECK(
      least >= -1e-10 * std::abs(trace), "RandomPositions",
      "the correlation of positions is not positive semi-definite: its smallest eigenvalue is ",
      least, "; use a positive definite function of the distance, such as exp(−decay·|a − b|²)");
  return matmul(vectors * sqrt(clamp(values, 0, INFINITY)), transpose(vectors));
}

}  // namespace

std::function<double(double)> decaying_correlation(double decay) {
  detail::check_size("decaying_correlation", "decay", decay);
  return [decay](double squared_distance) { return std::exp(-decay * squared_distance); };
}

RandomPositions::RandomPositions(const RandomPositionsOptions& o, Generator& rng)
    : stddev(scalar(o.stddev, f64)), grid(o.grid), in(o.in), merge(o.merge) {
  LADON_CHECK(
      (grid.rank() == 1 || grid.rank() == 2) && detail::checked_count("RandomPositions", grid) > 0,
      "RandomPositions", "the grid must be {T} or {H, W}, got ", grid);
  const std::int64_t width = merge == PositionMerge::sum ? in : o.channels;
  LADON_CHECK(in > 0 && width > 0, "RandomPositions", "widths must be positive, got in = ", in,
              ", channels = ", o.channels);
  if (merge == PositionMerge::sum)
    detail::check_unread("RandomPositions", "channels", o.channels, 0,
                         "encodings that are added have the width of the tokens; set merge to "
                         "PositionMerge::concat");
  detail::check_size("RandomPositions", "stddev", o.stddev);
  correlation = correlation_of(o);
  factor = o.correlation ? square_root(correlation) : correlation;
  weight = initialize(Init::normal, {grid.count(), width}, rng);
}

/// Sizes of −1 are not known yet (KernelNode::positions), and count as fitting.
void RandomPositions::check_fits(const Shape& positions) const {
  const bool sequence = positions.rank() == 1;
  bool fits = sequence || positions.rank() == grid.rank();
  if (sequence)
    fits = positions[0] < 0 ||
           (grid.rank() == 1 ? positions[0] <= grid[0] : positions[0] == grid.count());
  for (int axis = 0; fits && !sequence && axis < grid.rank(); ++axis)
    fits = positions[axis] < 0 || positions[axis] == grid[axis];
  LADON_CHECK(fits, "RandomPositions",
              "a grid {T} takes sequences of at most T positions, {H, W} images of that size or "
              "sequences of H·W positions; inputs of positions ",
              positions, " do not fit the grid ", grid,
              grid.rank() < positions.rank() ? "; put FlattenPositions before it" : "");
}

Tensor RandomPositions::forward(const Tensor& x) const {
  detail::warn_of_precision("RandomPositions", x, weight);
  LADON_CHECK((x.rank() == 3 || x.rank() == 4) && x.size(-1) == in, "RandomPositions",
              "expects [batch, T, ", in, "] or [batch, H, W, ", in, "], got shape ", x.shape());
  check_fits(x.shape().sub(1, x.rank() - 1));
  const std::int64_t length = x.shape().sub(1, x.rank() - 1).count();
  // T tokens, n grid positions, c channels:  [T, n] · [n, c] → [T, c]
  const Tensor map = cast(slice(factor, 0, {.stop = length}) * stddev, weight.dtype());
  const Tensor p = matmul(map, weight);
  Shape shape = x.shape();
  shape[x.rank() - 1] = p.size(1);
  const Tensor spread = expand(reshape(p, shape.sub(1, x.rank())), shape);
  const Tensor y = merge == PositionMerge::sum ? x + spread : concat({x, spread}, -1);
  ParameterUses::report(
      y, [map = map.detach(), own = p.size(1)](const Tensor& delta) {  // [n, T] · [batch, T, c]
        const Tensor flat = reshape(delta, {delta.size(0), map.size(0), delta.size(-1)});
        const Tensor mine = slice(flat, 2, {.start = flat.size(2) - own});
        return matmul(transpose(map), mine);
      });
  return y;
}

double RandomPositions::token_share() const {
  const double width = static_cast<double>(in), own = static_cast<double>(weight.size(1));
  return merge == PositionMerge::sum ? 1 : width / (width + own);
}

infinite::KernelNode RandomPositions::limit(const infinite::KernelNode& k) const {
  k.law.need_channels("RandomPositions", in);
  infinite::Law makes = merge == PositionMerge::concat ? k.law.after_mixing() : k.law;
  if (merge == PositionMerge::concat && makes.channels > 0) makes.channels += weight.size(1);
  k.need_positions("RandomPositions");
  check_fits(k.positions);
  const double share = token_share();
  const double position_share = merge == PositionMerge::sum ? 1 : 1 - share;
  const auto formula = [=, this] {
    const auto with = [&](const char* kernel) {
      return detail::join(
          infinite::times(share, kernel), "_ab + ",
          infinite::times(position_share * number_of("RandomPositions", square(stddev).detach()),
                          "R_ab"));
    };
    return infinite::Formula{with("$k"), with("$t")};
  };
  // The self-kernels are not cached (Step::kept): a sum of two tables is cheap to recompute.
  infinite::Step step{
      .makes = makes, .formula = formula, .needs = infinite::Needs::wanted, .kept = false};
  if (k.has_means && makes.knows_means())
    step.means = [share](const std::vector<Tensor>& means) { return share * means[0]; };
  return infinite::map_pairs(k, step, [=, this](const infinite::Pairs& pairs) {
    const Slice used{.stop = pairs.nngp.size(-1)};
    const Tensor r = pairs.of_positions(position_share * square(stddev) *
                                        slice(slice(correlation, 0, used), 1, used));
    return pairs.each([&](const Tensor& block) { return share * block + r; });
  });
}

void RandomPositions::visit(Visitor& v) {
  v("weight", weight);
  v.hyperparameter("stddev", stddev);
}

std::string RandomPositions::describe() const {
  return detail::join("RandomPositions(", grid,
                      merge == PositionMerge::sum ? ", sum)" : ", concat)");
}

}  // namespace ladon
