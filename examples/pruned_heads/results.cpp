#include <cmath>
#include <functional>

#include "ladon/autograd/ops.h"
#include "ladon/core/io/tensors/npz.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/pruned_heads/study.h"

namespace ladon::example {
namespace {

constexpr int comparisons = 6;  // three rules on two tasks

/// A figure of every network: its mean over splits.
std::vector<double> by_network(const Study& study, std::size_t size,
                               const std::function<double(const Split&)>& figure) {
  std::vector<double> means;
  for (const NetworkRuns& runs : study.networks) {
    double total = 0;
    for (const Split& split : runs.splits[size]) total += figure(split);
    means.push_back(total / static_cast<double>(runs.splits[size].size()));
  }
  return means;
}

std::vector<double> accuracies(const Study& study, std::size_t size, std::size_t rule,
                               std::size_t kept, bool process) {
  return by_network(study, size, [=](const Split& split) {
    const Path& path = split.paths[rule];
    return (process ? path.process : path.network)[kept - 1];
  });
}

/// Share of splits in which a question was answered rightly [networks, questions].
Tensor right(const Study& study, std::size_t size, std::size_t rule) {
  std::vector<Tensor> rows;
  for (const NetworkRuns& runs : study.networks) {
    std::vector<Tensor> each;
    for (const Split& split : runs.splits[size]) each.push_back(split.paths[rule].right);
    rows.push_back(mean(stack(each), {0}));
  }
  return stack(rows);
}

}  // namespace

Table accuracy_table(const Settings& s, const Study& study, bool process) {
  std::vector<Column> columns = {
      {"n", "N: questions that judged the heads", Better::neither, true}};
  const std::vector<std::size_t> shown = {1, 2, 3, 4, 6, heads};
  for (const std::size_t kept : shown)
    columns.push_back({join("keep", kept),
                       join("accuracy on test questions with ", kept, " of ", heads,
                            " heads, mean over networks ± standard error"),
                       Better::higher});
  Table table(process ? "process" : "network", columns);
  if (study.networks.empty()) return table;
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    for (std::size_t r = 0; r < rule_names.size(); ++r) {
      Row row{rule_names[r], {{static_cast<double>(s.sizes[i])}}};
      for (const std::size_t kept : shown)
        row.figures.push_back(estimate(accuracies(study, i, r, kept, process)));
      table.add(row);
    }
  return table;
}

Table contrast_table(const Settings& s, const Study& study) {
  Table table("evidence less",
              {{"n", "N: questions that judged the heads", Better::neither, true},
               {"difference", "of accuracy with 4 heads, ± standard error over networks"},
               {"interval", "half-width at 95% over networks, Bonferroni for 6 comparisons"},
               {"questions", "standard error over test questions instead"},
               {"detectable", "true difference that is found in four studies of five"}});
  if (study.networks.empty()) return table;
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    Fold all{.train = std::vector<std::int64_t>(static_cast<std::size_t>(s.sizes[i])), .test = {}};
    for (std::int64_t q = 0; q < study.labels.size(0); ++q) all.test.push_back(q);
    for (std::size_t r = 1; r < rule_names.size(); ++r) {
      std::vector<double> differences;
      const Tensor own = right(study, i, 0), other = right(study, i, r);
      for (const double d : mean(own - other, {1}).to_vector()) differences.push_back(d);
      const Difference d = judge(differences, comparisons);
      table.add({rule_names[r],
                 {{static_cast<double>(s.sizes[i])},
                  d.mean,
                  {d.corrected},
                  {contrast(own, other, {all}).over_questions},
                  {d.detectable}}});
    }
  }
  return table;
}

Table certificate_table(const Settings& s, const Study& study) {
  Table table("certificates",
              {{"n", "N: questions that judged the heads", Better::neither, true},
               {"kept", "heads that stay; mean over networks ± standard error, as what follows"},
               {"held", "share of splits whose test log-loss rose by .02 nats at most"},
               {"held_3/N", "the same, by 3/N nats at most"},
               {"held_accuracy", "share in which the process' accuracy fell by a point at most"},
               {"rise", "of the test log-loss, nats per sequence", Better::lower},
               {"splits", "in all", Better::neither, true}});
  if (study.networks.empty()) return table;
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    const auto mean_of = [&](const std::function<double(const Split&)>& figure) {
      return estimate(by_network(study, i, figure));
    };
    const double per_question = allowed_nats / static_cast<double>(s.sizes[i]);
    table.add(
        {"evidence",
         {{static_cast<double>(s.sizes[i])},
          mean_of([](const Split& x) { return static_cast<double>(x.certificate.kept); }),
          mean_of([](const Split& x) { return x.loss_rise <= allowed_loss ? 1.0 : 0.0; }),
          mean_of([=](const Split& x) { return x.loss_rise <= per_question ? 1.0 : 0.0; }),
          mean_of([](const Split& x) { return x.accuracy_fall <= allowed_accuracy ? 1.0 : 0.0; }),
          mean_of([](const Split& x) { return x.loss_rise; }),
          {static_cast<double>(study.networks.size() * study.networks[0].splits[i].size())}}});
  }
  return table;
}

std::string certificate_text(const Settings& s, const Study& study) {
  if (study.networks.empty()) return "";
  const Certificate& c = study.networks[0].splits.back()[0].certificate;
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
  if (s.bits.empty() || study.networks.empty()) return;
  std::map<std::string, Tensor> tensors = {{"labels", study.labels},
                                           {"fold", zeros({study.labels.size(0)}, i64)}};
  for (std::size_t r = 0; r < rule_names.size(); ++r)
    tensors[std::string(rule_names[r]) + "/right"] = right(study, s.sizes.size() - 1, r);
  save_npz(s.bits, tensors);
}

std::filesystem::path draw(const Settings& s, const Study& study) {
  if (study.networks.empty()) return {};
  Picture picture(s.common.out, "pruned_heads", s.common.panels);
  picture.shared("set ylabel 'accuracy, test'\n");
  for (std::size_t i = 0; i < s.sizes.size() && i < 3; ++i) {
    std::string plots;
    for (std::size_t r = 0; r < rule_names.size(); ++r) {
      std::vector<std::vector<double>> rows;
      for (std::size_t k = 1; k <= heads; ++k) {
        const Measured a = estimate(accuracies(study, i, r, k, false));
        rows.push_back({static_cast<double>(k) + 0.08 * (static_cast<double>(r) - 1.5), a.value,
                        std::isfinite(a.se) ? a.se : 0});
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
  return picture.draw("Which heads of a trained layer to keep?",
                      join("accuracy of the masked network; mean of ", study.networks.size(),
                           " networks ± standard error"));
}

}  // namespace ladon::example
