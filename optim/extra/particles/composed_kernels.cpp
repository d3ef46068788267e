#include "ladon/optim/extra/particles/composed_kernels.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon {
namespace {

void check(const char* operation, const SteinKernel& kernel) {
  LADON_CHECK(kernel.at, operation, "the kernel `", kernel.name,
              "` has no function `at`; set SteinKernel::at");
}

/// kernel.at(Θ); throws Error unless the result has the functions `share` and `repel`.
KernelAt complete(const SteinKernel& kernel, const Tensor& theta) {
  KernelAt at = kernel.at(theta);
  LADON_CHECK(at.share && at.repel, "SteinKernel", "the kernel `", kernel.name,
              "` has no function `", at.share ? "repel" : "share",
              "`; KernelAt needs both `share` and `repel`");
  return at;
}

Tensor columns(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return contiguous(slice(x, 1, {.start = begin, .stop = end}));
}

}  // namespace

SteinKernel per_block(SteinKernel kernel, std::vector<std::int64_t> cuts) {
  check("per_block", kernel);
  const std::string name = detail::join("blocks of ", kernel.name);
  return {name, [kernel = std::move(kernel), cuts = std::move(cuts)](const Tensor& theta) {
            std::vector<std::int64_t> ends = cuts;
            ends.push_back(theta.size(1));
            std::vector<KernelAt> parts;
            std::int64_t begin = 0;
            for (const std::int64_t end : ends) {
              LADON_CHECK(begin < end && end <= theta.size(1), "per_block",
                          "cuts must increase and lie inside the coordinates, got a block from ",
                          begin, " to ", end, " of ", theta.size(1), " coordinates");
              parts.push_back(complete(kernel, columns(theta, begin, end)));
              begin = end;
            }
            const auto all = std::make_shared<std::vector<KernelAt>>(std::move(parts));
            return KernelAt{.share =
                                [=](const Tensor& s) {
                                  std::vector<Tensor> made;
                                  std::int64_t from = 0;
                                  for (std::size_t g = 0; g < ends.size(); from = ends[g++])
                                    made.push_back((*all)[g].share(columns(s, from, ends[g])));
                                  return concat(made, 1);
                                },
                            .repel =
                                [=] {
                                  std::vector<Tensor> made;
                                  for (const KernelAt& part : *all) made.push_back(part.repel());
                                  return concat(made, 1);
                                }};
          }};
}

SteinKernel per_coordinate(SteinKernel kernel) {
  check("per_coordinate", kernel);
  const std::string name = detail::join("per-coordinate ", kernel.name);
  return {name, [kernel = std::move(kernel)](const Tensor& theta) {
            LADON_CHECK(theta.size(1) >= 1, "per_coordinate",
                        "particles must have at least one coordinate, but are ", theta.shape());
            std::vector<std::int64_t> cuts(theta.size(1) - 1);
            std::iota(cuts.begin(), cuts.end(), 1);
            return per_block(kernel, cuts).at(theta);
          }};
}

SteinKernel preconditioned(SteinKernel kernel, const Tensor& precision) {
  check("preconditioned", kernel);
  LADON_CHECK(precision.defined() && precision.rank() == 2, "preconditioned",
              "the precision must be [D, D], got ", detail::shape_in_words(precision));
  const Tensor root = lapack::cholesky(cast(precision.detach(), f64));
  const std::string name = detail::join("preconditioned ", kernel.name);
  return {name, [kernel = std::move(kernel), root](const Tensor& theta) {
            LADON_CHECK(theta.size(1) == root.size(0), "preconditioned",
                        "the precision must be [D, D] for particles of dimension D, but D is ",
                        theta.size(1), " and the precision is ", root.shape());
            const KernelAt inner = complete(kernel, matmul(theta, root));  // rows Lᵀθ
            // For rows y of share(s), y·Q⁻¹ = (Q⁻¹yᵀ)ᵀ. By the chain rule the repulsion is Q⁻¹·L·R
            // = L⁻ᵀR, where R is the repulsion at the points Lᵀθ.
            return KernelAt{
                .share =
                    [=](const Tensor& s) {
                      const Tensor shared = inner.share(cast(s, f64));
                      return contiguous(transpose(lapack::cholesky_solve(root, transpose(shared))));
                    },
                .repel =
                    [=] {
                      return contiguous(transpose(
                          lapack::solve_triangular(root, transpose(inner.repel()), true)));
                    },
                .h2 = inner.h2};
          }};
}

SteinKernel mixture(std::vector<SteinKernel> kernels, std::vector<double> weights) {
  LADON_CHECK(!kernels.empty() && kernels.size() == weights.size(), "mixture",
              "needs one weight per kernel and at least one kernel, got ", weights.size(),
              " weights for ", kernels.size(), " kernels");
  std::string name = "mixture";
  for (std::size_t g = 0; g < kernels.size(); ++g) {
    check("mixture", kernels[g]);
    LADON_CHECK(std::isfinite(weights[g]) && weights[g] >= 0, "mixture", "a weight is ", weights[g],
                "; it must be finite and at least 0");
    name += (g == 0 ? " of " : ", ") + kernels[g].name;
  }
  return {name, [kernels = std::move(kernels), weights](const Tensor& theta) {
            std::vector<KernelAt> parts;
            for (const SteinKernel& kernel : kernels) parts.push_back(complete(kernel, theta));
            const auto all = std::make_shared<std::vector<KernelAt>>(std::move(parts));
            const auto total = [all, weights](const auto& ask) {
              Tensor sum = weights[0] * ask((*all)[0]);
              for (std::size_t g = 1; g < all->size(); ++g) sum = sum + weights[g] * ask((*all)[g]);
              return sum;
            };
            KernelAt made{
                .share =
                    [=](const Tensor& s) {
                      return total([&](const KernelAt& k) { return k.share(s); });
                    },
                .repel = [=] { return total([](const KernelAt& k) { return k.repel(); }); }};
            bool dense = true;
            for (const KernelAt& k : *all) dense = dense && k.density;
            if (dense)
              made.density = [=] { return total([](const KernelAt& k) { return k.density(); }); };
            return made;
          }};
}

SteinKernel hybrid(SteinKernel share, SteinKernel repel) {
  check("hybrid", share);
  check("hybrid", repel);
  const std::string name = detail::join("hybrid of ", share.name, " and ", repel.name);
  return {name, [share = std::move(share), repel = std::move(repel)](const Tensor& theta) {
            const KernelAt repels = complete(repel, theta);
            return KernelAt{
                .share = complete(share, theta).share, .repel = repels.repel, .h2 = repels.h2};
          }};
}

}  // namespace ladon
