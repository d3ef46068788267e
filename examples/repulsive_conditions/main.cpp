// Training conditions under which repulsion between heads might help.

#include <cmath>
#include <iostream>
#include <map>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_conditions/fit.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Under which conditions would repulsion between heads help?";
constexpr const char* duration = "about 6 s of processor time";
constexpr const char* lesson =
    "A small Transformer learns four rules, each of which needs attention to a different token. "
    "Its heads are trained with repulsion and without, under conditions that might make repulsion "
    "useful: dropout of the attention weights, heads that start equal or attend alike, few "
    "training sequences, few and many heads. Is there a condition under which repulsion improves "
    "accuracy?";
const std::vector<Trial> trials = {
    {"repulsive_conditions --questions 2",
     "always - none, equal start: repulsion where all heads are alike"},
    {"repulsive_conditions --alpha 1", "accuracy of always: repulsion a hundred times as strong"}};

/// Signed sum of arms' scores: a difference, or a difference of differences.
using Terms = std::vector<std::pair<double, Arm>>;

/// A question, and the named comparisons that answer it, which form one family.
struct Question {
  std::string asked;
  std::vector<std::pair<std::string, Terms>> family = {};
};

/// The arms without duplicates, and the fits of finished seeds by name of the arm.
struct Study {
  std::vector<Arm> arms = {};
  std::map<std::string, std::vector<Fit>> fits = {};
  std::int64_t seeds = 0;
};

std::string condition(const Arm& arm) {
  if (arm.dropout > 0) return join("dropout ", arm.dropout);
  if (arm.equal_start) return "equal start";
  return join(arm.heads, " heads, ", arm.sequences, " sequences");
}
std::string name(const Arm& arm) { return arm.repulsion + ", " + condition(arm); }

Terms operator-(Terms one, const Terms& other) {
  for (const auto& [sign, arm] : other) one.emplace_back(-sign, arm);
  return one;
}
Terms with(const std::string& repulsion, Arm arm) {
  arm.repulsion = repulsion;
  return {{1, arm}};
}
Terms gain(const Arm& arm) { return with("always", arm) - with("none", arm); }

std::pair<std::string, Terms> compare(const std::string& one, const std::string& other,
                                      const Arm& arm) {
  return {join(one, " - ", other, ", ", condition(arm)), with(one, arm) - with(other, arm)};
}

Question dropout_question() {
  Question q{"Do dropout of the attention and repulsion replace each other?"};
  for (const double dropout : {0.0, 0.1, 0.3}) {
    const Arm arm{.dropout = dropout};
    q.family.push_back(compare("always", "none", arm));
    if (dropout == 0) continue;
    q.family.emplace_back(join("dropout ", dropout, " - 0, none"), Terms{{1, arm}, {-1, {}}});
    q.family.emplace_back(join("interaction, dropout ", dropout), gain(arm) - gain({}));
  }
  return q;
}

Question crowding_question() {
  Question q{"Does repulsion help where heads are crowded, and only there?"};
  for (const bool equal : {false, true}) {
    const Arm arm{.equal_start = equal};
    for (const char* one : {"always", "layer", "pairs"})
      q.family.push_back(compare(one, "none", arm));
    for (const char* one : {"layer", "pairs"}) q.family.push_back(compare(one, "always", arm));
    q.family.push_back(compare("pairs", "apart", arm));
  }
  return q;
}

Question data_question() {
  Question q{"Do few data ask for fewer heads, and does repulsion change that?"};
  const auto more = [](const std::string& repulsion, std::int64_t to, std::int64_t from,
                       std::int64_t sequences) {
    return with(repulsion, {.heads = to, .sequences = sequences}) -
           with(repulsion, {.heads = from, .sequences = sequences});
  };
  for (const std::int64_t sequences : {128, 512, 2048}) {
    for (const std::int64_t heads : {2, 4, 16})
      q.family.push_back(compare("always", "none", {.heads = heads, .sequences = sequences}));
    for (const auto& [to, from] : {std::pair(4, 2), {16, 4}})
      q.family.emplace_back(join(to, " - ", from, " heads, none, ", sequences, " sequences"),
                            more("none", to, from, sequences));
  }
  const auto change = [&](const std::string& repulsion) {
    return more(repulsion, 16, 4, 2048) - more(repulsion, 16, 4, 128);
  };
  q.family.emplace_back("16 - 4 heads, none, 2048 - 128 sequences", change("none"));
  q.family.emplace_back("the same, always - none", change("always") - change("none"));
  return q;
}

