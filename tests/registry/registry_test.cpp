// No class or function is forgotten: those of each kind (layers, optimizers, …) are found in the
// headers, and each must have its rows in the tables of the other tests, and its name in the
// README.md (card) of its folder.

#include "ladon/tests/registry/every_layer.h"
#include "ladon/tests/registry/rows.h"

namespace ladon::test::registry_test {
namespace {

Row random_call() { return {"random call", {{"tests/random_calls", "", "add\\(\\s*\"NAME\""}}}; }

Row state_by_names() {
  return {"state by names", {{"tests/optim/extra/state_names_test.cpp", "", "row<NAME>\\("}}};
}

Names layers() { return derived("Layer", {"Callable", "LayerContainer", "Conv", "ConvTranspose"}); }
Names hooks() { return derived("AttentionHook"); }

TEST(Registry, EveryLayerHasItsRows) {
  std::set<std::string> with_formula, without_limit;
  for (const LayerRow& row : every_layer()) {
    if (row.formula) with_formula.insert(row.name);
    if (row.limit == Ends::in_a_refusal) without_limit.insert(row.name);
  }
  std::set<std::string> limit_of_another = without_limit;
  limit_of_another.insert({"TaylorExpansion", "Linearized"});
  expect_rows({"layers",
               layers(),
               {{"values (or a formula in every_layer.cpp)",
                 {{"tests/layers", "", "TEST\\(NAME, "}},
                 with_formula},
                {"limit that is held against networks",
                 {{"tests/layers/infinite", "", "\\bNAME[(>]", "_limit("}},
                 limit_of_another},
                {"network in which its limit is looked at",
                 {{"tests/layers/infinite/extra/every_layer_test.cpp", "", "\\bNAME(\\(|::)"}},
                 limit_of_another},
                random_call()}});
}

TEST(Registry, EveryLayerAndHookIsInTheTable) {
  std::map<std::string, int> rows;
  for (const LayerRow& row : every_layer()) ++rows[row.name];
  Names all = layers();
  all.merge(hooks());
  for (const auto& [name, found] : all)
    EXPECT_EQ(rows[name], 1)
        << "`" << name << "` (" << found.header << ") has " << rows[name]
        << " rows in tests/registry/every_layer.cpp, which asks it to be saved, loaded and copied, "
           "and for its limit: add one";
  for (const auto& [name, count] : rows)
    EXPECT_TRUE(all.contains(name)) << "a row is of `" << name << "`, which no header has";
}

TEST(Registry, EveryAttentionHookHasItsRows) {
  const std::string file = "tests/layers/extra/attention_variants_test.cpp";
  expect_rows(
      {"attention hooks",
       hooks(),
       {{"values", {{file, "", "TEST\\(NAME, "}}},
        {"refusal", {{file, "TEST(AttentionVariants, RefuseWhatDoesNotFit)", "\\bNAME\\("}}},
        {"random call",
         {{"tests/random_calls/calls_attention.cpp", "AttentionHook> hook(", "return NAME\\("}}}}});
}

TEST(Registry, EveryOptimizerHasItsRows) {
  Names found = derived("Optimizer", {"Sampler"});
  for (const auto& [name, header] : derived("Sampler")) found.erase(name);
  for (const auto& [name, c] : classes())  // and what makes steps by itself
    if (std::regex_match(c.header, std::regex("optim/(extra/optimizers/)?\\w+\\.h")) &&
        name != "Optimizer" && !matches(c.body, "\\n  (?:void|double) (step)\\(").empty())
      found[name] = {c.header, {name}};
  const std::string file = "tests/optim/extra/optimizer_test.cpp",
                    lbfgs = "tests/optim/extra/lbfgs_test.cpp";
  expect_rows({"optimizers",
               found,
               {{"five steps of another program",
                 {{"tests/optim/extra/rules_test.cpp", "", "with<NAME>\\("},
                  {lbfgs, "", "TEST\\(NAME, Follows"}}},
                {"run that resumes bit for bit",
                 {{file, "TEST(Optimizer, ResumesBitForBitFromAFile)", "with<NAME>\\("},
                  {lbfgs, "", "TEST\\(NAME, ResumesBitForBit\\)"}}},
                state_by_names(),
                {"refusal of bad settings",
                 {{file, "TEST(Optimizer, RefusesBadParametersAndSettings)", "\\bNAME \\w+\\("},
                  {lbfgs, "", "TEST\\(NAME, RefusesBadSettings\\)"}}},
                random_call()}});
}

TEST(Registry, EverySamplerHasItsRows) {
  const std::string file = "tests/optim/samplers/sampler_test.cpp";
  expect_rows(
      {"samplers",
       derived("Sampler"),
       {{"rule of another program", {{file, "> samplers()", "sampler<NAME>\\("}}},
        {"law that it settles at",
         {{"tests/optim/samplers/stationary_test.cpp", "", "TEST\\(NAME, "}}},
        {"run that resumes bit for bit",
         {{"tests/optim/extra/optimizer_test.cpp", "TEST(Optimizer, ResumesBitForBitFromAFile)",
           "sampling<NAME>\\("}}},
        state_by_names(),
        {"refusal of bad settings", {{file, "TEST(Samplers, RefuseBadSettings)", "\\bNAME s\\("}}},
        {"row of Trust", {{"tests/optim/extra/trust_test.cpp", "> kinds()", "sampling<NAME>\\("}}},
        random_call()}});
}

// Whatever of optim/ is saved and restored, but for what holds no parameters.
TEST(Registry, EveryStateOfParametersHasItsRow) {
  Names found;
  for (const auto& [name, c] : classes())
    if (c.header.starts_with("optim/") && !matches(c.body, "StateDict (state_dict)\\(").empty())
      found[name] = {c.header, {name}};
  found.erase("Scope");  // stands inside of WeightAverage
  for (const char* without : {"Optimizer", "Sampler", "Plateau", "Collect"})
    EXPECT_EQ(found.erase(without), 1u) << without;
  EXPECT_TRUE(found.contains("Lbfgs") && found.contains("WeightAverage"));
  for (const auto& [name, of] : found)
    EXPECT_TRUE(has_row(state_by_names().places[0], name))
        << "`" << name << "` (" << of.header
        << ") has a state of parameters: add its row to tests/optim/extra/state_names_test.cpp";
}

// Every member of ParameterSet is tried with a tensor that stands in the set twice.
TEST(Registry, EveryOperationOnASetHasItsRow) {
  Names found;
  for (const auto& [name, c] : classes())
    if (name == "ParameterSet")
      for (const std::string& member : matches(c.body.substr(0, c.body.find("private:")),
                                               "\\n  [\\w:<>]+ (\\w+|operator\\|)\\("))
        found[member] = {c.header, {member}};
  found.erase("operator|");  // "|" in the table
  EXPECT_FALSE(found.empty());
  for (const auto& [name, of] : found)
    EXPECT_TRUE(has_row({"tests/optim/extra/identity_test.cpp", "", "\\{\"NAME\","}, name))
        << "`" << name << "` has no row in tests/optim/extra/identity_test.cpp";
}

TEST(Registry, EveryChainSamplerHasItsRows) {
  Names found = returning("Chains|Tempered|SmcResult", "optim/samplers/");
  found.erase("sample_chains");  // makes one of a transition kernel
  const std::string all = "tests/optim/extra/samplers/samplers_test.cpp",
                    normal_priors = "tests/optim/samplers/smc_test.cpp";
  expect_rows({"chain samplers",
               found,
               {{"law", {{all, "& samplers()", "\\{\"NAME\","}, {normal_priors, "", "= NAME\\("}}},
                {"refusal",
                 {{all, "& samplers()", "\\{\"NAME\","},
                  {normal_priors, "", "expect_error\\([^;]*\\bNAME\\("}}},
                random_call()}});
}

TEST(Registry, EveryParticleMethodHasItsRows) {
  expect_rows({"particle methods",
               derived("ParticleMethod"),
               {{"closed form that it settles at",
                 {{"tests/optim/sampling_test.cpp", "", "TEST\\(NAME, "}}},
                {"row of Trust",
                 {{"tests/optim/extra/trust_test.cpp", "> kinds()", "applied<NAME>\\("},
                  {"tests/optim/extra/trust_test.cpp", "Kind spos()", "make_unique<NAME>\\("}}},
                random_call()}});
}

TEST(Registry, EverySteinKernelHasItsRows) {
  const std::string file = "tests/optim/kernel_test.cpp",
                    composed = "tests/optim/extra/composed_kernels_test.cpp",
                    test = "TEST(ComposedKernels, ";
  expect_rows(
      {"Stein kernels",
       returning("SteinKernel", "optim/particles/"),
       {{"repulsion that is its formula's derivative",
         {{file, "TEST(SteinKernel, RepulsionIsTheDerivative)", "expect_repulsion\\(NAME\\("},
          {composed, test + "BlocksAndCoordinates", "expect_kernel\\(NAME\\("},
          {composed, test + "PreconditionedIs", "expect_kernel\\(NAME\\("},
          {composed, test + "MixtureAndHybrid", "= NAME\\("}}},
        {"row of equal particles",
         {{file, "TEST(SteinKernel, EqualParticlesStayFinite)", "\\bNAME\\("},
          {"tests/optim/extra/trust_test.cpp", "> kinds()", "\\bNAME\\("}}},
        {"random call",
         {{"tests/random_calls/calls_optim.cpp", "SteinKernel kernel(", "return NAME\\("},
          {"tests/random_calls/calls_posterior.cpp", "", "return NAME\\("}}}}});
}

TEST(Registry, EverySolverHasItsRows) {
  Names found = derived("Solver");
  for (auto& [name, solver] : found)  // or what makes one
    for (const auto& [maker, where] : returning(name, "optim/posterior/"))
      solver.spelled.push_back(maker);
  const std::string folder = "tests/optim/posterior";
  expect_rows({"solvers",
               found,
               {{"row beside the others",
                 {{"tests/optim/extra/posterior/solver_test.cpp", "", "\\bNAME( \\w+)?\\("}}},
                {"refusal", {{folder, "", "expect_error\\([^;]*\\bNAME( \\w+)?\\("}}},
                random_call()}});
}

TEST(Registry, EveryPosteriorHasItsRows) {
  Names found =
      returning("Predicted|LatentPosterior|RelevanceSaddle|PathSaddle|std::vector<Tensor>",
                "optim/posterior/");
  for (const auto& [name, c] : classes())
    if (stands_in(c.header, "optim/posterior/") &&
        !matches(c.body, "\\n  (GpPrediction) \\w+\\(").empty())
      found[name] = {c.header, {name}};
  const std::string folder = "tests/optim/posterior";
  expect_rows({"posteriors",
               found,
               {{"values", {{folder, "", "(=|const) NAME( \\w+)?\\("}}},
                {"refusal", {{folder, "", "expect_error\\([^;]*\\bNAME( \\w+)?\\("}}},
                random_call()}});
}

TEST(Registry, EveryReaderOfFilesHasItsRows) {
  Names found = readers();
  for (auto& [name, reader] : found)  // read_x is parse_x of a file's bytes
    for (const std::string from : {"parse", "read", "load"}) {
      const std::size_t at = name.find(from);
      for (const std::string to : {"parse", "read", "load"})
        if (at != name.npos)
          if (const std::string other = std::string(name).replace(at, from.size(), to);
              other != name && found.contains(other))
            reader.spelled.push_back(other);
    }
  const auto in = [](const std::string& row) {
    return std::vector<Place>{{"tests/core", "", row}, {"tests/layers", "", row}};
  };
  expect_rows({"readers",
               found,
               {{"values", in("\\bNAME\\(")},
                {"refusal", in("(expect_error|EXPECT_THROW|truncations_fail)\\([^;]*\\bNAME\\(")},
                {"fuzz target that calls it", {{"tests/fuzz", "", "\\bNAME\\(", "accepted("}}}}});
}

TEST(Registry, EveryDistributionHasItsRows) {
  const std::string file = "tests/autograd/extra/distributions_test.cpp",
                    test = "TEST(Distributions, ";
  expect_rows(
      {"distributions",
       derived("Distribution"),
       {{"law of its draws",
         {{file, test + "DrawsFollowTheirLaw)", "\\bNAME\\("},
          {file, test + "ClassesComeAsOftenAsTheyShould)", "\\bNAME\\("}}},
        {"moments, entropy and divergence", {{file, "> cases()", "of\\(NAME\\("}}},
        {"refusal", {{file, test + "RefuseWhatTheyCannot)", "expect_error\\([^;]*\\bNAME\\("}}},
        {"random call",
         {{"tests/random_calls/calls_distributions.cpp", "", "\\{\"NAME\", \\w+\\}"}}}}});
}

TEST(Registry, EveryLossHasItsRows) {
  expect_rows({"losses",
               returning("Tensor", "autograd/ops/loss.h"),
               {{"row of the op table",
                 {{"tests/autograd", "", "(name = |table, )\"NAME\"", "OpTable& table"}}},
                random_call()}});
}

}  // namespace
}  // namespace ladon::test::registry_test
