#include "ladon/optim/extra/samplers/nuts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/lane_sum.h"
#include "ladon/optim/samplers/run.h"

namespace ladon {
namespace {

using namespace samplers;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Point of phase space of one chain: one row of a Phase.
struct Point {
  std::vector<double> position, momentum, gradient;
  double value = 0;  ///< ln p
};

/// ln(e^a + e^b)
double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == -infinity ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

/// Whether the path from `first` to `last` makes a U-turn at one of its ends; `way` is 1 if it was
/// integrated forward in time, −1 if backward.
bool turns(const Point& first, const Point& last, int way) {
  const auto along = [&](const Point& end) {
    return way * kernels::lane_sum(std::int64_t(end.momentum.size()), [&](std::int64_t i) {
             return (last.position[i] - first.position[i]) * end.momentum[i];
           });
  };
  return !(along(first) > 0 && along(last) > 0);
}

/// Whether a path of two halves, a … b and c … d, makes a U-turn: checks a … d, a … c and b … d.
bool turns(const Point& a, const Point& b, const Point& c, const Point& d, int way) {
  return turns(a, d, way) || turns(a, c, way) || turns(b, d, way);
}

/// Trajectory of one chain, grown point by point. A doubling adds 2^depth points at one end, the
/// leaves of a binary tree; each subtree is checked for a U-turn as soon as its last leaf has been
/// added. Subtrees begin at leaves with an even number m; leaf m is stored in slot popcount(m),
/// which no other leaf uses while a subtree that begins with leaf m is incomplete.
class Trajectory {
 public:
  Trajectory(Point start, double energy, int max_depth, Generator& rng)
      : start_energy_(energy),
        max_depth_(max_depth),
        rng_(rng),
        ends_{start, start},
        chosen_(std::move(start)),
        slots_(max_depth) {
    begin_doubling();
  }

  /// Start of the next leapfrog step, and its direction in time (1 or −1).
  const Point& edge() const { return edge_; }
  int way() const { return way_; }
  const Point& chosen() const { return chosen_; }
  double acceptance() const { return acceptance_ / double(steps_); }
  bool diverged() const { return diverged_; }

  /// Adds the point that the leapfrog step reached; returns whether the trajectory continues.
  bool grow(Point leaf, double energy) {
    const double weight = std::isfinite(energy) ? start_energy_ - energy : -infinity;
    ++steps_;
    acceptance_ += std::exp(std::min(0.0, weight));
    diverged_ = !(weight >= -energy_bound);
    if (diverged_) return false;
    new_weight_ = log_add(new_weight_, weight);
    if (rng_.uniform() < std::exp(weight - new_weight_)) candidate_ = leaf;
    if (leaves_ % 2 == 0) slots_[std::popcount(leaves_)] = {leaf, edge_};
    edge_ = std::move(leaf);
    if (leaves_ % 2 == 1 && some_subtree_turns()) return false;
    return ++leaves_ < std::uint64_t{1} << depth_ || end_doubling();
  }

 private:
  void begin_doubling() {
    way_ = rng_.uniform() < 0.5 ? -1 : 1;
    edge_ = ends_[way_ > 0];
    leaves_ = 0;
    new_weight_ = -infinity;
  }

  /// Whether a subtree of 2, 4, … leaves that ends with the newest leaf, whose number is odd, makes
  /// a U-turn.
  bool some_subtree_turns() const {
    for (std::uint64_t size = 2; leaves_ % size == size - 1; size *= 2) {
      const std::uint64_t first = leaves_ - (size - 1);
      const Slot& begin = slots_[std::popcount(first)];
      if (size == 2) {
        if (turns(begin.leaf, edge_, way_)) return true;
        continue;
      }
      const Slot& middle = slots_[std::popcount(first) + 1];
      if (turns(begin.leaf, middle.before, middle.leaf, edge_, way_)) return true;
    }
    return false;
  }

  bool end_doubling() {
    if (rng_.uniform() < std::exp(new_weight_ - weight_)) chosen_ = candidate_;
    weight_ = log_add(weight_, new_weight_);
    Point &near = ends_[way_ > 0], &far = ends_[way_ < 0];
    const bool turned = turns(far, near, slots_[0].leaf, edge_, way_);
    near = edge_;
    if (turned || ++depth_ == max_depth_) return false;
    begin_doubling();
    return true;
  }