void add_arms(const Question& q, std::vector<Arm>& arms) {
  for (const auto& [comparison, terms] : q.family)
    for (const auto& [sign, arm] : terms)
      if (std::ranges::count(arms, name(arm), name) == 0) arms.push_back(arm);
}

/// Runs seed after seed; only complete seeds are added to `study`.
void run(const Settings& s, const RuleSequences& test, Study& study) {
  const std::int64_t arms = std::ssize(study.arms);
  const auto arm = [&](std::int64_t i) -> const Arm& { return study.arms[i]; };
  Progress progress(static_cast<double>(arms * s.seeds));
  for (; study.seeds < s.seeds; ++study.seeds) {
    const Generator seed =
        Generator(s.common.seed).split(1).split(static_cast<std::uint64_t>(study.seeds));
    std::vector<Fit> fits;
    parallel::in_order(
        arms, 8, [&](std::int64_t i) { return fit(s, arm(i), test, seed); },
        [&](const Fit& done) {
          progress.step(name(arm(std::ssize(fits))));
          fits.push_back(done);
        });
    for (std::int64_t i = 0; i < arms; ++i) study.fits[name(arm(i))].push_back(fits[i]);
  }
}

/// Signed sum of the arms' scores [seeds, sequences].
Tensor sum_of(const Study& study, const Terms& terms, Tensor Fit::*score) {
  Tensor total;
  for (const auto& [sign, arm] : terms) {
    std::vector<Tensor> seeds;
    for (const Fit& fit : study.fits.at(name(arm))) seeds.push_back(sign * (fit.*score));
    total = total.defined() ? total + stack(seeds) : stack(seeds);
  }
  return total;
}

Measured over_seeds(const Tensor& scores) { return estimate(mean(scores, 1).to_vector()); }

Table arm_table(const Question& q, const Study& study) {
  Table table("arm",
              {{"accuracy", "share of right answers; mean over seeds ± standard error, as all",
                Better::higher},
               {"nll", "mean of -log p(right answer), in nats", Better::lower},
               {"trained", "accuracy on 128 training sequences"},
               {"redundancy", "cosine of two heads' maps on test sequences, mean over pairs"},
               {"repelled", "share of steps and pairs of heads that repelled"}});
  std::vector<Arm> arms;
  add_arms(q, arms);
  for (const Arm& arm : arms) {
    std::vector<Measured> figures;
    for (Tensor Fit::*score : {&Fit::right, &Fit::nll})
      figures.push_back(over_seeds(sum_of(study, {{1, arm}}, score)));
    for (double Fit::*figure : {&Fit::trained, &Fit::redundancy, &Fit::repelled}) {
      std::vector<double> all;
      for (const Fit& fit : study.fits.at(name(arm))) all.push_back(fit.*figure);
      figures.push_back(estimate(all));
    }
    table.add({name(arm), figures});
  }
  return table;
}

/// Mean of each comparison, with its standard errors over seeds and over test sequences; p is from
/// the t test over seeds, corrected by Holm.
Table family_table(const Question& q, const Study& study) {
  Table table("difference",
              {{"accuracy", "difference ± standard error over seeds (paired)", Better::higher},
               {"over_sequences", "its standard error over test sequences"},
               {"holm", "p of the t test over seeds, after Holm, in this table"},
               {"nll", "as accuracy, of nll", Better::lower},
               {"nll_holm", "as holm, of nll"}});
  std::vector<std::vector<Measured>> rows(q.family.size());
  for (Tensor Fit::*score : {&Fit::right, &Fit::nll}) {
    std::vector<Contrast> all(q.family.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Tensor total = sum_of(study, q.family[i].second, score);
      const Measured seeds = over_seeds(total);
      const double t = std::abs(seeds.value / seeds.se);
      if (seeds.se > 0) all[i].p = 1 - t_probability(t, static_cast<int>(study.seeds) - 1);
      rows[i].push_back(seeds);
      if (score == &Fit::right) rows[i].push_back({estimate(mean(total, 0).to_vector()).se});
    }
    correct(all);
    for (std::size_t i = 0; i < all.size(); ++i) rows[i].push_back({all[i].holm});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) table.add({q.family[i].first, rows[i]});
  return table;
}

