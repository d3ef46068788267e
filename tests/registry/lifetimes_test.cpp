// Searches the headers for code that is sensitive to lifetimes or to mixing compilers: scopes,
// classes with a state, functions that keep a reference, and closures in inline functions.

#include <map>
#include <type_traits>

#include "ladon/ladon.h"
#include "ladon/tests/registry/rows.h"

namespace ladon::test::lifetimes_test {
namespace {

// The order of implicit captures is a compiler's own. A function template that a program and the
// library both instantiate with a closure of an inline function is one symbol, for which the linker
// keeps either's code: so a program of clang++ called the library of g++ with swapped captures.
TEST(Lifetimes, HeadersCaptureByName) {
  const std::regex by_default("\\[\\s*[&=]\\s*[\\],]");
  std::size_t lambdas = 0;
  for (const auto& [path, text] : sources()) {
    if (!path.ends_with(".h")) continue;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find("](") != line.npos) ++lambdas;
      EXPECT_FALSE(std::regex_search(line, by_default))
          << path << ":" << number << ": `" << line
          << "` captures by default; name the captures, which stand in one order then";
    }
  }
  EXPECT_GT(lambdas, 30u) << "the walk does not find the closures";
}

/// Classes with a destructor of their own, or that set a mode, by their names.
Names with_an_end() {
  Names found = derived("Scoped");
  for (const auto& [name, c] : classes())
    if (!matches(c.body.substr(0, c.body.find("\n  class ")), "~(" + name + ")\\(\\)(?! *=)")
             .empty() ||
        !matches(c.body, "detail::(Scoped)<").empty())
      found[name] = {c.header, {name}};
  return found;
}

TEST(Lifetimes, EveryScopeHasItsRow) {
  // What has an end, and sets nothing that the end restores.
  const std::map<std::string, const char*> no_scopes{
      {"Storage", "owns memory"},
      {"Levels", "owns memory"},
      {"Cholesky", "owns what ranks hold"},
      {"Session", "a second is an Error (tests/ranks)"},
      {"Alone", "counts: any order is right; without MPI there is nothing to see"},
      {"InputFile", "owns a file"},
      {"RecordReads", "of the library's own, within one call"},
      {"Call", "of a layer's call, within it"},
      {"ContinuousBatch", "owns memory"},
      {"PairSums", "owns memory"},
      {"StoredGram", "owns files"},
      {"StoredFactor", "owns files"},
      {"OverlappedSum", "waits for what it began"}};
  std::map<std::string, int> named;
  for (const auto& [name, found] : with_an_end()) {
    ++named[name];
    if (no_scopes.contains(name)) continue;
    const Place table{"tests/models", "", "\"(mapped::)?NAME\"|\\bNAME\\b[^;]*(layer|apply\\(\\))"};
    EXPECT_TRUE(has_row(table, name))
        << "`" << name << "` (" << found.header
        << ") is a scope without a row in tests/models/scopes_test.cpp: it is to be right when it is "
           "renewed, ends in another order, and ends on another thread";
  }
  EXPECT_FALSE(named.empty()) << "the walk does not find the scopes";
  for (const auto& [name, why] : no_scopes)
    EXPECT_TRUE(named.contains(name)) << name << " has no end of its own any more";
}

/// Classes of offered headers with a public member function that changes them.
Names with_a_state() {
  const std::regex member(
      "\\n  (?!static|friend|explicit|using|return|virtual Tensor)"
      "(?:virtual )?(?:void|bool|double|int|std::[\\w:<>, ]+|Batch|Generated|T|DataPosition) "
      "(\\w+)\\([^;{}]*\\)(?: \\{[^\\n]*)?;?(?= *\\n)");
  Names found;
  for (const auto& [name, c] : classes()) {
    const std::string& text = headers().at(c.header);  // those within others are theirs
    const bool outer = text.find("\nclass " + name + " ") != text.npos ||
                       text.find("\nstruct " + name + " ") != text.npos;
    if (!outer || !offered().contains(c.header)) continue;
    const std::string open =
        c.body.substr(0, std::min(c.body.find("\n private:"), c.body.find("\n protected:")));
    for (std::sregex_iterator i(open.begin(), open.end(), member), end; i != end; ++i)
      if ((*i)[1] != "visit" && (*i)[1] != "forward") found[name] = {c.header, {name}};
  }
  return found;
}

