// A is the Gram matrix plus noise and jitter, L its Cholesky factor, A = L·Lᵀ, and U = Lᵀ.

#include "ladon/optim/extra/posterior/stored_factor.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/io/parts.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/held.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/background.h"
#include "ladon/core/machine/machine.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "store_factor";
constexpr const char* title = "Ladon stored Cholesky factor 1";
// Number of tiles in memory in addition to the held column: the result, the kernel's tile, two
// operands, and two tiles read ahead.
constexpr double tiles_at_work = 6;

/// C ← C − Aᵀ·B.
void subtract(Tensor& c, const Tensor& a, const Tensor& b) {
  blas::gemm<double>(c.size(0), c.size(1), a.size(0), -1,
                     {a.data<double>(), 1, a.size(1)},  // transposed
                     {b.data<double>(), b.size(1), 1}, 1, {c.mutable_data<double>(), c.size(1), 1});
}

std::string exact_text(double x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

}  // namespace

// The folder contains U = Lᵀ in tiles (i, j), i ≤ j, of shape [rows(i), rows(j)], row after row, so
// that both passes of a solve read tiles in the order in which they are stored. Diagonal tiles are
// stored as L.
struct StoredFactor::State {
  State(const infinite::StoredGram& gram, const std::string& folder)
      : parts(operation, title, folder), kind(gram.kind()), precision(gram.dtype()) {
    for (std::int64_t i = 0; i <= gram.across(); ++i) first.push_back(gram.first(i));
  }

  std::int64_t n() const { return first.back(); }
  std::int64_t across() const { return static_cast<std::int64_t>(first.size()) - 1; }
  std::int64_t start(std::int64_t i) const { return first[i]; }
  std::int64_t rows(std::int64_t i) const { return start(i + 1) - start(i); }
  std::int64_t index(std::int64_t i, std::int64_t j) const {
    return i * across() - i * (i - 1) / 2 + j - i;
  }
  std::uint64_t payload(std::int64_t i, std::int64_t j) const {
    return 8 * static_cast<std::uint64_t>(rows(i) * rows(j));
  }

  /// Tile (i, j), or an undefined tensor if the tile is missing or damaged.
  Tensor read(std::int64_t i, std::int64_t j) const {
    Tensor tile;
    const bool whole = parts.read(index(i, j), payload(i, j), [&](detail::PartReader& from) {
      tile = empty({rows(i), rows(j)}, f64);
      from.read(tile.strided_bytes(), payload(i, j));
    });
    return whole ? tile : Tensor();
  }
  Tensor fetch(std::int64_t i, std::int64_t j) const {
    const Tensor tile = read(i, j);
    LADON_CHECK(tile.defined(), "StoredFactor", parts.path_of(index(i, j)),
                " is missing or was damaged since it was stored; call store_factor() again, which "
                "recomputes it");
    return tile;
  }
  void write(std::int64_t i, std::int64_t j, const Tensor& tile) const {
    parts.write(index(i, j), payload(i, j),
                [&](detail::PartWriter& to) { to.write(tile.strided_bytes(), payload(i, j)); });
  }

  std::vector<std::int64_t> first;  // first input of each tile row; the last entry is N
  detail::PartFolder parts;
  infinite::Get kind;
  DType precision;
  Tensor variances;
  double log_determinant = 0;
};

namespace {

/// Computes the factor's tiles, one row i of U after another.
template <class State>
class Factorization {
 public:
  Factorization(State& state, const infinite::StoredGram& gram, double ridge,
                const StoredFactorOptions& options)
      : state_(state), gram_(gram), ridge_(ridge), progress_(options.progress) {
    const auto budget =
        static_cast<double>(options.memory_budget > 0 ? options.memory_budget : free_memory());
    const double tile = static_cast<double>(state.payload(0, 0));
    LADON_CHECK(tiles_at_work * tile <= budget, operation, "needs ", tiles_at_work * tile / 1e6,
                " MB for six tiles of ", state.rows(0), " × ", state.rows(0),
                " inputs, but the budget is ", budget / 1e6,
                " MB; store the kernel in smaller tiles");
    held_ = static_cast<std::int64_t>(std::min(budget / tile - tiles_at_work, 1e9));
  }

