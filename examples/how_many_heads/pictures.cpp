#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/how_many_heads/results.h"

namespace ladon::example {

void draw_errors(const Settings& s, const Study& study) {
  if (study.arms.empty()) return;
  Picture picture(s.common.out, "how_many_heads", s.common.panels);
  const std::array<const char*, 3> names = {"32 in all", "8 for each head", "one head of 64"};
  for (std::size_t t = 0; t < s.tokens.size(); ++t) {
    std::string script =
        "set logscale x 2\nset logscale y\nset xrange [0.7:11.3]\nset yrange [0.003:1]\n"
        "set xtics (1, 2, 4, 8)\nset xlabel 'heads'\nset key off\n"
        "set arrow from 4, graph 0 to 4, graph 1 nohead dt 3 lw 2 lc rgb '" +
        std::string(grey) + "'\nplot ";
    for (std::size_t l = 0; l < laws.size(); ++l) {
      std::vector<std::vector<double>> rows;
      for (const Arm& arm : study.arms)
        if (arm.of(laws[l]) && arm.tokens == s.tokens[t]) {
          const Measured e = estimate(arm.errors);
          rows.push_back({double(arm.heads) * std::pow(1.06, double(l) - 1), e.value, e.se});
        }
      const std::string file = picture.data(join("law", l, "_", s.tokens[t]), rows);
      script += join(l == 0 ? "" : ", ", curve(file, "1:2", kind(l), ""), ", ",
                     with_errors(file, "1:2:3", kind(l), ""));
    }
    picture.panel(column(t, s.tokens.size()), join(s.tokens[t], " tokens"), script);
  }
  std::string legend;
  for (std::size_t l = 0; l < laws.size(); ++l)
    legend += join(l == 0 ? "" : ", ", "NaN with linespoints ", kind(l).line(), " pt ",
                   kind(l).marker, " ps 0.9 title '", names[l], "'");
  picture.legend(legend);
  picture.shared("set ylabel 'error / variance'\n");
  picture.draw_slide("One wide head does not replace four narrow ones",
                     join("4 retrievals (dotted); ", s.seeds, " seeds, ", s.steps,
                          " steps; bars: one standard error"));
}

void draw_evidence(const Settings& s, const Study& study) {
  if (study.evidence.empty()) return;
  const bool generated = s.data.empty();
  Picture picture(s.common.out, generated ? "how_many_heads_evidence" : "how_many_heads_trec",
                  s.common.panels);
  const std::size_t sizes = s.targets.size(), truths = study.evidence.size() / sizes;
  std::vector<std::string> places;
  for (const std::int64_t n : s.targets) places.push_back(join(n, " targets"));
  std::string script =
      join("set xrange [-0.5:", double(sizes) - 0.5, "]\nset xtics ", named_places(places),
           "\nset ylabel 'ln B: above 0 for one head'\nset key bottom left\n"
           "plot 0 lw 2 lc rgb '",
           grey, "' notitle");
  for (std::size_t t = 0; t < truths; ++t) {
    std::vector<std::vector<double>> dots, means;
    for (std::size_t n = 0; n < sizes; ++n) {
      const Evidence& e = study.evidence[t * sizes + n];
      const double x = double(n) + 0.24 * (double(t) - 0.5 * double(truths - 1));
      for (std::size_t i = 0; i < e.log_bayes.size(); ++i)
        dots.push_back({x + 0.003 * (double(i % 21) - 10), e.log_bayes[i]});
      means.push_back({x - 0.07, estimate(e.log_bayes).value, x + 0.07});
    }
    const std::string name = join(generated ? "labels by " : "", study.evidence[t * sizes].truth);
    script += join(", ", picture.data(join("sets", t), dots), " using 1:2 with points ",
                   kind(t).points(0.6), " title ", quoted(name), ", ",
                   picture.data(join("mean", t), means),
                   " using 1:2:($3-$1):(0) with vectors nohead lw 4 lc rgb '#000000' notitle");
  }
  picture.panel(slide, "", script);
  picture.draw_slide(
      generated ? "Few targets hardly tell one head from many"
                : "One head or many, for TREC's questions?",
      join("ln of evidence of 1 head over ∞; ", s.sets, " data sets each; bar: their mean"));
}

}  // namespace ladon::example
