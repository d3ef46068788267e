// How many heads are enough? Errors against heads, and the evidence of what made the data.

#include <algorithm>
#include <cmath>
#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/how_many_heads/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How many heads are enough: errors against heads, and evidence";
constexpr const char* duration = "about 20 seconds";
constexpr const char* lesson =
    "A layer that has to retrieve 8 things at once is trained with 1 to 16 heads, under a fixed "
    "total width and a fixed width of each head. Beside it, the evidence for one head against "
    "infinitely many is found for data that 1 to 64 heads made.";
const std::vector<Trial> trials = {
    {"how_many_heads --steps 1000", "error at 8 heads: are longer runs closer to 0?"},
    {"how_many_heads --draws 100000", "effective at 12 targets: it limits what can be said"}};

void add_options(Program& program, Settings& s) {
  const auto size = [](std::int64_t most) { return whole_number<std::int64_t>(1, most); };
  program.list("--tokens", s.tokens, "Numbers of tokens T", "More tokens ask for sharper attention",
               size(1024));
  program.option("--seeds", s.seeds, "Trained layers of each kind",
                 "Standard errors are over them; with one there are none", size(1000));
  program.option("--steps", s.steps, "Steps of Adam", "More show what training has not reached",
                 size(1'000'000));
  program.option("--sets", s.sets, "Data sets of each number of heads",
                 "More narrow the errors of ln B, which are over them",
                 whole_number<std::int64_t>(2, 10'000));
  program.option("--draws", s.draws, "Draws of importance sampling, in thousands rounded up",
                 "More where the effective number is below 100", size(10'000'000));
  program.check([&s] { refuse_repeated("--tokens", s.tokens); });
}

std::vector<double> logs(const std::vector<double>& errors) {
  std::vector<double> all;
  for (const double e : errors) all.push_back(std::log(e));
  return all;
}

/// Arms of one law at T: 8 heads belong to both.
std::vector<Arm> law(const Study& study, std::int64_t tokens, bool total) {
  std::vector<Arm> arms;
  for (const Arm& arm : study.arms)
    if (arm.tokens == tokens &&
        (total ? arm.heads * arm.width == total_width : arm.width == head_width))
      arms.push_back(arm);
  return arms;
}

const char* name_of_law(bool total) { return total ? "total width 64" : "8 for each head"; }

Table error_table(const Settings& s, const Study& study) {
  Table table("width", {{.name = "T", .meaning = "tokens", .whole = true},
                        {.name = "heads", .meaning = "H", .whole = true},
                        {.name = "error",
                         .meaning = "mean squared error on fresh tokens over the targets' "
                                    "variance; mean over seeds ± standard error",
                         .better = Better::lower}});
  for (const std::int64_t tokens : s.tokens)
    for (const bool total : {true, false})
      for (const Arm& arm : law(study, tokens, total))
        if (!arm.errors.empty())
          table.add({name_of_law(total),
                     {{static_cast<double>(tokens)},
                      {static_cast<double>(arm.heads)},
                      estimate(arm.errors)}});
  return table;
}

/// Falls of ln error from 4 heads to 8 and from 8 to 16, paired over seeds.
Table gain_table(const Settings& s, const Study& study) {
  Table table("width", {{.name = "T", .meaning = "tokens", .whole = true},
                        {.name = "from", .meaning = "heads H; to 2H", .whole = true},
                        {.name = "fall",
                         .meaning = "ln error of H heads − ln error of 2H, paired over seeds"},
                        {.name = "half",
                         .meaning = "half the width of its 95% interval, "
                                    "Bonferroni's correction over all rows"}});
  const int rows = 4 * static_cast<int>(s.tokens.size());
  for (const std::int64_t tokens : s.tokens)
    for (const bool total : {true, false}) {
      const std::vector<Arm> arms = law(study, tokens, total);
      for (const std::size_t i : {2, 3}) {
        std::vector<double> falls = logs(arms[i].errors);
        const std::vector<double> to = logs(arms[i + 1].errors);
        falls.resize(to.size());
        for (std::size_t k = 0; k < to.size(); ++k) falls[k] -= to[k];
        if (falls.empty()) continue;
        const Difference fall = judge(falls, rows);
        table.add({name_of_law(total),
                   {{static_cast<double>(tokens)},
                    {static_cast<double>(arms[i].heads)},
                    fall.mean,
                    {fall.corrected}}});
      }
    }
  return table;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

Table evidence_table(const Settings& s, const Study& study) {
  Table table(
      "labels by",
      {{.name = "N", .meaning = "targets of a data set", .whole = true},
       {.name = "ln_B",
        .meaning = join("ln Z of 1 head − ln Z of ∞, in nats: mean over ", s.sets,
                        " data sets ± standard error")},
       {.name = "sd", .meaning = "standard deviation of ln B over the data sets"},
       {.name = "beyond_3",
        .meaning = join("data sets of ", s.sets, " with |ln B| > 3 nats"),
        .whole = true},
       {.name = "effective",
        .meaning = "effective number of draws, median data set; below 100 the row says nothing",
        .whole = true}});
  for (const Evidence& e : study.evidence) {
    const Measured mean = estimate(e.log_bayes);
    const auto beyond = std::count_if(e.log_bayes.begin(), e.log_bayes.end(),
                                      [](double b) { return std::abs(b) > 3; });
    table.add({join(e.truth, e.truth == 1 ? " head" : " heads"),
               {{static_cast<double>(e.targets)},
                mean,
                {mean.se * std::sqrt(static_cast<double>(s.sets))},
                {static_cast<double>(beyond)},
                {median(e.effective)}}});
  }
  return table;
}

void draw_errors(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "how_many_heads", s.common.panels);
  for (std::size_t panel = 0; panel < 2; ++panel) {
    std::string script =
        "set logscale x 2\nset logscale y\nset xrange [0.8:20]\nset yrange [0.003:1.5]\n"
        "set xlabel 'heads'\nset key bottom left\nplot ";
    for (std::size_t t = 0; t < s.tokens.size(); ++t) {
      std::vector<std::vector<double>> rows;
      for (const Arm& arm : law(study, s.tokens[t], panel == 0))
        if (const Measured e = estimate(arm.errors); !arm.errors.empty())
          rows.push_back({static_cast<double>(arm.heads), e.value, e.se});
      const std::string file = picture.data(join("law", panel, "_", s.tokens[t]), rows);
      const Style style = step(t, s.tokens.size());
      script += join(t == 0 ? "" : ", ", curve(file, "1:2", style, ""), ", ",
                     with_errors(file, "1:2:3", style, join(s.tokens[t], " tokens")));
    }
    picture.panel(column(panel, 2), name_of_law(panel == 0), script);
  }
  picture.shared("set ylabel 'error / variance'\n");
  picture.draw_slide("Error against heads, for 8 retrievals",
                     join(s.seeds, " seeds, ", s.steps, " steps; bars: one standard error"));
}

void draw_evidence(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "how_many_heads_evidence", s.common.panels);
  std::string script =
      "set xrange [2:13]\nset xtics (3, 6, 12)\nset xlabel 'N, targets'\n"
      "set ylabel 'ln B: above 0 for one head'\nset key center right\nplot 0 lc rgb '" +
      std::string(grey) + "' notitle";
  for (std::size_t t = 0; t < 4; ++t) {
    std::vector<std::vector<double>> rows;
    for (std::size_t n = 0; n < 3; ++n) {
      const Evidence& e = study.evidence[3 * t + n];
      if (median(e.effective) < 100) continue;  // says nothing
      const Measured mean = estimate(e.log_bayes);
      rows.push_back({static_cast<double>(e.targets) + 0.1 * (static_cast<double>(t) - 1.5),
                      mean.value, mean.se});
    }
    if (rows.empty()) continue;
    const std::int64_t truth = study.evidence[3 * t].truth;
    const std::string file = picture.data(join("by", truth), rows);
    script += join(", ", curve(file, "1:2", step(t, 4), ""), ", ",
                   with_errors(file, "1:2:3", step(t, 4), join("labels by ", truth)));
  }
  picture.panel(slide, "", script);
  picture.draw_slide(
      "Evidence for one head, by the heads that made the labels",
      join(s.sets, " data sets; bars: one standard error; N with few effective draws left out"));
}

/// Whether it was not interrupted.
bool teach(Program& program, const Settings& s) {
  const Study study = run_study(s);
  const Table errors = error_table(s, study), gains = gain_table(s, study),
              evidence = evidence_table(s, study);
  print("How far does the error fall with heads?", errors);
  print("Does it still fall beyond D = 8 heads?", gains);
  print("Does the evidence find the heads that made the labels?", evidence);
  program.write({.tables = {{"errors", errors}, {"gains", gains}, {"evidence", evidence}},
                 .interrupted = study.interrupted});
  if (study.interrupted) return false;
  draw_errors(s, study);
  draw_evidence(s, study);
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("how_many_heads", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
