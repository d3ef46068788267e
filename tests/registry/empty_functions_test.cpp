// Public functions with a std::function as an argument: an empty one causes an Error that says so,
// instead of std::bad_function_call in the middle of a computation.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "ladon/autograd/checkpoint.h"
#include "ladon/autograd/graph.h"
#include "ladon/core/io/file.h"
#include "ladon/optim/ladon.h"
#include "ladon/optim/samplers/elliptical_slice.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test::empty_functions_test {
namespace {

using namespace infinite;

/// By name, a call with an empty function.
std::map<std::string, std::function<void()>> calls() {
  static Generator rng(1);
  static Linear layer({.in = 2, .out = 1}, rng);
  static const TemporaryFolder folder;
  const Tensor x = ones({2}, f64), k = eye(2, f64);
  const std::vector<Tensor> inputs{x};
  const TensorFunction f;
  const std::function<Tensor(const Tensor&)> map;
  const std::function<Tensor()> none;
  return {
      {"write_atomically",
       [] { write_atomically(folder / "file", std::function<void(OutputFile&)>()); }},
      {"jvp", [=] { jvp(f, inputs, inputs); }},
      {"vjp", [=] { vjp(f, inputs, x); }},
      {"vmap", [=] { vmap(f, inputs); }},
      {"per_example_gradients", [=] { per_example_gradients(f, inputs, inputs); }},
      {"jacobian", [=] { jacobian(f, inputs); }},
      {"hvp", [=] { hvp(map, x, x); }},
      {"gradcheck", [=] { gradcheck(f, inputs); }},
      {"gradgradcheck", [=] { gradgradcheck(f, inputs); }},
      {"checkpoint", [=] { checkpoint(f, inputs); }},
      {"functional_call",
       [=] {
         functional_call(layer, {layer.weight, layer.bias}, none);
       }},
      {"register_hook", [] { register_hook(parameter(ones({1})), {}); }},
      {"register_forward_hook", [] { layer.register_forward_hook({}); }},
      {"choose", [] { layer.named_parameters().choose(ParameterChoice()); }},
      {"replace_each", [] { replace_each(layer, "*", {}); }},
      {"head_importance",
       [=] {
         MultiHeadAttention attention({.dim = 2, .heads = 1}, rng);
         attention.eval();
         head_importance(attention, none);
       }},
      {"decay_except", [] { decay_except(layer, ParameterChoice()); }},
      {"LogDensity", [] { LogDensity(1, {}); }},
      {"of_scores", [] { LogDensity::of_scores(1, {}); }},
      {"log_posterior", [=] { log_posterior(layer, none); }},
      {"elliptical_slice",
       [=] {
         EllipticalState state{ones({1, 2}, f64), ones({1}, f64)};
         elliptical_slice(state, {}, 1, 0, 2, rng);
       }},
      {"elliptical_slice_chains",
       [] {
         elliptical_slice_chains({}, ones({1, 2}, f64), {}, rng);
       }},
      {"of_matrix", [=] { of_matrix(k, none, 1); }},
      {"radial", [] { radial("mine", {}, {}); }},
      {"conjugate_gradients", [=] { conjugate_gradients({}, k); }},
      {"PivotedCholesky", [=] { PivotedCholesky(x, {}); }},
      {"CgSolver",
       [=] {
         KernelMap kernel;
         kernel.diagonal = x;
         CgSolver(kernel, {.noise = 1});
       }},
      {"kolmogorov_smirnov", [=] { kolmogorov_smirnov(x, std::function<double(double)>()); }},
      {"head_kurtosis", [=] { head_kurtosis(map, 1, k, k, x, 1, 10, rng); }},
      {"for_each_network", [=] { for_each_network({}, x, x, {}, rng, [](auto&) {}); }},
      {"sample_kernels", [=] { sample_kernels({}, x, x, {}, rng); }},
      {"monte_carlo_kernel", [=] { monte_carlo_kernel(NetworkFactory(), x, x, rng); }},
      {"generate",
       [] {
         generate(NextToken(), ones({1, 1}, i64), GenerateOptions{.length = 1}, rng);
       }},
      {"step", [] { Lbfgs(layer).step({}); }},
      {"strong_wolfe", [] { strong_wolfe({}, LinePoint{}, 1, {}); }},
      {"tempered_smc", [] { tempered_smc(1, {}, {}, rng); }},
      {"closed", [] { DualFunction::closed("mine", {}, {}); }},
      {"numeric", [] { DualFunction::numeric({}); }},
      {"ContinuousBatch", [] { ContinuousBatch batch{NextToken()}; }},
  };
}

TEST(EmptyFunctions, AreErrors) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    try {
      call();
      ADD_FAILURE() << "an empty function is taken";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("empty"), std::string::npos) << e.what();
    } catch (const std::bad_function_call&) {
      ADD_FAILURE() << "the function is called";
    }
  }
}