TEST(Lifetimes, EveryClassWithAStateHasItsModel) {
  // Other tests take these through their states.
  const std::map<std::string, const char*> elsewhere{
      {"OutputFile", "tests/faults: each system call fails once"},
      {"InputFile", "tests/faults"},
      {"Session", "tests/ranks"},
      {"BytePairTokenizer", "a state that is read once (tests/core/extra/data)"},
      {"LayerContainer", "a list of layers"},
      {"Module", "tests/registry/every_layer_test.cpp"},
      {"Visitor", "what modules tell, without a state"},
      {"BatchPlan", "a Loader's"},
      {"Optimizer", "by Adam, in tests/models/training_test.cpp"},
      {"Sampler", "an Optimizer with a temperature"},
      {"Svgd", "a setting"},
      {"Wgd", "a setting"}};
  std::map<std::string, int> named;
  for (const auto& [name, found] : with_a_state()) {
    ++named[name];
    if (elsewhere.contains(name)) continue;
    const Place models{"tests/models", "", "\\bNAME(<[^;]*>)?( \\w+_?)?[({;]|optional<NAME>"};
    EXPECT_TRUE(has_row(models, name))
        << "`" << name << "` (" << found.header
        << ") changes while it lives, and has no model in tests/models: take it through random "
           "operations, with an exception in each, beside plain code that says what should hold";
  }
  for (const char* name :
       {"ContinuousBatch", "WeightAverage", "TrainingRun", "Loader", "Optimizer"})
    EXPECT_TRUE(named.contains(name)) << "the walk does not find " << name;
  for (const auto& [name, why] : elsewhere)
    EXPECT_TRUE(named.contains(name)) << name << " has no state any more";
}

TEST(Lifetimes, WhatOwnsByAPointerSaysThatItWasMovedFrom) {
  const std::map<std::string, const char*> elsewhere{
      {"Tensor", "undefined then (autograd/operands.h)"},
      {"PackedWeights", "a scope, which is not moved"},
      {"Leaf", "of the graph, which is not moved"},
      {"Node", "of the graph, which is not moved"},
      {"Owned", "checks each use; containers are in every_layer_test.cpp"},
      {"Limit", "a layer's, by value or by reference"},
      {"Passes", "of a Limit"},
      {"Rows", "of a Limit"},
      {"Scope", "of an average, which is not moved"},
      {"DualFunction", "a value"},
      {"KernelNode", "a handle, as a Tensor is"},
      {"WeightAverage", "is not moved"},
      {"ParticleMethod", "its noise ends with it"},
      {"CgSolver", "products with a matrix that somebody else owns"}};
  int found = 0;
  for (const auto& [name, c] : classes()) {
    if (!offered().contains(c.header) || elsewhere.contains(name) ||
        matches(c.body, "(std::(?:unique|shared)_ptr<[^;(]*> \\w+_;)").empty())
      continue;
    ++found;
    EXPECT_TRUE(has_row({"tests/models/moved_test.cpp", "", "\"NAME::"}, name))
        << "`" << name << "` (" << c.header
        << ") owns by a pointer, which is null once it was moved from: let each use say so "
           "(core/held.h), and add its rows to tests/models/moved_test.cpp";
  }
  EXPECT_GE(found, 5) << "the walk does not find the owners";
}

// --- functions that keep a reference ---

template <class... Arguments>
concept next_tokens = requires(Arguments&&... x) {
  next_token(std::forward<Arguments>(x)...);
};
template <class... Arguments>
concept densities = requires(Arguments&&... x) {
  log_posterior(std::forward<Arguments>(x)..., std::function<Tensor()>());
};
template <class... Arguments>
concept kernel_maps = requires(Arguments&&... x) {
  kernel_map(std::forward<Arguments>(x)...);
};
template <class... Arguments>
concept single_rows = requires(Arguments&&... x) {
  samplers::of_single_rows("", std::forward<Arguments>(x)...);
};
template <class Model>
concept tasks = requires(Model&& model, const Tensor& x) {
  network_task(std::forward<Model>(model), x, x, 0.1);
};
template <class T>
concept run_parts = requires(TrainingRun& run, T&& part) {
  run.add("part", std::forward<T>(part));
};
template <class Layer>
concept head_masks = std::is_constructible_v<HeadMask, Layer, const Tensor&>;

struct Derived : LanguageModel {
  using LanguageModel::LanguageModel;
};

