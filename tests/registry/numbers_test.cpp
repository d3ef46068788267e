// The library reads tensors as plain numbers only by the functions of autograd/number.h, which
// throw Error if this would lose a derivative. All exceptions are listed here, with their reasons.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/optim/extra/penalties/similarity.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test::numbers_test {
namespace {

/// A read that stands in a source, and why it loses nothing.
struct Read {
  std::string path, code, reason;
};
const std::string whole = "integers have no derivative", truth = "truth values have no derivative";
const std::vector<Read> reads{
    {"autograd/ops/loss.cpp", "all.to_vector<std::int64_t>()", whole},
    {"autograd/ops/loss.cpp", "mapped::show(label).to_vector<double>()",
     "of all examples; an Error above, where labels are differentiated"},
    {"autograd/ops/linalg/linalg.cpp", "row.to_vector<std::int64_t>()", whole},
    {"autograd/ops/pointwise.cpp", "any(mapped::show(at)).item<bool>()", truth},
    {"autograd/ops/compare.cpp", "all(equal(a, b)).item<bool>()", truth},
    {"layers/load_state.cpp", "all(equal(isfinite(narrow), isfinite(x))).item<bool>()", truth},
    {"autograd/ops/compare.cpp", "logical_and(near, isfinite(v)))).item<bool>()", truth},
    {"layers/extra/sequence/language_model.cpp", "amax(at).item<std::int64_t>()", whole},
    {"layers/extra/sequence/continuous_batch.cpp", "prompt.to_vector<std::int64_t>()", whole},
    {"layers/extra/sequence/token_choice.cpp", "argmax(x_, 0).item<std::int64_t>()", whole},
    {"layers/extra/sequence/translation_model.cpp", "amax(positions).item<std::int64_t>()", whole},
    {"layers/extra/sequence/generate.cpp", "prompt.to_vector<std::int64_t>()", whole},
    {"layers/attention/attention_cache.cpp", "rows.to_vector<std::int64_t>()", whole},
    {"layers/embedding.cpp", "all(equal(own, 1)).item<bool>()", truth},
    {"layers/extra/state/low_rank.cpp", "all(equal(lora_B, 0.0)).item<bool>()", truth},
    {"layers/infinite/kernel/kernel.cpp", "all(isfinite(x)).item<bool>()", truth},
    {"layers/infinite/kernel/kernel.cpp", "logical_and(lost, mask) : lost).item<bool>()", truth},
    {"optim/particles/wgd.cpp", "argmin(density, 0).item<std::int64_t>()", whole},
    {"optim/extra/training/training_run.cpp",
     "reader.entry(\"integer\", i64, {}).item<std::int64_t>()", whole},
    {"optim/posterior/classification.cpp", "labels.to_vector<std::int64_t>()", whole},
    {"autograd/ops/loss.cpp", "all(isfinite(mapped::show(y))).item<bool>()", truth},
    {"autograd/ops/loss.cpp", "all(isfinite(mapped::show(mean))).item<bool>()", truth},
    {"autograd/ops/loss.cpp", "any(mapped::show(far)).item<bool>()", truth},
    {"autograd/ops/norm.cpp", "any(greater(mapped::show(r), most)).item<bool>()", truth},
    {"autograd/extra/windows/pooling.cpp", "all(isfinite(mapped::show(total))).item<bool>()",
     truth},
    {"autograd/extra/distributions/gamma.cpp", "any(mapped::show(mask)).item<bool>()", truth},
    {"autograd/extra/distributions/gamma.cpp", "all(mapped::show(mask)).item<bool>()", truth},
    {"layers/pooling.cpp", "all(isfinite(mapped::show(total))).item<bool>()", truth},
    {"autograd/extra/distributions/discrete.cpp", "any(mapped::show(small)).item<bool>()", truth},
    {"autograd/extra/distributions/gamma.cpp", "any(mapped::show(small)).item<bool>()", truth},
    {"autograd/ops/index.cpp", "all(isfinite(mapped::show(y))).item<bool>()", truth},
    {"layers/extra/tiles/checkpoint.cpp", "all(in.mask).item<bool>()", truth},
    {"layers/extra/images/window_pooling.cpp", "all(isfinite(mapped::show(sums))).item<bool>()",
     truth},
    {"layers/infinite/dual/dual.cpp", "all(isfinite(*x)).item<bool>()", truth},
    {"layers/infinite/dual/dual.cpp", "all(possible).item<bool>()", truth},
    {"layers/infinite/dual/gelu_tanh.cpp", "any(far).item<bool>()", truth},
    {"layers/infinite/finite/compare.cpp", "mask.to_vector<bool>()", truth},
    {"layers/pooling.cpp", "all(first).item<bool>()", truth},
    {"layers/pooling.cpp", "flatten(first).to_vector<bool>()", truth},
    {"layers/pooling.cpp", "all(begins(*mask)).item<bool>()", truth},
    {"layers/infinite/limit.cpp", "amax(sum(cast(x.mask, i64), 1)).item<std::int64_t>()", whole},
    {"optim/optimizer.cpp", "at->second.to_vector<std::int64_t>()", whole},
};

/// Text without spaces, so that line breaks do not matter.
std::string squeezed(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

TEST(Numbers, AreReadByOneDoor) {
  std::size_t files = 0, doors = 0;
  for (const auto& [path, source] : sources()) {
    if (path.starts_with("core/") || path.starts_with("autograd/number.")) continue;
    ++files;
    std::string text = squeezed(source);
    for (std::size_t at = text.find("_of(\""); at != text.npos; at = text.find("_of(\"", at + 1))
      ++doors;
    for (const Read& r : reads) {
      if (r.path != path) continue;
      const std::string code = squeezed(r.code);
      const std::size_t at = text.find(code);
      EXPECT_NE(at, text.npos) << path << " has no `" << r.code << "` any more";
      if (at != text.npos) text.erase(at, code.size());
    }
    for (const std::string read :
         {".item(", ".item<", ">item(", ">item<", "to_vector(", "to_vector<"})
      for (std::size_t at = text.find(read); at != text.npos; at = text.find(read, at + 1)) {
        const std::size_t begin = at < 60 ? 0 : at - 60;
        ADD_FAILURE() << path << " reads a tensor by `…" << text.substr(begin, at - begin + 20)
                      << "`: a derivative would be lost in silence. Record what is computed from "
                         "it, or read it by number_of() (autograd/number.h), or list it here with "
                         "the reason";
      }
  }
  EXPECT_GE(files, 300u);  // the walk finds the sources
  EXPECT_GE(doors, 150u);
}

TEST(Numbers, AreNotReadWhereADerivativeWouldBeLost) {
  const Tensor plain = tensor({1.5}, f64), x = scalar(1.5, f64).set_requires_grad();
  EXPECT_EQ(number_of("mine", plain), 1.5);
  EXPECT_EQ(numbers_of("mine", tensor({1, 2}, f32)), (std::vector<double>{1, 2}));
  for (const Tensor& t : {x, x * 2}) {
    expect_error([&] { number_of("mine", t); }, "[mine] reads a tensor of shape []");
    expect_error([&] { numbers_of("mine", t); }, "pass x.detach(), or call it under NoGrad");
    EXPECT_EQ(number_of("mine", t.detach()), t.item());
    const NoGrad off;
    EXPECT_EQ(number_of("mine", t), t.item());
  }
  Tensor frozen = scalar(2, f64).set_requires_grad();
  frozen.set_requires_grad(false);
  EXPECT_EQ(number_of("mine", frozen), 2);
  const auto read = [](const std::vector<Tensor>& in) {
    return in[0] * number_of("mine", sum(in[0]));
  };
  expect_error([&] { jvp(read, {plain}, {plain}); }, "[mine]");
  expect_error([&] { jvp(read, {plain}, {plain}); }, "a tangent of jvp");
  {
    const NoGrad off;  // tangents are there all the same
    expect_error([&] { jvp(read, {plain}, {plain}); }, "a tangent of jvp");
  }
  expect_error([&] { vmap(read, {ones({2, 1}, f64)}); }, "inside vmap it has 2 examples");
  expect_error([&] { vjp(read, {plain}, plain); }, "requires a gradient");
  expect_error([&] { number_of("mine", Tensor()); }, "undefined");
  expect_error([&] { number_of("mine", ones({2})); }, "one element");
}

// Results without derivatives: where an argument has one that a caller may want, it is an Error.
TEST(Numbers, AreNotPredictionsFromWhatHasADerivative) {
  const Tensor k = eye(2, f64), y = tensor({1, -1}, f64);
  const Tensor row = tensor({0.5, 0.25}, {1, 2}, f64);
  const Tensor one = ones({1}, f64), mean = tensor({1, 0}, {1, 2}, f64);
  const GaussianProcess gp(k, y);
  const GradientFlow flow(k, y);
  const NngpBlocks nngp{k, row, one};
  using Function = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<Function, Tensor>> calls{
      {[&](const Tensor& x) { return GaussianProcess(x, y).leave_one_out().variance; }, k},
      {[&](const Tensor& x) { return GaussianProcess(k, x).predict(row).mean; }, y},
      {[&](const Tensor& x) { return gp.predict(x).mean; }, row},
      {[&](const Tensor& x) { return gp.predict(row, x).covariance; }, one},
      {[&](const Tensor& x) { return GradientFlow(x, y).train(1); }, k},
      {[&](const Tensor& x) { return GradientFlow(k, x).train(1); }, y},
      {[&](const Tensor& x) { return flow.train(1, x); }, y},
      {[&](const Tensor& x) { return flow.test(1, x); }, row},
      {[&](const Tensor& x) { return flow.test(1, row, {.train = x}); }, y},
      {[&](const Tensor& x) { return flow.test(1, row, {.test = x}); }, one},
      {[&](const Tensor& x) { return flow.ensemble(1, x, nngp).mean; }, row},
      {[&](const Tensor& x) {
         return flow.ensemble(1, row, {x, row, one}).covariance;
       },
       k},
      {[&](const Tensor& x) {
         return flow.ensemble(1, row, {k, x, one}).covariance;
       },
       row},
      {[&](const Tensor& x) {
         return flow.ensemble(1, row, {k, row, x}).covariance;
       },
       one},
      {[&](const Tensor& x) { return class_probabilities(x, one); }, mean},
      {[&](const Tensor& x) { return class_probabilities(mean, x); }, one},
      {[&](const Tensor& x) {
         const auto f = infinite::DualFunction::numeric([x](const Tensor& u) { return u * x; });
         return infinite::dual(f, one, one, 0.5 * one, true).value;
       },
       one},
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const Function& f = calls[i].first;
    const Tensor& x = calls[i].second;
    const Tensor learned = clone(x).set_requires_grad();
    EXPECT_TRUE(f(x).defined());
    expect_error([&] { f(learned); }, "detach()");
    EXPECT_TRUE(f(learned.detach()).defined());
    const auto of = [&](const std::vector<Tensor>& in) { return f(in[0]); };
    expect_error([&] { jvp(of, {x}, {ones_like(x)}); }, "tangent");
    const NoGrad off;
    EXPECT_FALSE(f(learned).requires_grad());
  }
  const Tensor learned = clone(k).set_requires_grad();
  expect_error([&] { GaussianProcess(learned, y); }, "[GaussianProcess] reads the kernel of shape");
  EXPECT_TRUE(log_marginal_likelihood(learned, y, one).requires_grad());
}

// Diagnostics have no gradient, which their headers say; a tangent of 0 would be a wrong number.
TEST(Numbers, AreNotDiagnosticsOfTangents) {
  Generator rng(1);
  const Tensor draws = normal({2, 8}, rng, 0, 1, f64);
  const Tensor contexts = normal({1, 2, 8, 3}, rng, 0, 1, f64);
  using Function = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<Function, Tensor>> calls{
      {[](const Tensor& x) { return split_rhat(x); }, draws},
      {[](const Tensor& x) { return effective_sample_size(x); }, draws},
      {[](const Tensor& x) { return autocorrelation(x, 2); }, draws},
      {[](const Tensor& x) { return head_cka(x); }, contexts},
      {[](const Tensor& x) { return sum(x) * linear_cka(x, x); }, ones({4, 2}, f64)},
      {[](const Tensor& x) { return sum(x) * effective_number(x); }, eye(2, f64)}};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const Function& f = calls[i].first;
    const Tensor& x = calls[i].second;
    EXPECT_TRUE(f(clone(x).set_requires_grad()).defined());
    const auto of = [&](const std::vector<Tensor>& in) { return f(in[0]); };
    expect_error([&] { jvp(of, {x}, {ones_like(x)}); }, "a tangent of jvp");
    expect_error([&] { vmap(of, {stack({x, x}, 0)}); }, "inside vmap");
  }
}

// A dual in closed form is differentiable with respect to what it captures.
TEST(Numbers, OfAClosedDualKeepTheDerivative) {
  const Tensor one = ones({1}, f64), slope = scalar(2, f64).set_requires_grad();
  const auto f = infinite::DualFunction::closed(
      "linear", [slope](const Tensor& x) { return x * slope; },
      [slope](const Tensor&, const Tensor&, const Tensor& c) { return square(slope) * c; });
  const infinite::DualResult e = infinite::dual(f, one, one, 0.5 * one, true);  // s²c and s²
  EXPECT_EQ(grad(e.value, slope, {.retain_graph = true}).item(), 2);
  EXPECT_EQ(grad(e.derivative, slope).item(), 4);
  const NoGrad off;
  EXPECT_FALSE(infinite::dual(f, one, one, 0.5 * one, true).value.requires_grad());
}

}  // namespace
}  // namespace ladon::test::numbers_test