  void run() {
    tell();
    for (std::int64_t i = 0; i < state_.across(); ++i) {
      column_.assign(i, Tensor());
      Tensor l;
      for (std::int64_t j = i; j < state_.across(); ++j) {
        Tensor tile = state_.read(i, j);
        if (!tile.defined()) {
          tile = schur(i, j);
          tile = i == j ? factor(tile, i) : lapack::solve_triangular(l, tile);
          state_.write(i, j, tile);
        }
        if (i == j) {
          l = tile;
          state_.log_determinant += 2 * number_of("store_factor", sum(log(diagonal(l))));
        }
        ++done_;
        work_ += static_cast<double>(i) + 0.5;
        tell();
      }
    }
  }

 private:
  /// Schur complement of tile (i, j) of A = Uᵀ·U given the rows k < i of tiles of U:
  ///   A_ij − Σ_k U_kiᵀ·U_kj.
  Tensor schur(std::int64_t i, std::int64_t j) {
    Tensor rest = clone(gram_.tile(i, j));
    if (i == j) {
      double* values = rest.mutable_data<double>();
      for (std::int64_t r = 0; r < rest.size(0); ++r) values[r * (rest.size(0) + 1)] += ridge_;
    }
    struct Pair {
      Tensor left, right;
    };
    const auto read = [&](std::int64_t k) {
      const Tensor& kept = column_[k];
      const Tensor left = kept.defined() ? kept : state_.fetch(k, i);
      return Pair{left, i == j ? left : state_.fetch(k, j)};
    };
    parallel::one_ahead(i, read, [&](std::int64_t k, const Pair& pair) {
      subtract(rest, pair.left, pair.right);
      // no data race: the task that reads the tiles of k + 1 ahead does not access column_[k]
      if (k < held_) column_[k] = pair.left;
    });
    return rest;
  }

  Tensor factor(const Tensor& rest, std::int64_t i) const {
    try {
      return lapack::cholesky(rest);
    } catch (const lapack::NotPositiveDefinite& e) {
      throw lapack::NotPositiveDefinite(
          detail::join(operation, ": the kernel, with ", ridge_,
                       " added to its diagonal, is not positive definite: the covariance of rows ",
                       state_.start(i), " to ", state_.start(i + 1),
                       ", given all rows before them, has the eigenvalue ", e.smallest_eigenvalue,
                       "; add at least ", e.jitter, " to the noise (later rows may need more)"),
          e.smallest_eigenvalue, e.jitter);
    }
  }

  void tell() const {
    if (!progress_) return;
    const std::int64_t across = state_.across();
    double all = 0;
    for (std::int64_t i = 0; i < across; ++i)
      all += (static_cast<double>(i) + 0.5) * static_cast<double>(across - i);
    progress_({across * (across + 1) / 2, done_, work_ / all});
  }

  State& state_;
  const infinite::StoredGram& gram_;
  double ridge_;
  const std::function<void(const StoredFactorProgress&)>& progress_;
  std::int64_t held_ = 0, done_ = 0;
  double work_ = 0;
  std::vector<Tensor> column_;  // tiles U_ki, k < i, of column i; undefined for k ≥ held_
};

}  // namespace