/// Whether the first compiles, and the others do not.
#define REFERS_TO_WHAT_LIVES(concept_, Type)                               \
  static_assert(concept_<Type&>, #concept_ " takes what lives");           \
  static_assert(!concept_<Type>, #concept_ " refuses a temporary " #Type); \
  static_assert(!concept_<const Type>, #concept_ " refuses a temporary " #Type)

REFERS_TO_WHAT_LIVES(next_tokens, LanguageModel);
REFERS_TO_WHAT_LIVES(next_tokens, TranslationModel);
REFERS_TO_WHAT_LIVES(next_tokens, Derived);
REFERS_TO_WHAT_LIVES(densities, LanguageModel);
REFERS_TO_WHAT_LIVES(kernel_maps, infinite::StoredGram);
REFERS_TO_WHAT_LIVES(single_rows, LogDensity);
REFERS_TO_WHAT_LIVES(tasks, Sequential);
REFERS_TO_WHAT_LIVES(run_parts, Sequential);
REFERS_TO_WHAT_LIVES(run_parts, Generator);
REFERS_TO_WHAT_LIVES(run_parts, Tensor);
REFERS_TO_WHAT_LIVES(run_parts, WeightAverage);
REFERS_TO_WHAT_LIVES(head_masks, MultiHeadAttention);
#undef REFERS_TO_WHAT_LIVES

// Those are found by what their comments say.
TEST(Lifetimes, WhatIsToOutliveAResultIsNoTemporary) {
  const std::set<std::string> known{"core/extra/io/memory.h",  // from_blob: a pointer
                                    "core/modes.h",            // a copy is kept
                                    "layers/extra/sequence/language_model.h",
                                    "layers/extra/sequence/translation_model.h",
                                    "layers/infinite/limit.h",         // owns temporaries
                                    "layers/infinite/finite/heads.h",  // owns temporaries
                                    "optim/extra/penalties/head_mask.h",
                                    "optim/extra/training/training_run.h",
                                    "optim/posterior/regression.h",
                                    "optim/extra/posterior/cg_solver.h",
                                    "optim/samplers/run.h",
                                    "optim/samplers/log_density.h"};
  std::set<std::string> found;
  for (const auto& [path, text] : headers()) {
    std::ifstream in(source / path);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    if (all.find("outlive") != all.npos) found.insert(path);
  }
  EXPECT_EQ(found, known) << "a header says that something must outlive another, and no row above "
                             "asks whether a temporary is refused; or says so no more";
}

// A model's limit keeps a temporary model for the graphs that it gives.
TEST(Lifetimes, AGraphKeepsTheModelOfItsLimit) {
  Generator rng(1);
  const auto graph = infinite::limit(Sequential(Linear({.in = 2, .out = 3}, rng),
                                                Linear({.in = 3, .out = 1}, rng)))
                         .graph();
  std::set<std::string> paths;
  for (const auto& step : graph->steps())
    if (const auto place = graph->place(step)) paths.insert(place->path);
  EXPECT_TRUE(paths.contains("layers.0") && paths.contains("layers.1"));
}

// --- members that hand out references ---

// `for (double v : ScaleMixture(x).variances())` went through memory of an object that had ended.
TEST(Lifetimes, AReferenceIntoATemporaryIsNotHandedOut) {
  const std::map<std::string, const char*> elsewhere{
      {"layers/part.h: layer", "of a Part, a member of its block"}};
  const std::regex member(
      "\\n +(?:virtual )?const [\\w:<>, ]+& (\\w+)\\(([^()]*)\\) const( ?&)?(?!&)");
  std::set<std::string> found;
  std::size_t guarded = 0;
  for (const std::string& header : offered()) {
    const std::string& text = headers().at(header);
    for (std::sregex_iterator i(text.begin(), text.end(), member), end; i != end; ++i) {
      const std::string name = (*i)[1], place = header + ": " + name;
      const std::string before = text.substr(0, static_cast<std::size_t>(i->position()) + 1);
      const std::size_t hidden = before.rfind("\n private:"), end_of_class = before.rfind("\n};\n");
      if (hidden != before.npos && (end_of_class == before.npos || end_of_class < hidden)) continue;
      if (elsewhere.contains(place)) {
        found.insert(place);
        continue;
      }
      const bool has_other =
          !matches(text, "[ >&](" + name + ")\\([^()]*\\) (?:const ?)?&&").empty();
      EXPECT_TRUE((*i)[3].matched && has_other)
          << place << "() returns a reference into its object: declare it `const&`, beside an "
          << "overload `&&` that returns a value or is deleted";
      guarded += (*i)[3].matched;
    }
  }
  EXPECT_EQ(found.size(), elsewhere.size()) << "a place of the list is gone";
  EXPECT_GE(guarded, 15u) << "the walk does not find the members";
  static_assert(!std::is_constructible_v<infinite::Seen, infinite::Pairs>);
  static_assert(!std::is_constructible_v<infinite::Seen, infinite::Pairs, infinite::Pairs&>);
  static_assert(!std::is_constructible_v<infinite::Seen, infinite::Pairs&, infinite::Pairs>);
  static_assert(std::is_constructible_v<infinite::Seen, infinite::Pairs&, infinite::Pairs&>);
}

// --- memory that was lent ---

// Whoever edits what it was handed asks storage whether it may: who counts holders himself forgets
// that borrowed memory has one holder, too.
TEST(Lifetimes, HoldersAreCountedByStorageAlone) {
  std::size_t asked = 0;
  for (const auto& [path, text] : sources()) {
    asked += matches(text, "(storage\\(\\)\\.exclusive\\(\\))").size();
    if (path == "core/storage.h") continue;
    const std::size_t counted = matches(text, "(\\bowners\\(\\))").size();
    const bool only_looks = path == "optim/particles/particles.cpp" ||  // beside exclusive()
                            path == "autograd/leaf.cpp" ||  // a gradient given again has two
                            path == "autograd/reads.cpp";   // forgets what nobody else holds
    EXPECT_EQ(counted, only_looks ? 1u : 0u)
        << path << " counts the holders of a storage; ask exclusive() before writing to it";
  }
  EXPECT_GE(asked, 3u);
}

}  // namespace
}  // namespace ladon::test::lifetimes_test
