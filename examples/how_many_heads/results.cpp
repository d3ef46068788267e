#include "ladon/examples/how_many_heads/results.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

const char* name_of(Law law) {
  return law == Law::total  ? "total width 32"
         : law == Law::each ? "8 for each head"
                            : "1 wide head";
}

/// Log errors [seeds] of the layer with this rule for its width, this number of heads, and T
/// tokens.
Tensor logs(const Study& study, Law law, std::int64_t tokens, std::int64_t heads) {
  const auto arm = std::find_if(study.arms.begin(), study.arms.end(), [=](const Arm& a) {
    return a.of(law) && a.tokens == tokens && a.heads == heads;
  });
  return log(from_vector(arm->errors, {std::ssize(arm->errors)}));
}

/// Gap of one wide head: ln error of one head of width 64 − ln error of 4 heads of width 8.
Tensor lack(const Study& study, std::int64_t tokens) {
  return logs(study, Law::wide, tokens, 1) - logs(study, Law::each, tokens, retrievals);
}

}  // namespace

Table error_table(const Settings& s, const Study& study) {
  Table table("width", {{.name = "T", .meaning = "tokens", .whole = true},
                        {.name = "heads", .meaning = "H", .whole = true},
                        {.name = "error",
                         .meaning = join("mean squared error on fresh tokens over the targets' "
                                         "variance; mean over ",
                                         s.seeds, " seeds ± standard error"),
                         .better = Better::lower}});
  for (const std::int64_t tokens : s.tokens)
    for (const Law law : laws)
      for (const Arm& arm : study.arms)
        if (arm.tokens == tokens && arm.of(law) && !arm.errors.empty())
          table.add({name_of(law), {{double(tokens)}, {double(arm.heads)}, estimate(arm.errors)}});
  return table;
}

Table contrast_table(const Settings& s, const Study& study) {
  const auto [few, many] = std::minmax_element(s.tokens.begin(), s.tokens.end());
  const bool grows = *few < *many;
  const int rows = 3 * static_cast<int>(s.tokens.size()) + (grows ? 1 : 0);
  Table table("contrast",
              {{.name = "T", .meaning = "tokens", .whole = true},
               {.name = "difference",
                .meaning = "bend: (ln e of 2 heads − of 4) − (of 4 − of 8); lack: ln e of one head "
                           "of 64 − of 4 heads of 8; growth: lack at most tokens − at fewest; "
                           "paired over seeds"},
               {.name = "half",
                .meaning = join("half the width of its 95% interval, Bonferroni's correction over ",
                                rows, " rows")}});
  if (study.arms.empty() || study.interrupted) return table;
  const auto add = [&](const std::string& name, std::int64_t tokens, const Tensor& by_seed) {
    const Difference d = judge(by_seed.to_vector(), rows);
    table.add({name, {{double(tokens)}, d.mean, {d.corrected}}});
  };
  for (const std::int64_t tokens : s.tokens) {
    for (const Law law : {Law::total, Law::each})
      add(join("bend, ", name_of(law)), tokens,
          logs(study, law, tokens, retrievals / 2) - 2 * logs(study, law, tokens, retrievals) +
              logs(study, law, tokens, 2 * retrievals));
    add("lack of 1 wide head", tokens, lack(study, tokens));
  }
  if (grows) add("growth of the lack", *many, lack(study, *many) - lack(study, *few));
  return table;
}

Table evidence_table(const Settings& s, const Study& study) {
  const char* over = s.data.empty() ? "data sets" : "pairs of classes";
  Table table(
      "labels by",
      {{.name = "N", .meaning = "targets of a data set", .whole = true},
       {.name = "ln_B",
        .meaning = join("ln Z of 1 head − ln Z of ∞, in nats: mean ± standard error over ", over)},
       {.name = "sd", .meaning = join("standard deviation of ln B over ", s.sets, " data sets")},
       {.name = "for_one", .meaning = "data sets with ln B > 3 nats", .whole = true},
       {.name = "for_many", .meaning = "data sets with ln B < −3 nats", .whole = true},
       {.name = "runs", .meaning = "standard deviation of a run's ln Z, by two runs of each"}});
  for (const Evidence& e : study.evidence) {
    if (std::ssize(e.log_bayes) < s.sets) continue;
    const Tensor b = from_vector(e.log_bayes, {s.sets}), apart = from_vector(e.apart, {s.sets});
    const auto count = [](const Tensor& which) { return sum(cast(which, f64)).item(); };
    table.add({e.truth,
               {{double(e.targets)},
                estimate(mean(reshape(b, {-1, e.groups}), 0).to_vector()),
                {stddev(b).item()},
                {count(b > 3)},
                {count(b < -3)},
                {std::sqrt(mean(square(apart)).item() / 2)}}});
  }
  return table;
}

}  // namespace ladon::example
