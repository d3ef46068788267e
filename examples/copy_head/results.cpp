#include <cmath>
#include <functional>

#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/copy_head/study.h"

namespace ladon::example {
namespace {

std::string name_of(Weighting weighting) {
  return weighting == Weighting::softmax ? "softmax" : "linear";
}

/// Value of `figure` for every finished data set.
std::vector<double> over_sets(const Settings& s, const Study& study, Weighting weighting,
                              const std::function<double(const std::vector<Point>&)>& figure) {
  std::vector<double> all;
  for (std::int64_t set = 0; set < s.sets; ++set) {
    const std::vector<Point> curve = curve_of(study, weighting, set);
    if (curve.size() == s.sequences.size()) all.push_back(figure(curve));
  }
  return all;
}

double deepest(const std::vector<Point>& curve) {
  double depth = 0;
  for (const Point& p : curve) depth = std::max(depth, valley(p.histogram));
  return depth;
}

/// Mean of paired differences with its two-sided p value by Student's t; p is 1 if the standard
/// error is 0.
Contrast paired(const std::vector<double>& differences) {
  const Measured mean = estimate(differences);
  Contrast c{.difference = mean.value, .over_seeds = mean.se};
  if (mean.se > 0)
    c.p =
        1 - t_probability(std::abs(mean.value / mean.se), static_cast<int>(differences.size()) - 1);
  return c;
}

}  // namespace

Table exact_table(const Settings& s, const Study& study) {
  Table table("attention",
              {{"N", "sequences", Better::neither, true},
               {"ordered", "P(alignment > ½); mean over data sets ± standard error, as below"},
               {"alignment", "posterior mean of |cosine| of the map with the one that copies"},
               {"on_right", "posterior mean of the weight on the right token (softmax)"},
               {"valley", "depth between two peaks of the alignment's law; 0 for one peak"},
               {"ln Z", "log evidence less that of a network that is 0"},
               {"mc", "standard error of ordered over four runs of sequential Monte Carlo"}});
  const auto right = [](const Point& p) { return p.right.value; };
  for (const Weighting weighting : attentions)
    for (std::size_t i = 0; i < s.sequences.size(); ++i) {
      const auto mean_of = [&](const std::function<double(const Point&)>& figure) {
        return estimate(over_sets(s, study, weighting, [&](const std::vector<Point>& curve) {
          return figure(curve[i]);
        }));
      };
      const Measured mc = mean_of([](const Point& p) { return p.ordered.se; });
      if (std::isnan(mc.value)) continue;
      table.add({name_of(weighting),
                 {{static_cast<double>(s.sequences[i])},
                  mean_of([](const Point& p) { return p.ordered.value; }),
                  mean_of([](const Point& p) { return p.aligned.value; }),
                  weighting == Weighting::softmax ? mean_of(right) : Measured{},
                  mean_of([](const Point& p) { return valley(p.histogram); }),
                  mean_of([](const Point& p) { return p.log_evidence.value; }),
                  {mc.value}}});
    }
  return table;
}

Table valley_table(const Settings& s, const Study& study) {
  Table table("attention",
              {{"valley", "the deepest over N; mean over data sets ± standard error"},
               {"interval", "half the width of the 95% interval (t)"},
               {"N*", "the N whose posterior is nearest to half ordered, mean over data sets"}});
  std::vector<double> depths[2];
  for (const int i : {0, 1}) {
    depths[i] = over_sets(s, study, attentions[i], deepest);
    if (depths[i].empty()) return table;
    const Measured half = estimate(over_sets(s, study, attentions[i], [](const auto& curve) {
      return static_cast<double>(curve[transition(curve)].sequences);
    }));
    table.add(
        {name_of(attentions[i]), {estimate(depths[i]), {judge(depths[i], 1).interval}, half}});
  }
  if (depths[0].size() != depths[1].size()) return table;
  for (std::size_t set = 0; set < depths[0].size(); ++set) depths[0][set] -= depths[1][set];
  table.add({"difference", {estimate(depths[0]), {judge(depths[0], 1).interval}, {}}});
  return table;
}

Table method_table(const Settings& s, const Study& study) {
  Table table(
      "method",
      {{"steps", "gradients per network (hmc and sgld: four times that)", Better::neither, true},
       {"at N*", "share of its networks that are ordered; mean over data sets ± standard error"},
       {"error", "the same less the exact share, paired per data set"},
       {"holm", join("p of that, by Holm for the ", 2 * std::size(methods),
                     " comparisons of the longer run")},
       {"after", "share three numbers N later, or at the last N"},
       {"error ", "the same less the exact share there"},
       {"holm ", "p of that"}});
  const auto shares = [&](const std::string& method, std::int64_t steps, bool after, bool errors) {
    std::vector<double> all;
    for (const MethodRun& r : study.runs)
      if (r.method == method && r.steps == steps && r.after == after)
        all.push_back(errors ? r.share - r.exact : r.share);
    return all;
  };
  std::vector<Contrast> family;
  for (const char* method : methods)
    for (const bool after : {false, true})
      family.push_back(paired(shares(method, s.steps, after, true)));
  correct(family);
  const auto add = [&](const std::string& method, std::int64_t steps, const Contrast* judged) {
    Row row{method, {{static_cast<double>(steps)}}};
    for (const bool after : {false, true}) {
      row.figures.push_back(estimate(shares(method, steps, after, false)));
      row.figures.push_back(estimate(shares(method, steps, after, true)));
      row.figures.push_back(judged && s.sets > 1 ? Measured{judged[after].holm} : Measured{});
    }
    if (!std::isnan(row.figures[1].value)) table.add(row);
  };
  for (std::size_t m = 0; m < std::size(methods); ++m) {
    add(methods[m], s.steps / 4, nullptr);
    add(methods[m], s.steps, &family[2 * m]);
  }
  add(exact_draws, s.steps, nullptr);
  return table;
}

}  // namespace ladon::example
