#include "ladon/optim/extra/optimizers/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"
#include "ladon/optim/parameters.h"

namespace ladon {
namespace {

double inner(const Tensor& a, const Tensor& b) { return number_of("lbfgs", sum(a * b)); }
double largest(const Tensor& x) { return x.count() > 0 ? number_of("lbfgs", amax(abs(x))) : 0; }

}  // namespace

Lbfgs::Lbfgs(ParameterSet parameters, LbfgsOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  detail::check_parameters(parameters_);
  count_ = parameters_.count();
  LADON_CHECK(std::isfinite(options.lr) && options.lr > 0, "lbfgs", "lr is ", options.lr,
              "; it must be finite and positive");
  LADON_CHECK(options.iterations >= 1 && options.history >= 1, "lbfgs",
              "iterations and history are ", options.iterations, " and ", options.history,
              "; they must be at least 1");
  LADON_CHECK(options.gradient_tolerance >= 0 && options.change_tolerance >= 0, "lbfgs",
              "the tolerances are ", options.gradient_tolerance, " and ", options.change_tolerance,
              "; they must be at least 0");
  detail::check_wolfe(options.wolfe);
  if (options.line_search) return;
  constexpr auto why = "line_search is false; set it to true";
  const WolfeOptions &wolfe = options.wolfe, usual{};
  detail::check_unread("lbfgs", "wolfe.decrease", wolfe.decrease, usual.decrease, why);
  detail::check_unread("lbfgs", "wolfe.curvature", wolfe.curvature, usual.curvature, why);
  detail::check_unread("lbfgs", "wolfe.evaluations", wolfe.evaluations, usual.evaluations, why);
}

double Lbfgs::step(const std::function<Tensor()>& loss) {
  LADON_CHECK(static_cast<bool>(loss), "lbfgs",
              "the loss is an empty function; pass one that returns the loss");
  parameters_.check_own_values("lbfgs");
  const NoGrad no_grad;
  const State before = state_;
  const Tensor start = parameters_.to_row();
  try {
    return run(loss);
  } catch (...) {
    state_ = before;
    parameters_.assign_row(start);
    throw;
  }
}

double Lbfgs::run(const std::function<Tensor()>& loss) {
  LinePoint now = evaluate(loss);
  LADON_CHECK(std::isfinite(now.value) && std::isfinite(inner(now.gradient, now.gradient)), "lbfgs",
              "at the start of a step the loss is ", now.value,
              "; it and its gradient must be finite");
  for (std::int64_t i = 0; i < options_.iterations; ++i) {
    const Tensor g = now.gradient, x = parameters_.to_row();
    if (largest(g) <= options_.gradient_tolerance) break;
    const Tensor d = direction(g);
    const double slope = inner(g, d), length = number_of("lbfgs", sum(abs(g)));
    if (!(slope < 0) || !std::isfinite(slope)) break;  // because of rounding, d does not descend
    const double first = options_.lr * (state_.pairs.empty() ? std::min(1.0, 1 / length) : 1);
    const LineFunction phi = [&](double t) {
      parameters_.assign_row(x + t * d);
      LinePoint p = evaluate(loss);
      return LinePoint{t, p.value, inner(p.gradient, d), p.gradient};
    };
    const LinePoint start{0, now.value, slope, g};
    LinePoint next =
        options_.line_search ? strong_wolfe(phi, start, first, options_.wolfe) : phi(first);
    parameters_.assign_row(x + next.t * d);
    if (next.t == 0) break;                     // no step length decreases the loss
    const Tensor s = parameters_.to_row() - x;  // the step after rounding to the parameters' dtypes
    ++state_.iterations;
    remember(s, next.gradient - g);
    const double change = std::abs(next.value - now.value);
    now = std::move(next);
    if (std::max(largest(s), change) <= options_.change_tolerance || !std::isfinite(now.value))
      break;
  }
  return now.value;
}

LinePoint Lbfgs::evaluate(const std::function<Tensor()>& loss) const {
  const EnableGrad enable_grad;
  const Tensor value = loss();
  LADON_CHECK(value.defined() && value.count() == 1, "lbfgs",
              "the loss must have one element, got ", detail::shape_in_words(value));
  return {0, number_of("lbfgs", value.detach()), 0,
          detail::gradient_row("lbfgs", value, parameters_)};
}

// −H·g, with the inverse Hessian H of lbfgs.h, by a two-loop recursion (Nocedal and Wright,
// algorithm 7.4), which does not form H.
Tensor Lbfgs::direction(const Tensor& gradient) const {
  Tensor q = -gradient;
  std::vector<double> along(state_.pairs.size());
  for (std::size_t i = state_.pairs.size(); i-- > 0;) {
    const auto& [s, y] = state_.pairs[i];
    along[i] = inner(s, q) / inner(s, y);
    q = q - along[i] * y;
  }
  if (!state_.pairs.empty()) {
    const auto& [s, y] = state_.pairs.back();
    q = inner(s, y) / inner(y, y) * q;
  }
  for (std::size_t i = 0; i < state_.pairs.size(); ++i) {
    const auto& [s, y] = state_.pairs[i];
    q = q + (along[i] - inner(y, q) / inner(s, y)) * s;
  }
  return q;
}

void Lbfgs::remember(const Tensor& s, const Tensor& y) {
  constexpr double rounding = 2.2e-16;
  if (!(inner(s, y) > rounding * inner(y, y))) return;
  if (static_cast<std::int64_t>(state_.pairs.size()) == options_.history)
    state_.pairs.erase(state_.pairs.begin());
  state_.pairs.push_back({s, y});
}

namespace {

/// Shape [pairs, parameter shape..].
Shape of_pairs(std::int64_t pairs, const Tensor& parameter) {
  Shape shape{pairs};
  for (const std::int64_t size : parameter.shape()) shape.append(size);
  return shape;
}

}  // namespace

StateDict Lbfgs::state_dict() const {
  const NoGrad off;
  const std::vector<std::string> names = detail::state_names("state_dict", parameters_);
  const auto pairs = static_cast<std::int64_t>(state_.pairs.size());
  StateDict state{{"iterations", detail::state_of(state_.iterations)},
                  {"pairs", detail::state_of(pairs)}};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tensor& x = parameters_[i].second;
    const Slice mine{.start = at, .stop = at + x.count()};
    std::vector<Tensor> steps{zeros({0, x.count()}, f64)}, changes = steps;
    for (const Pair& pair : state_.pairs) {
      steps.push_back(unsqueeze(slice(pair.s, 0, mine), 0));
      changes.push_back(unsqueeze(slice(pair.y, 0, mine), 0));
    }
    state["steps." + names[i]] = reshape(concat(steps, 0), of_pairs(pairs, x));
    state["changes." + names[i]] = reshape(concat(changes, 0), of_pairs(pairs, x));
    at += x.count();
  }
  return state;
}