/// Functions of the headers that take one, and are for the library's own sources; or why not.
const std::string own = "called by the library's own sources, with functions of theirs",
                  optional = "an empty function is a value: nothing is to be called",
                  checked = "checks it, or passes it on to one of the table";
const std::map<std::string, std::string> left_out{
    {"HookHandle", own},
    {"remove_", own},
    {"add_hook", own},
    {"read", own},
    {"write", own},
    {"read_member", own},
    {"each_task", own},
    {"from_first", own},
    {"Cholesky", own},
    {"one_ahead", own},
    {"for_range", own},
    {"in_order", own},
    {"products_of_seen", own},
    {"drawn", own},
    {"each", own},
    {"Storage", own},
    {"from_foreign", own},
    {"get", own},
    {"add", own},
    {"each_entry", own},
    {"expanded_where", own},
    {"expansion_of", own},
    {"run", own},
    {"evaluate", own},
    {"GramReport", own},
    {"combine", own},
    {"map_pairs", own},
    {"of", own},
    {"settled", own},
    {"for_each_module", own},
    {"for_each_parameter", own},
    {"for_each_place", own},
    {"report", own},
    {"around", own},
    {"balance", own},
    {"assemble", own},
    {"proper_covariance", own},
    {"run_chains", own},
    {"sample_chains", own},
    {"from_blob", optional},
    {"for_each", checked},
    {"compare", checked},
};

/// Names of the functions that a header declares with a std::function, or a name of one, among
/// their parameters.
std::set<std::string> takers(const std::string& header, const std::set<std::string>& aliases) {
  std::set<std::string> found;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; (at = header.find("std::function<", at)) != std::string::npos; ++at)
    places.push_back(at);
  for (const std::string& alias : aliases)
    for (std::size_t at = 0; (at = header.find("const " + alias + "& ", at)) != std::string::npos;
         ++at)
      places.push_back(at);
  for (const std::size_t at : places) {
    std::size_t open = at;  // the parenthesis around the parameters
    for (int depth = 0; open > 0; --open) {
      const char c = header[open - 1];
      if (c == ';' || c == '}' || (c == '{' && depth == 0)) open = 1;
      if (c == ')') ++depth;
      if (c == '(' && depth-- == 0) break;
    }
    std::size_t begin = open - (open > 0);
    const std::size_t end = begin;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(header[begin - 1])) ||
                         header[begin - 1] == '_'))
      --begin;
    if (open > 1 && end > begin) found.insert(header.substr(begin, end - begin));
  }
  return found;
}

TEST(EmptyFunctions, EveryPublicFunctionHasItsRow) {
  const auto texts = sources();
  std::set<std::string> aliases;
  for (const auto& [path, text] : texts)
    for (const std::string& name : matches(text, "using (\\w+) =\\s*std::function<"))
      aliases.insert(name);
  const auto rows = calls();
  for (const auto& [path, text] : texts) {
    if (!path.ends_with(".h") || path.find("kernels/") != std::string::npos) continue;
    for (const std::string& name : takers(text, aliases))
      EXPECT_TRUE(rows.contains(name) || left_out.contains(name)) << path << ": " << name;
  }
}

}  // namespace
}  // namespace ladon::test::empty_functions_test
