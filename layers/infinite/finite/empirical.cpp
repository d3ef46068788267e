#include "ladon/layers/infinite/finite/empirical.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/linalg/einsum.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/core/unread.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon::infinite {
namespace {

/// One forward pass of a block through the network, and the uses of trained tensors that its layers
/// reported (layers/parameter_uses.h).
struct Pass {
  Tensor output;  // [N, S, O], S = 1 where outputs have no positions
  bool positions;
  std::vector<ParameterUses::Product> products;
  std::vector<ParameterUses::Use> uses;
};

// The last example must have the same outputs alone as in its batch: with layers that mix examples,
// or draw random numbers, the kernels of an input would depend on its block.
void verify_alone(const Layer& network, const Tensor& x, const Tensor& mask, const Tensor& among) {
  const NoGrad off;
  const ParameterUses unread;  // discards the parameter uses that layers report in this pass
  const Slice last{x.size(0) - 1, x.size(0)};
  const Tensor alone = network(slice(x, 0, last), mask.defined() ? slice(mask, 0, last) : mask);
  const Tensor there = slice(among.detach(), 0, last);
  const auto parameters = network.parameters();
  const bool exact = std::all_of(parameters.begin(), parameters.end(),
                                 [](const Tensor& p) { return p.dtype() == f64; });
  const double tolerance = exact ? 1e-8 : 1e-4;  // f64 outputs may come from f32 weights
  const double largest = number_of("empirical_kernel", amax(abs(there)));
  LADON_CHECK(alone.shape() == there.shape() &&
                  !(number_of("empirical_kernel", amax(abs(alone - there))) > tolerance * largest),
              "empirical_kernel", "example ", last.start.value_or(0), " of ", x.size(0),
              " gives different outputs alone and in its batch, but they must be equal: ",
              network.describe(),
              " draws random numbers or mixes examples; call eval(), and use no batch statistics");
}

Pass run(Layer& network, const Inputs& in, bool verify) {
  const auto parameters = network.parameters();
  LADON_CHECK(!parameters.empty(), "empirical_kernel", network.describe(),
              " has no parameters, but needs at least one");
  const Tensor seen = in.blanked().x;  // masked tokens are 0, as in the limit
  const Tensor x = seen.dtype() == i64 ? seen : cast(seen, parameters[0].dtype());
  const detail::EvaluationScope evaluating("empirical_kernel", true);
  const EnableGrad on;
  ParameterUses reported;
  const Tensor y = network(x, in.mask);
  LADON_CHECK(y.rank() >= 2 && y.size(0) == x.size(0), "empirical_kernel",
              "the network must give [N, O] or [N, .., O] for ", x.size(0), " inputs, got shape ",
              y.shape());
  const std::int64_t positions = y.shape().sub(1, y.rank() - 1).count();
  LADON_CHECK(positions > 0 && y.size(-1) > 0, "empirical_kernel",
              "the network's outputs have no positions or no channels, but need both: shape ",
              y.shape());
  if (verify && x.size(0) > 1) verify_alone(network, x, in.mask, y);
  return {.output = reshape(y, {y.size(0), positions, y.size(-1)}),
          .positions = y.rank() > 2,
          .products = std::move(reported.products),
          .uses = std::move(reported.uses)};
}

/// Outputs that the rows of a Jacobian belong to: every position of channels [first, last).
struct Rows {
  std::int64_t positions, first, last;
  std::int64_t channels() const { return last - first; }
  std::int64_t count() const { return positions * channels(); }
};

/// Cotangent with 1 at position s and channel o of every example. [N, S, O]
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

/// Gradients of ⟨cotangent, f⟩ with respect to `targets`; zeros for targets that f does not depend
/// on.
std::vector<Tensor> pull_back(const Pass& pass, const std::vector<Tensor>& targets,
                              const Tensor& cotangent) {
  auto gradients = grad({pass.output}, targets,
                        {.cotangents = {cotangent}, .retain_graph = true, .allow_unused = true});
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros_like(targets[i].detach());
  return gradients;
}

/// For each reported use of a trained tensor, the gradients of the R network outputs in `which`
/// with respect to the output of this use, stacked on axis 1: [N, R, ..].
std::vector<Tensor> sweep(const Pass& pass, const Rows& which) {
  const auto outputs = reported(pass);
  std::vector<std::vector<Tensor>> rows(outputs.size());
  for (std::int64_t s = 0; s < which.positions; ++s)
    for (std::int64_t o = which.first; o < which.last; ++o) {
      const auto gradients = pull_back(pass, outputs, pick(pass.output, s, o));
      for (std::size_t i = 0; i < outputs.size(); ++i) rows[i].push_back(gradients[i]);
    }
  std::vector<Tensor> stacked;
  for (const auto& row : rows) stacked.push_back(stack(row, 1));
  return stacked;
}

// --- the inner products of two blocks' gradients ---

Tensor matrix(const Tensor& x) { return reshape(x, {-1, x.size(-1)}); }

/// [.., t, c] in f64 from [.., T1, T2, .., c]: the `leading` axes stay, positions become one axis.
Tensor positions_merged(const Tensor& x, int leading) {
  Shape shape = x.shape().sub(0, leading);
  shape.append(x.shape().sub(leading, x.rank() - 1).count());
  shape.append(x.size(-1));
  return cast(reshape(x, shape), f64);
}

/// One input block of a product y = x·Wᵀ: its x [N, t, in], and the gradients δ [N, R, t, out] of R
/// outputs of the network with respect to y.
struct Side {
  bool indices;  // whether x holds indices of one-hot rows, [N, t, 1]; −1 stands for zeros
  Tensor x, delta;
  Side(const ParameterUses::Product& product, const Tensor& d)
      : indices(product.input.dtype() == i64),
        x(positions_merged(product.input, 1)),
        delta(positions_merged(d, 2)) {}

