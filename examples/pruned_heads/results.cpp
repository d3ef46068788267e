#include <cmath>
#include <functional>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/pruned_heads/study.h"

namespace ladon::example {
namespace {

const Column judges{"n", "N: questions that judged the heads", Better::neither, true};

/// Mean of a figure over splits, then over networks.
Measured by_network(const Study& study, std::size_t size,
                    const std::function<double(const Split&)>& figure) {
  std::vector<double> means;
  for (const NetworkRuns& runs : study.networks) {
    double total = 0;
    for (const Split& split : runs[size]) total += figure(split);
    means.push_back(total / static_cast<double>(runs[size].size()));
  }
  return estimate(means);
}

Measured accuracy(const Study& study, std::size_t size, std::size_t rule, std::size_t kept,
                  std::array<double, heads> Path::*of) {
  return by_network(study, size,
                    [=](const Split& split) { return (split.paths[rule].*of)[kept - 1]; });
}

/// Share of the splits with the largest N in which the network, masked to half of its heads by this
/// rule, answers a test question correctly: [networks, questions].
Tensor right(const Study& study, std::size_t rule) {
  std::vector<Tensor> rows;
  for (const NetworkRuns& runs : study.networks) {
    std::vector<Tensor> each;
    for (const Split& split : runs.back()) each.push_back(split.paths[rule].right);
    rows.push_back(mean(stack(each), {0}));
  }
  return stack(rows);
}

}  // namespace

Table accuracy_table(const Settings& s, const Study& study, bool process) {
  std::vector<Column> columns = {judges};
  const std::vector<std::size_t> shown = {1, 2, 3, 4, 6, heads};
  for (const std::size_t kept : shown)
    columns.push_back({join("keep", kept),
                       join("test accuracy with ", kept, " heads; mean over networks ± its error"),
                       Better::higher});
  Table table(process ? "process" : "network", columns);
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    for (std::size_t r = 0; r < rule_names.size(); ++r) {
      Row row{rule_names[r], {{static_cast<double>(s.sizes[i])}}};
      for (const std::size_t kept : shown)
        row.figures.push_back(
            accuracy(study, i, r, kept, process ? &Path::process : &Path::network));
      table.add(row);
    }
  return table;
}

Table contrast_table(const Settings& s, const Study& study) {
  Table table("evidence less",
              {{"difference", "of accuracy with 4 heads, ± standard error over networks"},
               {"interval", "half-width at 95% over networks, Bonferroni for 6 comparisons"},
               {"questions", "standard error over test questions instead"},
               {"detectable", "true difference that is found in four studies of five"}});
  const Fold all{.train = arange(0, s.sizes.back()).to_vector<std::int64_t>(),
                 .test = arange(0, study.labels.size(0)).to_vector<std::int64_t>()};
  const Tensor own = right(study, 0);
  for (std::size_t r = 1; r < rule_names.size(); ++r) {
    const Difference d = judge(mean(own - right(study, r), {1}).to_vector(), 6);
    const double questions = contrast(own, right(study, r), {all}).over_questions;
    table.add({rule_names[r], {d.mean, {d.corrected}, {questions}, {d.detectable}}});
  }
  return table;
}

Table certificate_table(const Settings& s, const Study& study) {
  Table table("certificates",
              {judges,
               {"kept", "heads that stay; mean over networks ± standard error, as what follows"},
               {"held", "share of splits whose test log-loss rose by .02 nats at most"},
               {"held_3/N", "the same, by 3/N nats at most"},
               {"held_accuracy", "share in which the process' accuracy fell by a point at most"},
               {"rise", "of the test log-loss, nats per sequence", Better::lower},
               {"splits", "in all", Better::neither, true}});
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    const auto mean_of = [&](const auto& figure) { return by_network(study, i, figure); };
    const double per_question = allowed_nats / static_cast<double>(s.sizes[i]);
    table.add(
        {"evidence",
         {{static_cast<double>(s.sizes[i])},
          mean_of([](const Split& x) { return static_cast<double>(x.kept); }),
          mean_of([](const Split& x) { return x.loss_rise <= allowed_loss ? 1.0 : 0.0; }),
          mean_of([=](const Split& x) { return x.loss_rise <= per_question ? 1.0 : 0.0; }),
          mean_of([](const Split& x) { return x.accuracy_fall <= allowed_accuracy ? 1.0 : 0.0; }),
          mean_of([](const Split& x) { return x.loss_rise; }),
          {static_cast<double>(study.networks.size() * study.networks[0][i].size())}}});
  }
  return table;
}

std::string certificate_text(const Settings& s, const Study& study) {
  const Split& c = study.networks[0].back()[0];
  std::string text =
      join("\nCertificate of the first network and split at N = ", s.sizes.back(), ": ", c.kept,
           " of ", heads, " heads stay\n(amplitude ", c.amplitude, ", noise ", c.noise,
           "); ln Z changes as heads go, one after the other:\n");
  for (std::size_t i = 0; i < c.removed.size(); ++i)
    text += join("  head ", c.removed[i], ": ", signed_number(-c.lost[i]), " nats",
                 heads - static_cast<std::int64_t>(i) > c.kept ? "\n" : ", so it stays\n");
  return text;
}

void write_bits(const Settings& s, const Study& study) {
  std::map<std::string, Tensor> tensors = {{"labels", study.labels},
                                           {"fold", zeros({study.labels.size(0)}, i64)}};
  for (std::size_t r = 0; r < rule_names.size(); ++r)
    tensors[std::string(rule_names[r]) + "/right"] = right(study, r);
  save_npz(s.bits, tensors);
}

std::filesystem::path draw(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "pruned_heads", s.common.panels);
  picture.shared("set ylabel 'accuracy, test'\n");
  for (std::size_t i = 0; i < s.sizes.size() && i < 3; ++i) {
    std::string plots;
    for (std::size_t r = 0; r < rule_names.size(); ++r) {
      std::vector<std::vector<double>> rows;
      for (std::size_t k = 1; k <= heads; ++k) {
        const Measured a = accuracy(study, i, r, k, &Path::network);
        const double place = static_cast<double>(k) + 0.08 * (static_cast<double>(r) - 1.5);
        rows.push_back({place, a.value, std::isfinite(a.se) ? a.se : 0});
      }
      const std::string file = picture.data(join(rule_names[r], "_", s.sizes[i]), rows);
      plots +=
          join(r == 0 ? "plot " : ", ", curve(file, "1:2", kind(r), i == 0 ? rule_names[r] : "", 3),
               ", ", with_errors(file, "1:2:3", kind(r), ""));
    }
    picture.panel(column(i, std::min<std::size_t>(3, s.sizes.size())),
                  join("judged by ", s.sizes[i], " questions"),
                  join("set xlabel 'heads kept'\nset xrange [0.5:", heads + 0.5,
                       "]\nset xtics 1,1\nset key bottom right\nset yrange [0:1]\n", plots));
  }
  return picture.draw(s.data.empty() ? "Four questions, four heads: the evidence finds them"
                                     : "Which heads to keep? TREC's questions",
                      join("accuracy of the masked network; mean of ", study.networks.size(),
                           " networks ± standard error"));
}

}  // namespace ladon::example