StoredFactor::StoredFactor(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoredFactor::StoredFactor(StoredFactor&&) noexcept = default;
StoredFactor& StoredFactor::operator=(StoredFactor&&) noexcept = default;
StoredFactor::~StoredFactor() = default;
StoredFactor::State& StoredFactor::state() const { return detail::held("StoredFactor", state_); }

std::int64_t StoredFactor::size() const { return state().n(); }
double StoredFactor::log_determinant() const { return state().log_determinant; }
Tensor StoredFactor::variances() const { return state().variances; }
std::optional<infinite::Get> StoredFactor::kind() const { return state().kind; }
DType StoredFactor::precision() const { return state().precision; }

LinearSolution StoredFactor::solve(const Tensor& b) const { return {passes(b, true)}; }
Tensor StoredFactor::half_solve(const Tensor& b) const { return passes(b, false); }

Tensor StoredFactor::passes(const Tensor& b, bool both) const {
  const NoGrad off;
  LADON_CHECK(b.defined() && is_floating(b.dtype()) && b.rank() == 2 && b.size(0) == size(),
              "StoredFactor::solve", "the right-hand sides must be floating-point, [", size(),
              ", k], one row per input; got ", detail::kind_in_words(b));
  const State& u = state();
  Tensor x = clone(cast(b.detach(), f64));
  const std::int64_t k = x.size(1);
  const auto part = [&](std::int64_t i) {
    return slice(x, 0, {.start = u.start(i), .stop = u.start(i + 1)});
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (std::int64_t i = 0; i < u.across(); ++i)
    for (std::int64_t j = i; j < u.across(); ++j) order.emplace_back(i, j);
  const auto read = [&](std::int64_t at) {
    const auto [i, j] = order[at];
    return u.fetch(i, j);
  };
  // x_to ← x_to − a·x_from, where `a` is a tile of U or its transpose, and x_to and x_from are the
  // rows of x in the tile rows `to` and `from`
  const auto subtract = [&](blas::Matrix<const double> a, std::int64_t to, std::int64_t from) {
    double* values = x.mutable_data<double>();
    blas::gemm<double>(u.rows(to), k, u.rows(from), -1, a, {values + u.start(from) * k, k, 1}, 1,
                       {values + u.start(to) * k, k, 1});
  };
  // solves L·x = b in the forward pass, Lᵀ·x = b in the backward pass
  const auto pass = [&](bool backwards) {
    parallel::one_ahead(std::ssize(order), read, [&](std::int64_t at, const Tensor& tile) {
      const auto [i, j] = order[at];
      const blas::Matrix<const double> a{tile.data<double>(), tile.size(1), 1};
      if (i == j)
        copy_(part(i), lapack::solve_triangular(tile, part(i), backwards));
      else if (backwards)
        subtract(a, i, j);
      else
        subtract(a.transposed(), j, i);
    });
  };
  pass(false);
  if (!both) return x;
  std::reverse(order.begin(), order.end());
  pass(true);
  return x;
}

StoredFactor store_factor(const infinite::StoredGram& gram, const std::string& folder,
                          const GpOptions& options, const StoredFactorOptions& storing) {
  const NoGrad off;
  const Tensor diagonal = gram.diagonal();
  const double ridge =
      kernel_blocks::ridge_of(operation, diagonal, options.noise, options.jitter).total();
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < gram.across(); ++i)
    bytes += 8 * static_cast<std::uint64_t>((gram.first(i + 1) - gram.first(i)) *
                                            (gram.size() - gram.first(i)));
  detail::PartFolder::check_room(operation, folder, bytes);
  auto state = std::make_unique<StoredFactor::State>(gram, folder);
  state->variances = diagonal + ridge;
  state->parts.begin({{{"kernel", detail::join(gram.identity())},
                       {"inputs", detail::join(gram.size())},
                       {"tile", detail::join(gram.first(1))},
                       {"added to the diagonal", exact_text(ridge)}}});
  // With several ranks, the first rank computes the factor alone; distribute_factor() divides the
  // work.
  state->log_determinant = std::stod(ranks::from_first([&] {
    Factorization(*state, gram, ridge, storing).run();
    return exact_text(state->log_determinant);
  }));
  return StoredFactor(std::move(state));
}

}  // namespace ladon