  /// ∂/∂W = Σ_t δ_t x_tᵀ per row:  [N, R, out, t] · [N, 1, t, in] → [N·R, out·in].
  Tensor gradient() const {
    const Tensor g = matmul(transpose(delta), unsqueeze(x, 1));
    return reshape(g, {delta.size(0) * delta.size(1), -1});
  }
};

/// Inner products ⟨x_nt, x'_mt'⟩ of the inputs x of a product y = x·Wᵀ: [N·t, M·t].
Tensor input_products(const Side& a, const Side& b) {
  const Tensor columns = transpose(matrix(b.x));
  if (!a.indices) return matmul(matrix(a.x), columns);
  return cast(logical_and(equal(matrix(a.x), columns), greater_equal(columns, 0)), f64);
}

// ⟨Σ_t δ_t x_tᵀ, Σ_t' δ'_t' x'_t'ᵀ⟩ = Σ_tt' ⟨x_t, x'_t'⟩⟨δ_t, δ'_t'⟩: the left form is cheaper for
// many positions and few channels, the right one in wide layers.   → [N, R, M, R]
Tensor product_part(const Side& a, const Side& b) {
  const std::int64_t n = a.delta.size(0), m = b.delta.size(0), r = a.delta.size(1);
  const std::int64_t t1 = a.x.size(1), t2 = b.x.size(1), in = a.x.size(2), out = a.delta.size(3);
  const auto flops = [](auto... factors) { return (static_cast<double>(factors) * ...); };
  const double left =
      flops(n, r, t1, in, out) + flops(m, r, t2, in, out) + flops(n, r, m, r, in, out);
  const double right = flops(n, r, t1, m, r, t2, out) + flops(n, t1, m, t2, in);
  if (!a.indices && left < right)
    return reshape(matmul(a.gradient(), transpose(b.gradient())), {n, r, m, r});
  const Tensor dd = matmul(matrix(a.delta), transpose(matrix(b.delta)));  // [N·R·t, M·R·t]
  const Tensor xx = input_products(a, b);                                 // [N·t, M·t]
  return sum(reshape(dd, {n, r, t1, m, r, t2}) * reshape(xx, {n, 1, t1, m, 1, t2}), {2, 5});
}

/// Gradients of the trained tensor of a reported use, for each example and row of the Jacobian:
/// [N·R, P].
Tensor use_gradients(const ParameterUses::Use& use, const Tensor& delta) {
  std::vector<Tensor> rows;
  for (std::int64_t r = 0; r < delta.size(1); ++r) {
    const Tensor g = use.gradient(select(delta, 1, r));
    rows.push_back(cast(reshape(g, {g.size(0), -1}), f64));
  }
  return matrix(stack(rows, 1));
}

/// Σ_θ ⟨∂f_r(x_n)/∂θ, ∂f_r'(x'_m)/∂θ⟩ from the gradients d1 and d2 with respect to the outputs of
/// the reported uses (sweep()).  → [N, R, M, R]
Tensor inner_products(const Pass& a, const std::vector<Tensor>& d1, const Pass& b,
                      const std::vector<Tensor>& d2) {
  LADON_CHECK(
      d1.size() == d2.size() && !d1.empty(), "empirical_kernel",
      "the layerwise method needs the layers to report their parameter uses, but they reported "
      "none, or different ones for both blocks; use NtkMethod::jacobian");
  const std::int64_t n = a.output.size(0), m = b.output.size(0), r = d1[0].size(1);
  const std::size_t products = a.products.size();
  Tensor total = zeros({n, r, m, r}, f64);
  for (std::size_t i = 0; i < products; ++i)
    total = total + product_part({a.products[i], d1[i]}, {b.products[i], d2[i]});
  for (std::size_t i = products; i < d1.size(); ++i) {
    const Tensor g1 = use_gradients(a.uses[i - products], d1[i]);
    const Tensor g2 = use_gradients(b.uses[i - products], d2[i]);
    total = total + reshape(matmul(g1, transpose(g2)), {n, r, m, r});
  }
  return total;
}

// Checks the uses of parameters that layers report (parameter_uses.h): for a random combination u
// of all outputs, the squared gradients computed from them must add up to |∂⟨u, f⟩/∂θ|². If a
// parameter is not reported, the sum is too small; if two layers share a parameter, the product of
// its two gradients is missing.
void verify_reports(Layer& network, const Pass& pass) {
  Generator fixed(0x7265706f7274);
  const Tensor u = normal(pass.output.shape(), fixed, 0, 1, pass.output.dtype());
  std::vector<Tensor> targets = reported(pass);
  const std::size_t reports = targets.size();
  for (const Tensor& p : network.parameters()) targets.push_back(p);
  std::vector<Tensor> gradients = pull_back(pass, targets, u);
  double wanted = 0;
  for (std::size_t i = reports; i < gradients.size(); ++i)
    wanted += number_of("empirical_kernel", sum(square(cast(gradients[i], f64))));
  gradients.resize(reports);
  for (Tensor& g : gradients) g = unsqueeze(g, 1);
  const double found =
      reports == 0
          ? 0
          : number_of("empirical_kernel", sum(inner_products(pass, gradients, pass, gradients)));
  LADON_CHECK(std::isfinite(found) && std::isfinite(wanted), "empirical_kernel",
              "the squared gradient of ", network.describe(), " is ", wanted,
              ", and from the layers' reports it is ", found,
              "; both must be finite: a weight or a visible input is not finite, or too large");
  const double tolerance = pass.output.dtype() == f64 ? 1e-8 : 1e-4;
  LADON_CHECK(std::abs(found - wanted) <= tolerance * wanted, "empirical_kernel",
              "the layers' reports must add up to the squared gradient, but give ", found,
              " instead of ", wanted, ": ", network.describe(),
              " has a trained tensor that no layer reports (layers/parameter_uses.h), or that two "
              "layers share; use NtkMethod::jacobian");
}

// --- the two methods ---

/// Number of output channels whose NTK is computed.
std::int64_t channels_of(const Pass& pass, const EmpiricalOptions& options) {
  const std::int64_t all = pass.output.size(2), some = options.channels;
  LADON_CHECK(some >= 0 && some <= all, "empirical_kernel", "the NTK of the first ", some,
              " outputs was requested (channels), but the network has ", all,
              "; 0 means all of them");
  return some > 0 ? some : all;
}

/// Result of `part` for the rows of all channels at once if all pairs of channels are requested
/// (full); otherwise the mean of its results for each channel.
template <class Part>
Tensor over_channels(const Pass& pass, const EmpiricalOptions& options, const Part& part) {
  const std::int64_t positions = pass.output.size(1), count = channels_of(pass, options);
  if (options.full) return part(Rows{positions, 0, count});
  Tensor total = part(Rows{positions, 0, 1});
  for (std::int64_t o = 1; o < count; ++o) total = total + part(Rows{positions, o, o + 1});
  return total / static_cast<double>(count);
}

/// Gradients of each row's output with respect to all parameters, [N·R, P].
Tensor jacobian_rows(Layer& network, const Pass& pass, const Rows& which) {
  const auto parameters = network.parameters();
  const std::int64_t inputs = pass.output.size(0);
  std::vector<Tensor> rows;
  for (std::int64_t n = 0; n < inputs; ++n)
    for (std::int64_t s = 0; s < which.positions; ++s)
      for (std::int64_t o = which.first; o < which.last; ++o) {
        Tensor cotangent = zeros(pass.output.shape(), pass.output.dtype());
        fill_(at(cotangent, {n, s, o}), 1);
        std::vector<Tensor> flat;
        for (const Tensor& g : pull_back(pass, parameters, cotangent))
          flat.push_back(cast(flatten(g), f64));
        rows.push_back(concat(flat, 0));
      }
  return stack(rows);
}

/// Results of f for both blocks; for one block with itself f is called once.
template <class F>
auto both(const Pass& a, const Pass& b, const F& f) {
  auto first = f(a);
  auto second = &a == &b ? first : f(b);
  return std::pair(std::move(first), std::move(second));
}

Tensor ntk_rows(Layer& network, const Pass& a, const Pass& b, const EmpiricalOptions& options,
                const Rows& rows) {
  if (options.method == NtkMethod::layerwise) {
    const auto [d1, d2] = both(a, b, [&](const Pass& pass) { return sweep(pass, rows); });
    return inner_products(a, d1, b, d2);
  }
  const auto [j1, j2] =
      both(a, b, [&](const Pass& pass) { return jacobian_rows(network, pass, rows); });
  return reshape(matmul(j1, transpose(j2)),
                 {a.output.size(0), rows.count(), b.output.size(0), rows.count()});
}

/// [N, S·C, M, S·C] → [N, M, S, S, C, C], without the axes S if `positions` is false, and without
/// the axes C unless `full`.
Tensor pairwise(const Tensor& k, bool positions, std::int64_t s, bool full) {
  const std::int64_t n = k.size(0), m = k.size(2), c = k.size(1) / s;
  const Tensor pairs = permute(reshape(k, {n, s, c, m, s, c}), {0, 3, 1, 4, 2, 5});
  Shape shape = {n, m};
  for (const auto& [kept, size] : {std::pair(positions, s), std::pair(full, c)})
    if (kept) {
      shape.append(size);
      shape.append(size);
    }
  return contiguous(reshape(pairs, shape));
}

/// Throws Error for an option of the NTK where only the NNGP kernel is computed.
void check_read(const EmpiricalOptions& o) {
  if (o.get == Get::ntk) return;
  const auto check = [](const char* option, const auto& value, const auto& usual) {
    detail::check_unread("empirical_kernel", option, value, usual,
                         "it is an option of the NTK, and get is nngp; set get to Get::ntk");
  };
  const bool jacobian = o.method == NtkMethod::jacobian;
  check("method", std::string_view(jacobian ? "jacobian" : "layerwise"),
        std::string_view("layerwise"));
  check("channels", o.channels, std::int64_t{0});
  check("full", std::string_view(o.full ? "true" : "false"), std::string_view("false"));
}

EmpiricalKernel kernels_of(Layer& network, const Pass& a, const Pass& b,
                           const EmpiricalOptions& options) {
  const NoGrad off;
  check_read(options);
  const std::int64_t positions = a.output.size(1);
  const Tensor f1 = cast(a.output.detach(), f64), f2 = cast(b.output.detach(), f64);
  EmpiricalKernel k;
  k.outputs = a.positions ? f1 : squeeze(f1, 1);
  const Tensor nngp = einsum("nso,mro->nsmr", {f1, f2}) / static_cast<double>(f1.size(2));
  k.nngp = pairwise(nngp, a.positions, positions, false);
  if (options.get == Get::nngp) return k;
  if (k.nngp.count() == 0) {
    const std::int64_t channels = channels_of(a, options);
    Shape shape = k.nngp.shape();
    for (int i = 0; options.full && i < 2; ++i) shape.append(channels);
    k.ntk = zeros(shape, f64);
    return k;
  }
  if (options.method == NtkMethod::layerwise && options.verify) verify_reports(network, a);
  const Tensor ntk = over_channels(
      a, options, [&](const Rows& rows) { return ntk_rows(network, a, b, options, rows); });
  k.ntk = pairwise(ntk, a.positions, positions, options.full);
  return k;
}

}  // namespace

EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const Inputs& b,
                                 const EmpiricalOptions& options) {
  if (same_elements(a.x, b.x) && same_elements(a.mask, b.mask))
    return empirical_kernel(network, a, options);
  const bool verify_b = options.verify && a.count() == 1;  // otherwise a is verified
  return kernels_of(network, run(network, a, options.verify), run(network, b, verify_b), options);
}

EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const EmpiricalOptions& options) {
  const Pass pass = run(network, a, options.verify);
  return kernels_of(network, pass, pass, options);
}

}  // namespace ladon::infinite
