#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_sentences/study.h"

namespace ladon::example {
namespace {

/// Mean over seeds of scores [questions], with its standard error over questions.
Measured over_questions(const std::vector<Tensor>& scores) {
  return estimate(mean(stack(scores), 0).to_vector());
}

/// Name of an arm with the value of its parameter: "svgd 0.01".
std::string named(const std::string& arm, double value) {
  return arm == "plain" ? arm : join(arm, ' ', value);
}

const Column rms = {"rms_w", "root mean square of W_s2 at the end; mean over fits"},
             like = {"redundancy",
                     "cosine of the maps of two hops, mean over pairs: 1 where all look alike"};

/// Adds contrasts of arms with their bases in accuracy and in nll, corrected as two families.
void add_family(const std::vector<std::pair<const Answers*, const Answers*>>& pairs,
                const std::vector<Fold>& folds, Table& table) {
  std::vector<Contrast> right, nll;
  for (const auto& [arm, base] : pairs) {
    right.push_back(contrast(stack(arm->right), stack(base->right), folds));
    nll.push_back(contrast(stack(arm->nll), stack(base->nll), folds));
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

Table contrast_table(const Study& study) {
  Table table("difference",
              {{"accuracy", "difference of accuracy ± standard error over questions (paired)",
                Better::higher},
               {"over_seeds", "its standard error over seeds; – for one seed"},
               {"corrected", "its error after Nadeau and Bengio: training sets overlap"},
               {"holm", "p of the error over questions after Holm, in its family"},
               {"detectable", "difference found in four studies of five, if it alone were tested"},
               {"nll", "difference of nll ± standard error over questions", Better::lower},
               {"nll_holm", "as holm, of nll"}});
  std::vector<std::pair<const Answers*, const Answers*>> plain, svgd;
  for (const Answers& a : study.arms) {
    if (a.arm.name != "plain") plain.emplace_back(&a, &study.arms[0]);
    for (const Answers& b : study.arms)
      if (a.arm.name == "svgd" && b.arm.by == Arm::By::size) svgd.emplace_back(&a, &b);
  }
  add_family(plain, study.folds, table);
  add_family(svgd, study.folds, table);
  return table;
}

}  // namespace

Report report_of(const Study& study) {
  Table tried("arm", {{"accuracy", "on the inner fold", Better::higher},
                      {"nll", "the same", Better::lower},
                      like,
                      rms,
                      {"chosen", "1: for all folds", Better::neither, true}});
  for (const Tried& t : study.tried)
    tried.add({named(t.arm, t.value),
               {{t.accuracy}, {t.nll}, {t.fit.redundancy}, {t.fit.size}, {t.chosen * 1.0}}});
  Table reached(
      "arm",
      {{"accuracy", "share of right answers, ± standard error over questions", Better::higher},
       {"nll", "mean of -log p(right answer), in nats, ± as accuracy", Better::lower},
       like,
       rms,
       {"force_ratio", "repulsive over driving force, at the last step"}});
  for (const Answers& a : study.arms)
    reached.add({named(a.arm.name, a.value),
                 {over_questions(a.right), over_questions(a.nll), estimate(a.redundancy),
                  estimate(a.size), estimate(a.ratio)}});
  return {.tables = {{"tuning", tried}, {"arms", reached}, {"contrasts", contrast_table(study)}},
          .interrupted = study.interrupted};
}

std::filesystem::path draw(const Settings& s, const Study& study) {
  if (study.arms.empty()) return {};
  using By = Arm::By;
  const std::vector<std::pair<By, std::string>> groups = {
      {By::size, "larger, no repulsion"}, {By::repulsion, "repulsion"}, {By::neither, "neither"}};
  Picture picture(s.common.out, "repulsive_sentences", s.common.panels);
  std::string answers, maps, legend;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& [by, name] = groups[g];
    std::vector<std::vector<double>> right, alike;
    for (const Answers& a : study.arms) {
      if (a.arm.by != by) continue;
      const Contrast c = contrast(stack(a.right), stack(study.arms[0].right), study.folds);
      right.push_back({estimate(a.size).value, 100 * c.difference, 100 * c.over_questions});
      for (const Tried& t : study.tried)
        if (t.arm == a.arm.name) alike.push_back({t.fit.size, t.fit.redundancy});
    }
    if (right.empty()) continue;
    answers += with_errors(picture.data(join("answers", g), right), "1:2:3", kind(g), "") + ", ";
    maps += join(picture.data(join("maps", g), alike), " using 1:2 with points ",
                 kind(g).points(1.2), " notitle, ");
    legend += join("NaN with points ", kind(g).points(1.2), " title ", quoted(name), ", ");
  }
  picture.legend(legend + "NaN notitle");
  const std::string axis =
      "set logscale x\nset xlabel 'size of the matrix of hops (rms)'\n"
      "set xtics (0.1, 0.2, 0.5, 1, 2)\nset xrange [0.1:3]\n";
  picture.panel(column(0, 2, 110), "Answers, all questions",
                join(axis, "set ylabel 'points over plain'\nplot 0 with lines lc rgb '", grey,
                     "' notitle, ", answers, "NaN notitle"));
  picture.panel(
      column(1, 2, 110), "Maps, every number tried",
      axis + "set ylabel 'redundancy of maps'\nset yrange [0:1]\nplot " + maps + "NaN notitle");
  return picture.draw("Is it repulsion, or only a larger matrix of hops?",
                      join("an arm per dot; bars: standard error over ", study.folds.size(),
                           " folds' questions; seeds: ", study.seeds));
}

}  // namespace ladon::example
