#include "ladon/optim/extra/posterior/conjugate_gradients.h"

#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "conjugate_gradients";

/// aᵀb for each pair of columns a, b:  [N, k], [N, k] → [k].
Tensor dots(const Tensor& a, const Tensor& b) { return sum(a * b, 0); }

class Iteration {
 public:
  Iteration(const LinearMap& multiply, const Tensor& b, const CgOptions& options)
      : multiply_(multiply), options_(options), b_(b), x_(zeros(b.shape(), f64)), r_(b) {
    norms_ = sqrt(dots(b, b));
  }

  CgResult run() {
    for (double before = 0;;) {
      descend();
      if (iterations_ > 0) r_ = b_ - product(x_);
      const double reached = number_of("conjugate_gradients", amax(relative()));
      LADON_CHECK(
          std::isfinite(reached), operation, "the residual is ", reached, " after ", iterations_,
          " iterations; elements of the matrix and the right-hand sides must be of moderate size");
      const bool stands_still = before > 0 && reached > before / 2;
      if (reached <= options_.tolerance || iterations_ >= options_.max_iterations || stands_still)
        return {x_, r_, relative(), iterations_};
      before = reached;
    }
  }

 private:
  Tensor relative() const { return where(equal(norms_, 0), 0, sqrt(dots(r_, r_)) / norms_); }

  Tensor applied(const LinearMap& map, const char* what, const Tensor& x) const {
    const Tensor y = map(x).detach();
    LADON_CHECK(y.defined() && y.shape() == x.shape() && is_floating(y.dtype()), operation, what,
                " for ", x.shape(), " is ", detail::kind_in_words(y),
                "; it must be f32 or f64, and must have the same shape");
    return cast(y, f64);
  }
  Tensor product(const Tensor& x) const { return applied(multiply_, "the product", x); }
  Tensor preconditioned(const Tensor& r) const {
    return options_.preconditioner
               ? applied(options_.preconditioner, "the preconditioner's result", r)
               : r;
  }

  /// Throws Error unless squares[c], a squared norm, is positive and finite for each active column
  /// c.
  void check_positive(const Tensor& squares, const Tensor& active, const char* of,
                      const char* what) const {
    const auto values = numbers_of("conjugate_gradients", squares),
               goes_on = numbers_of("conjugate_gradients", active);
    for (std::size_t c = 0; c < values.size(); ++c)
      LADON_CHECK(goes_on[c] == 0 || (values[c] > 0 && std::isfinite(values[c])), operation, of,
                  " is not positive definite, or not finite: ", what, " is ", values[c],
                  " in iteration ", iterations_ + 1, " for right-hand side ", c,
                  "; a kernel needs noise or jitter on its diagonal");
  }

  /// 1 for columns that still iterate, 0 for solved columns and columns of zeros, whose step is 0.
  Tensor active() const { return cast(relative() > options_.tolerance, f64); }

  /// Iterates from x and its true residual until the recursively updated residual is small enough.
  void descend() {
    Tensor going = active(), z = preconditioned(r_), p = z, rz = dots(r_, z);
    while (iterations_ < options_.max_iterations &&
           number_of("conjugate_gradients", amax(going)) > 0) {
      check_positive(rz, going, "the preconditioner", "rᵀP⁻¹r");
      const Tensor q = product(p), curvature = dots(p, q);
      check_positive(curvature, going, "the matrix", "pᵀAp");
      const Tensor step = where(equal(going, 0), 0, rz / curvature);
      x_ = x_ + step * p;
      r_ = r_ - step * q;
      ++iterations_;
      going = active();
      if (options_.progress)
        options_.progress({iterations_, number_of("conjugate_gradients", amax(relative()))});
      z = preconditioned(r_);
      const Tensor next = dots(r_, z);
      p = z + where(equal(going, 0), 0, next / rz) * p;
      rz = next;
    }
  }

  const LinearMap& multiply_;
  const CgOptions& options_;
  Tensor b_, x_, r_, norms_;
  int iterations_ = 0;
};

}  // namespace

CgResult conjugate_gradients(const LinearMap& multiply, const Tensor& b, const CgOptions& options) {
  const NoGrad off;
  LADON_CHECK(multiply, operation,
              "the function that multiplies by the matrix is empty; pass one that maps [N, k] to "
              "[N, k]");
  LADON_CHECK(
      options.tolerance > 0 && options.tolerance < 1, operation, "the tolerance is ",
      options.tolerance,
      "; it must be above 0 and below 1, because X = 0 already has a relative residual of 1");
  LADON_CHECK(options.max_iterations >= 1, operation, "max_iterations must be at least 1, got ",
              options.max_iterations);
  LADON_CHECK(b.defined() && b.rank() == 2 && b.size(0) >= 1 && b.size(1) >= 1, operation,
              "the right-hand sides must be [N, k] with N and k ≥ 1, got ",
              detail::shape_in_words(b));
  const Tensor right =
      kernel_blocks::cross_block(operation, "the right-hand sides", b, -1, b.size(1));
  return Iteration(multiply, right, options).run();
}

}  // namespace ladon
