#include "ladon/examples/lessons/13_control/page.h"

#include <array>

#include "ladon/autograd/ops.h"
#include "ladon/examples/lessons/13_control/arms.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Difference of two arms, from the first `seeds` seeds and the questions of the first `count`
/// folds.
Contrast part(const Answers& of, int arm, int base, int seeds, int count) {
  std::vector<std::int64_t> questions;
  std::vector<Fold> some(of.folds.begin(), of.folds.begin() + count);
  for (Fold& fold : some)
    for (std::int64_t& q : fold.test) {
      questions.push_back(q);
      q = std::ssize(questions) - 1;
    }
  const Tensor asked = from_vector(questions, {std::ssize(questions)});
  const Slice first{.stop = seeds};
  const auto scores = [&](int a) { return index_select(slice(of.hits[a], 0, first), 1, asked); };
  return contrast(scores(arm), scores(base), some);
}

}  // namespace

Page page(std::uint64_t seed) {
  Json studies = Json::array(), checks = Json::array();
  for (std::uint64_t s = seed; s < seed + 10; ++s) {
    const Answers of = fitted(s);
    std::vector<std::string> hits;
    std::string fold(of.hits[0].size(1), '0');
    for (const Tensor& each : of.hits) {
      hits.emplace_back();
      for (const double hit : each.to_vector()) hits.back() += hit > 0 ? '1' : '0';
    }
    for (std::size_t f = 0; f < of.folds.size(); ++f)
      for (const std::int64_t q : of.folds[f].test) fold[q] = static_cast<char>('0' + f);
    for (const auto& [arm, base, seeds, count] : {std::array{2, 0, 3, 5}, std::array{4, 3, 2, 3}}) {
      const Contrast c = part(of, arm, base, seeds, count);
      checks.push_back(checked("contrast", {s - seed, arm, base, seeds, count},
                               {c.difference, c.over_questions, c.over_seeds, c.corrected, c.p}));
    }
    studies.push_back({{"hits", hits}, {"sizes", rounded(of.size)}, {"fold", fold}});
  }
  return {.title = "A control tells what repulsion did, and three errors answer three questions",
          .about =
              "Six arms answer the same 600 questions. Choose two, and an error; add folds "
              "and seeds; go to the next study, on other words and questions.",
          .script = page_script,
          .data = {{"arms", arm_names}, {"studies", studies}, {"checks", checks}}};
}

}  // namespace ladon::example