  struct Slot {
    Point leaf, before;
  };
  double start_energy_;
  int max_depth_, depth_ = 0, way_ = 1;
  Generator& rng_;
  Point ends_[2];  ///< The earliest and the latest point.
  Point edge_, chosen_, candidate_;
  std::vector<Slot> slots_;
  std::uint64_t leaves_ = 0;  ///< Number of points that the current doubling has added so far.
  /// ln Σ e^(H_start − H) over points of energy H: over the points of earlier doublings (weight_),
  /// and over the points that the current doubling has added (new_weight_).
  double weight_ = 0, new_weight_ = 0;
  double acceptance_ = 0;
  std::int64_t steps_ = 0;
  bool diverged_ = false;
};

void read(const Tensor& rows, std::int64_t r, std::vector<double>& x) {
  const std::int64_t dim = rows.size(1);
  const double* row = rows.data<double>() + r * dim;
  x.assign(row, row + dim);
}
Point point(const Phase& at, std::int64_t r) {
  Point p;
  read(at.position, r, p.position);
  read(at.momentum, r, p.momentum);
  read(at.score.gradient, r, p.gradient);
  p.value = at.score.value.data<double>()[r];
  return p;
}
Phase phase(const std::vector<const Point*>& points) {
  const auto rows = static_cast<std::int64_t>(points.size());
  const auto dim = static_cast<std::int64_t>(points[0]->position.size());
  Phase at{empty({rows, dim}, f64),
           empty({rows, dim}, f64),
           {empty({rows}, f64), empty({rows, dim}, f64)}};
  double *position = at.position.mutable_data<double>(),
         *momentum = at.momentum.mutable_data<double>(),
         *gradient = at.score.gradient.mutable_data<double>(),
         *value = at.score.value.mutable_data<double>();
  for (const Point* p : points) {
    position = std::copy(p->position.begin(), p->position.end(), position);
    momentum = std::copy(p->momentum.begin(), p->momentum.end(), momentum);
    gradient = std::copy(p->gradient.begin(), p->gradient.end(), gradient);
    *value++ = p->value;
  }
  return at;
}

Moved nuts_move(const LogDensity& density, Phase& at, const Tuning& tuning, int max_depth,
                RandomStreams& streams) {
  at.momentum = momenta(streams.rows, tuning.inverse_mass);
  const std::vector<double> energies = numbers_of("nuts", energy(at, tuning.inverse_mass));
  std::vector<Trajectory> all;
  for (std::size_t c = 0; c < energies.size(); ++c)
    all.emplace_back(point(at, std::int64_t(c)), energies[c], max_depth, streams.rows[c]);
  std::vector<Trajectory*> growing;
  for (Trajectory& one : all) growing.push_back(&one);
  while (!growing.empty()) {
    std::vector<const Point*> edges;
    std::vector<double> steps;
    for (const Trajectory* one : growing) {
      edges.push_back(&one->edge());
      steps.push_back(one->way() * number_of("nuts", tuning.step));
    }
    const Tensor step = from_vector(steps, {std::int64_t(steps.size()), 1});
    const Phase next = leapfrog(density, phase(edges), {step, tuning.inverse_mass});
    const Tensor reached = energy(next, tuning.inverse_mass);
    std::vector<Trajectory*> left;
    for (std::size_t r = 0; r < growing.size(); ++r)
      if (growing[r]->grow(point(next, std::int64_t(r)), reached.data<double>()[r]))
        left.push_back(growing[r]);
    growing = std::move(left);
  }
  Moved moved;
  std::vector<const Point*> chosen;
  for (const Trajectory& one : all) {
    chosen.push_back(&one.chosen());
    moved.acceptance.push_back(one.acceptance());
    moved.diverged.push_back(one.diverged());
  }
  at = phase(chosen);
  return moved;
}

}  // namespace

Chains nuts(const LogDensity& density, const Tensor& start, const NutsOptions& options,
            Generator& rng) {
  LADON_CHECK(options.max_depth >= 1 && options.max_depth <= 24, "nuts", "max_depth is ",
              options.max_depth, "; it must be from 1 to 24");
  const TransitionKernel kernel = [&](const LogDensity& scored, Phase& at, const Tuning& tuning,
                                      RandomStreams& streams, bool) {
    return nuts_move(scored, at, tuning, options.max_depth, streams);
  };
  return sample_chains(density, start, chain_options("nuts", options), kernel, rng);
}

}  // namespace ladon