/// Draws the effect of repulsion under each condition.
void draw(const Settings& s, const Study& study) {
  std::vector<std::vector<double>> rows;
  std::string places;
  for (const Arm& arm : study.arms) {
    if (arm.repulsion != "always") continue;
    const Tensor points = 100 * sum_of(study, gain(arm), &Fit::right);
    const Difference d = judge(mean(points, 1).to_vector(), 1);
    const double place = static_cast<double>(rows.size());
    places += join(rows.empty() ? "" : ", ", quoted(condition(arm)), " ", place);
    rows.push_back({d.mean.value, place, d.mean.value - d.interval, d.mean.value + d.interval});
  }
  Picture picture(s.common.out, "repulsive_conditions", s.common.panels);
  picture.panel(
      {290, 80, 630, 370}, "",
      join("set ytics (", places, ")\nset yrange [", rows.size() - 0.4,
           ":-0.6]\nset xlabel 'points of accuracy that repulsion adds'\n",
           "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lw 2 lc rgb '", grey, "'\nplot ",
           with_intervals(picture.data("gains", rows), "1:2:3:4", kind(0), "", 1.1)));
  picture.draw_slide("Does repulsion between heads help, and when?",
                     join("weight ", s.alpha, ", ", study.seeds, " seeds, ", s.steps,
                          " steps; bars: 95% intervals over seeds"));
}

/// Arrays for --bits, as described in paired.h; all test sequences are one fold.
std::map<std::string, Tensor> bits_of(const Study& study, const Tensor& labels) {
  std::map<std::string, Tensor> bits = {{"labels", labels}, {"fold", zeros(labels.shape(), i64)}};
  for (const auto& [arm, fits] : study.fits) {
    std::vector<Tensor> all;
    for (const Fit& fit : fits) all.push_back(flatten(fit.probabilities, 0, 1));
    bits[arm + "/probability"] = stack(all);
    bits[arm + "/right"] = cast(equal(argmax(stack(all), 2), labels), f64);
  }
  return bits;
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, const Settings& s) {
  const std::vector<Question> all = {dropout_question(), crowding_question(), data_question()};
  const RuleSequences test = test_sequences(s);
  std::vector<Question> asked;
  Study study;
  for (const int q : s.questions) {
    asked.push_back(all[q - 1]);
    add_arms(asked.back(), study.arms);
  }
  Report report;
  report.interrupted = !ran_to_the_end([&] { run(s, test, study); });
  std::cout << study.arms.size() << " arms, " << study.seeds << " seeds, " << s.steps
            << " steps, alpha " << s.alpha << std::endl;
  for (std::size_t i = 0; i < asked.size() && study.seeds > 0; ++i) {
    const Table arms = arm_table(asked[i], study), family = family_table(asked[i], study);
    print(asked[i].asked, arms);
    print("Differences, paired by seed:", family);
    report.tables.push_back({join("arms ", s.questions[i]), arms});
    report.tables.push_back({join("family ", s.questions[i]), family});
  }
  if (!s.bits.empty()) save_npz(s.bits, bits_of(study, flatten(test.labels)));
  program.write(report);
  if (study.seeds > 1) draw(s, study);
  return !report.interrupted;
}

void add_options(Program& program, Settings& s) {
  const auto from = [](std::int64_t least) { return whole_number<std::int64_t>(least, 10'000); };
  program.list("--questions", s.questions,
               "Questions: 1 dropout, 2 crowded heads, 3 training sequences and heads",
               "README.md shows all three", whole_number<int>(1, 3));
  program.option("--seeds", s.seeds, "Training runs per arm",
                 "Standard errors are over seeds; with one seed there are none", from(1));
  program.option("--steps", s.steps, "Steps of training",
                 "With more, all arms are nearer to convergence", from(10));
  program.option("--alpha", s.alpha, "Weight of the repulsion",
                 "Published weights range from 0.005 to 1", number(0));
  program.option("--bits", s.bits, "File (.npz) for the answers per question",
                 "To analyse them anew: see examples/common/paired.h", name_of("a file"));
  program.check([&s] { refuse_repeated("--questions", s.questions); });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("repulsive_conditions", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