void Lbfgs::load_state_dict(const StateDict& state) {
  const NoGrad off;
  detail::StateReader reader(state);
  State read{reader.count("iterations"), {}};
  const std::int64_t pairs = reader.count("pairs");
  LADON_CHECK(pairs <= options_.history, "load_state_dict", "the state has ", pairs,
              " pairs, but must have at most as many as the option `history`, ", options_.history);
  const std::vector<std::string> names = detail::state_names("load_state_dict", parameters_);
  detail::check_same_parameters(names, detail::names_in(state, "steps."));
  std::vector<Tensor> steps, changes;  // each [pairs, x.count()]
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tensor& x = parameters_[i].second;
    const auto rows = [&](const std::string& name) {
      const Tensor& entry = reader.entry(name, f64, of_pairs(pairs, x));
      reader.refuse_nan(name);
      return reshape(entry.detach(), {pairs, x.count()});
    };
    steps.push_back(rows("steps." + names[i]));
    changes.push_back(rows("changes." + names[i]));
  }
  reader.finish("this optimizer");
  const Tensor s = concat(steps, 1), y = concat(changes, 1);
  for (std::int64_t i = 0; i < pairs; ++i)
    read.pairs.push_back({contiguous(select(s, 0, i)), contiguous(select(y, 0, i))});
  state_ = std::move(read);
}

}  // namespace ladon
