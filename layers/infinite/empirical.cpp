#include "ladon/layers/infinite/empirical.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/layers/trace.h"

namespace ladon::infinite {
namespace {

/// One pass of a block through the network, with what its layers reported.
struct Pass {
  Tensor output;  // [N, S, O], S = 1 where outputs have no positions
  bool positions;
  std::vector<Trace::Product> products;
  std::vector<Trace::Use> uses;
};

Pass run(Layer& network, const Inputs& in) {
  const auto parameters = network.parameters();
  check(!parameters.empty(), "empirical_kernel", network.describe(), " has no parameters");
  const Tensor x = in.x.dtype() == i64 ? in.x : cast(in.x, parameters[0].dtype());
  const EnableGrad on;
  Trace trace;
  const Tensor y = network(x, in.mask);
  check(y.rank() >= 2 && y.size(0) == x.size(0), "empirical_kernel",
        "the network must give [N, O] or [N, .., O] for ", x.size(0), " inputs, got shape ",
        y.shape());
  const std::int64_t positions = y.shape().sub(1, y.rank() - 1).count();
  return {.output = reshape(y, {y.size(0), positions, y.size(-1)}),
          .positions = y.rank() > 2,
          .products = std::move(trace.products),
          .uses = std::move(trace.uses)};
}

/// 1 at position s and channel o of every example. [N, S, O]
Tensor pick(const Tensor& output, std::int64_t s, std::int64_t o) {
  Tensor cotangent = zeros(output.shape(), output.dtype());
  fill_(at(cotangent, {all_of, s, o}), 1);
  return cotangent;
}

std::vector<Tensor> reported(const Pass& pass) {
  std::vector<Tensor> outputs;
  for (const auto& p : pass.products) outputs.push_back(p.output);
  for (const auto& u : pass.uses) outputs.push_back(u.output);
  return outputs;
}

/// The gradients of channel o by each reported output, for each position s of the network's output
/// stacked on axis 1:  [N, S, ..].
std::vector<Tensor> sweep(const Pass& pass, const std::vector<Tensor>& outputs, std::int64_t o) {
  std::vector<std::vector<Tensor>> rows(outputs.size());
  for (std::int64_t s = 0; s < pass.output.size(1); ++s) {
    const auto gradients =
        grad({pass.output}, outputs,
             {.cotangents = {pick(pass.output, s, o)}, .retain_graph = true, .allow_unused = true});
    for (std::size_t i = 0; i < outputs.size(); ++i)
      rows[i].push_back(gradients[i].defined() ? gradients[i] : zeros_like(outputs[i].detach()));
  }
  std::vector<Tensor> stacked;
  for (const auto& row : rows) stacked.push_back(stack(row, 1));
  return stacked;
}

Tensor matrix(const Tensor& x) { return reshape(x, {-1, x.size(-1)}); }

// Σ_tt' ⟨x_nt, x'_mt'⟩⟨δ_nst, δ'_ms't'⟩:  x [N, t, in], δ [N, S, t, out] → [N, S, M, S].
Tensor product_part(const Tensor& x1, const Tensor& x2, const Tensor& d1, const Tensor& d2) {
  const std::int64_t n = d1.size(0), m = d2.size(0), s = d1.size(1);
  const Tensor dd = matmul(matrix(d1), transpose(matrix(d2)));  // [N·S·t, M·S·t]
  const Tensor xx = matmul(matrix(x1), transpose(matrix(x2)));  // [N·t, M·t]
  return sum(reshape(dd, {n, s, -1, m, s, dd.size(1) / (m * s)}) *
                 reshape(xx, {n, 1, -1, m, 1, xx.size(1) / m}),
             {2, 5});
}

/// The trained tensor's gradient for each example and position, [N, S, P].
Tensor use_gradients(const Trace::Use& use, const Tensor& delta) {
  std::vector<Tensor> rows;
  for (std::int64_t s = 0; s < delta.size(1); ++s) {
    const Tensor g = use.gradient(select(delta, 1, s));
    rows.push_back(reshape(g, {g.size(0), -1}));
  }
  return stack(rows, 1);
}

/// [N, S, t, c] from [N, S, .., c]
Tensor positions_merged(const Tensor& x, int leading) {
  Shape shape = x.shape().sub(0, leading);
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes.push_back(x.shape().sub(leading, x.rank() - 1).count());
  sizes.push_back(x.size(-1));
  return reshape(x, Shape(sizes));
}

std::int64_t channels(const Pass& pass, const EmpiricalOptions& options) {
  const std::int64_t all = pass.output.size(2);
  return options.channels > 0 ? std::min(options.channels, all) : all;
}

Tensor layerwise_ntk(const Pass& a, const Pass& b, const EmpiricalOptions& options) {
  const std::int64_t n = a.output.size(0), m = b.output.size(0), s = a.output.size(1);
  const auto outputs1 = reported(a), outputs2 = reported(b);
  const std::size_t products = a.products.size();
  Tensor total = zeros({n, s, m, s}, a.output.dtype());
  const NoGrad off;
  for (std::int64_t o = 0; o < channels(a, options); ++o) {
    const auto d1 = sweep(a, outputs1, o), d2 = sweep(b, outputs2, o);
    for (std::size_t i = 0; i < outputs1.size(); ++i) {
      if (i < products) {
        total = total + product_part(positions_merged(a.products[i].input, 1),
                                     positions_merged(b.products[i].input, 1),
                                     positions_merged(d1[i], 2), positions_merged(d2[i], 2));
        continue;
      }
      const Tensor g1 = use_gradients(a.uses[i - products], d1[i]);
      const Tensor g2 = use_gradients(b.uses[i - products], d2[i]);
      total = total + reshape(matmul(matrix(g1), transpose(matrix(g2))), {n, s, m, s});
    }
  }
  return total / static_cast<double>(channels(a, options));
}

/// [N, S, channels, P]
Tensor jacobian_of(const Pass& pass, const std::vector<Tensor>& parameters, std::int64_t count) {
  const EnableGrad on;
  std::vector<Tensor> rows;
  for (std::int64_t n = 0; n < pass.output.size(0); ++n)
    for (std::int64_t s = 0; s < pass.output.size(1); ++s)
      for (std::int64_t o = 0; o < count; ++o) {
        const auto gradients = grad({at(pass.output, {n, s, o})}, parameters,
                                    {.retain_graph = true, .allow_unused = true});
        std::vector<Tensor> flat;
        for (std::size_t i = 0; i < parameters.size(); ++i)
          flat.push_back(gradients[i].defined()
                             ? flatten(gradients[i])
                             : zeros({parameters[i].count()}, parameters[i].dtype()));
        rows.push_back(concat(flat, 0));
      }
  return reshape(stack(rows), {pass.output.size(0), pass.output.size(1), count, -1});
}

Tensor jacobian_ntk(Layer& network, const Pass& a, const Pass& b, const EmpiricalOptions& options) {
  const auto parameters = network.parameters();
  const std::int64_t count = channels(a, options);
  const Tensor ja = jacobian_of(a, parameters, count), jb = jacobian_of(b, parameters, count);
  return einsum("nsop,mrop->nsmr", {ja, jb}) / static_cast<double>(count);
}

/// [N, S, M, S] → [N, M] or [N, M, S, S]
Tensor pairwise(const Tensor& k, bool positions) {
  const Tensor pairs = contiguous(permute(k, {0, 2, 1, 3}));
  return positions ? pairs : reshape(pairs, {pairs.size(0), pairs.size(1)});
}

}  // namespace

EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const Inputs& b,
                                 const EmpiricalOptions& options) {
  const Pass one = run(network, a), two = run(network, b);
  EmpiricalKernel k;
  const NoGrad off;
  const Tensor f1 = one.output.detach(), f2 = two.output.detach();
  k.nngp =
      pairwise(einsum("nso,mro->nsmr", {f1, f2}) / static_cast<double>(f1.size(2)), one.positions);
  if (options.wanted == Wanted::nngp) return k;
  const Tensor ntk = options.method == NtkMethod::layerwise
                         ? layerwise_ntk(one, two, options)
                         : jacobian_ntk(network, one, two, options);
  k.ntk = pairwise(ntk, one.positions);
  return k;
}

EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const EmpiricalOptions& options) {
  return empirical_kernel(network, a, a, options);
}

}  // namespace ladon::infinite
