#include "ladon/examples/repulsive_sentences/results.h"

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Mean of scores [seeds, questions], with its standard error over questions.
Measured over_questions(const Tensor& scores) { return estimate(mean(scores, 0).to_vector()); }

const Column rms = {"rms_w", "root mean square of the entries of W_s2 at the end; mean over fits"},
             alike = {"redundancy",
                      "cosine between the attention maps of two hops, mean over pairs and "
                      "sentences: 1 where all look alike; mean over fits"};

/// Contrasts of an arm to each base, and the same of nll, corrected as two families.
void add_family(const std::vector<std::pair<const Answers*, const Answers*>>& pairs,
                const std::vector<Fold>& folds, Table& table) {
  std::vector<Contrast> right, nll;
  for (const auto& [arm, base] : pairs) {
    right.push_back(contrast(arm->right, base->right, folds));
    nll.push_back(contrast(-arm->log_likelihood, -base->log_likelihood, folds));
  }
  correct(right);
  correct(nll);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    table.add({join(pairs[i].first->arm.name, " - ", pairs[i].second->arm.name),
               {{right[i].difference, right[i].over_questions},
                {right[i].over_seeds},
                {right[i].corrected},
                {right[i].holm},
                {right[i].detectable},
                {nll[i].difference, nll[i].over_questions},
                {nll[i].holm}}});
}

}  // namespace

Table arms_table(const Study& study) {
  Table table(
      "arm",
      {{"number", "of the arm, chosen on inner folds; plain has none"},
       {"accuracy", "share of right answers, ± standard error over questions", Better::higher},
       {"nll", "mean of -log p(right answer), in nats, ± as accuracy", Better::lower},
       alike,
       rms,
       {"force_ratio",
        "repulsive over driving force at the last step of a fit; – without forces"}});
  for (const Answers& a : study.arms)
    table.add({a.arm.name,
               {{a.arm.values.size() > 1 ? a.value : NAN},
                over_questions(a.right),
                over_questions(-a.log_likelihood),
                estimate(a.redundancy),
                estimate(a.size),
                estimate(a.ratio)}});
  return table;
}

Table contrast_table(const Study& study) {
  Table table("difference",
              {{"accuracy", "difference of accuracy ± standard error over questions (paired)",
                Better::higher},
               {"over_seeds", "its standard error over seeds; – for one seed"},
               {"corrected", "its error after Nadeau and Bengio: training sets overlap"},
               {"holm",
                "p of the error over questions after Holm, in the family: arms less plain, "
                "or svgd less others"},
               {"detectable", "difference found in four studies of five, if it alone were tested"},
               {"nll", "difference of nll ± standard error over questions", Better::lower},
               {"nll_holm", "as holm, of nll"}});
  std::vector<std::pair<const Answers*, const Answers*>> plain, svgd;
  for (const Answers& a : study.arms) {
    if (a.arm.name != "plain") plain.emplace_back(&a, &study.arms[0]);
    for (const Answers& b : study.arms)
      if (a.arm.name == "svgd" && (b.arm.by == Arm::By::size || b.arm.name == "smoothing"))
        svgd.emplace_back(&a, &b);
  }
  add_family(plain, study.folds, table);
  add_family(svgd, study.folds, table);
  return table;
}

Table tuning_table(const Study& study) {
  Table table("arm", {{"number", "a value of the arm's number"},
                      {"accuracy", "on the inner folds, mean over trials", Better::higher},
                      {"nll", "the same", Better::lower},
                      alike,
                      rms,
                      {"chosen", "1: for all folds", Better::neither, true}});
  for (const Tried& t : study.tried)
    table.add(
        {t.arm, {{t.value}, {t.accuracy}, {t.nll}, {t.redundancy}, {t.size}, {t.chosen * 1.0}}});
  return table;
}

}  // namespace ladon::example
