// The library reads tensors as plain numbers by autograd/number.h alone, which throws where that
// would lose a derivative. Every other place is listed here, with its reason.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test {
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
    {"autograd/ops/norm.cpp", "any(greater(mapped::show(r), most)).item<bool>()", truth},
    {"autograd/extra/windows/pooling.cpp", "all(isfinite(mapped::show(total))).item<bool>()",
     truth},
    {"autograd/extra/distributions/gamma.cpp", "any(mapped::show(mask)).item<bool>()", truth},
    {"autograd/extra/distributions/gamma.cpp", "all(mapped::show(mask)).item<bool>()", truth},
    {"layers/pooling.cpp", "all(isfinite(mapped::show(total))).item<bool>()", truth},
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

}  // namespace
}  // namespace ladon::test
