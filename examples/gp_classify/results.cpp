#include <algorithm>
#include <iostream>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {
namespace {

using Outcomes = std::vector<Outcome>;

/// 1 where the most probable class is the label, else 0: f64 [test].
Tensor right_answers(const Outcome& o, const Task& task) {
  return cast(equal(argmax(o.probabilities, 1), task.test.labels), f64);
}

bool attends(const Outcome& o) { return o.model == "attention" || o.model == "residual"; }

/// Whether the outcomes o and `other` are compared, to answer: does attention help? Is the finite
/// network like its limit?
bool compared(const Outcome& o, const Outcome& other) {
  if (!attends(o) || o.diverged() || other.diverged()) return false;
  if (o.form == "finite") return other.model == o.model && other.form != "finite";
  return !attends(other) && (other.form == o.form || other.form.empty());
}

/// A row for each outcome. Times and memory, which vary from run to run, are the last columns.
Table table_of(const Task& task, const Outcomes& outcomes) {
  std::vector<Column> columns = answer_columns(task);
  columns.push_back({"seconds",
                     "time it took. Kernels: both of a model, which are computed together, then "
                     "the choice of noise and the prediction. Finite networks: training and "
                     "prediction",
                     Better::lower});
  columns.push_back({"peak_mb",
                     "largest resident memory of the whole program, data and all, since the "
                     "model's kernels or its network were begun, in MB of a million bytes",
                     Better::lower});
  Table table("method", columns);
  for (const Outcome& o : outcomes) {
    Row row{o.method(), figures(o, task), o.diverged()};
    row.figures.insert(row.figures.end(), {{o.seconds}, {o.peak_mb}});
    table.add(std::move(row));
  }
  return table;
}

/// Difference in accuracy between two methods, paired over rows of the test set.
struct Comparison {
  std::string method, against;  ///< `against` lacks the form if both forms are equal.
  Difference judged;
};

/// Comparisons of kernels with attention against kernels without attention and against other
/// methods, such as naive Bayes; and of finite networks with attention against the kernels of their
/// own limit. Decisions are corrected for the number of all these comparisons.
std::vector<Comparison> comparisons(const Task& task, const Outcomes& outcomes) {
  std::vector<std::pair<const Outcome*, const Outcome*>> pairs;
  for (const Outcome& o : outcomes)
    for (const Outcome& other : outcomes)
      if (compared(o, other)) pairs.emplace_back(&o, &other);
  std::vector<Comparison> all;
  for (const auto& [o, other] : pairs) {
    const Tensor gain = right_answers(*o, task) - right_answers(*other, task);
    all.push_back({o->method(), other->form == o->form ? other->model : other->method(),
                   judge(gain.to_vector<double>(), static_cast<int>(pairs.size()))});
  }
  return all;
}

/// Text with the comparisons as a table, the smallest difference that this many test rows can
/// detect, and a line for each network that diverged.
std::string verdict(const Task& task, const Outcomes& outcomes,
                    const std::vector<Comparison>& all) {
  std::string text;
  Table differences("difference", {answer_columns(task)[0]});
  double detectable = 0;
  for (const Comparison& c : all) {
    differences.add({c.method + " - " + c.against, {{c.judged.mean.value, c.judged.corrected}}});
    detectable = std::max(detectable, c.judged.detectable);
  }
  if (!all.empty() && std::isfinite(detectable))
    text = join(
        "\nDoes attention help, and is a finite network (trained once) like its limit? Difference "
        "on the same\ntest rows ± half of its 95% interval, simultaneous (t test, Bonferroni over ",
        all.size(), "); clear where larger\n", differences.text(), "smallest difference that ",
        task.test.size(), " test rows detect with 80% power: ", signed_number(detectable).substr(1),
        "; four times as many see half of it\n");
  for (const Outcome& o : outcomes)
    if (o.diverged()) text += o.method() + " diverged; try a smaller --lr\n";
  return text;
}

/// The models that the settings name, or all that suit the task. Throws Error if a named model does
/// not suit it.
std::vector<Model> choose_models(const Task& task, const Settings& s) {
  std::vector<Model> models;
  for (const Model& model : classifier_models) {
    const bool named = std::ranges::find(s.models, model.name) != s.models.end();
    const bool suits = !model.tokens || model.mean || model.flattens(task);
    LADON_CHECK(!named || suits, "gp_classify", "--models must suit the task: the model ",
                model.name, " concatenates patches, so it needs images, but the task is ",
                task.name);
    if (named || (s.models.empty() && suits)) models.push_back(model);
  }
  return models;
}

}  // namespace

std::vector<Column> answer_columns(const Task& task) {
  return classification_columns(task.test.size(), task.classes,
                                "; ± is the standard error from the size of the test set");
}

std::vector<Measured> figures(const Outcome& o, const Task& task) {
  if (o.diverged()) return {{NAN, NAN}, {NAN, NAN}, {NAN}};
  const auto rows = static_cast<double>(task.test.size());
  const double accuracy = metrics::accuracy(o.probabilities, task.test.labels);
  const Tensor losses = -log(gather(o.probabilities, 1, unsqueeze(task.test.labels, 1)));
  return {{accuracy, std::sqrt(accuracy * (1 - accuracy) / rows)},
          {mean(losses).item(), std::sqrt(var(losses).item() / rows)},
          {metrics::ece(o.probabilities, task.test.labels)}};
}

void add_model_options(Program& program, Settings& s) {
  const Check rows = whole_number(0);
  std::vector<std::string> names;
  for (const Model& model : classifier_models) names.emplace_back(model.name);
  program.option("--train", s.train, "Training rows; 0 takes the task's default",
                 "Twice as many take four times the memory, and up to eight times the time", rows);
  program.option("--test", s.test, "Test rows; 0 takes the task's default",
                 "Four times as many halve every standard error", rows);
  program.list("--models", s.models, "Models to compare; by default all that suit the task",
               "Fewer comparisons find smaller differences", one_of(names));
  program.option("--memory-budget", s.memory_budget, "MB that a Gram matrix may take",
                 "Raise it if a run reports that it needs more, and your machine has it",
                 whole_number<std::int64_t>(1, 1'000'000'000));
  program.flag("--finite,!--no-finite", s.finite,
               "Train the finite networks too. Leave them out where the kernels alone matter");
  add_classifier_options(program, s);
  program.check([&s] { refuse_repeated("--models", s.models); });
}

bool compare_models(Program& program, const std::string& name, const Task& task, const Settings& s,
                    Outcomes outcomes) {
  program.setting("task", [&] { return task.name; });
  program.setting("train", [&] { return task.train.size(); });
  program.setting("test", [&] { return task.test.size(); });
  std::cout << task.description << std::endl;
  const bool complete = ran_to_the_end([&] {
    const std::vector<Model> models = choose_models(task, s);
    Progress progress(static_cast<double>(models.size()) * (kernel_steps + s.finite));
    for (const Model& model : models) {
      progress.say(join(model.name, ": ", model.description));
      add_infinite(model, task, s, progress, outcomes);
      if (s.finite) outcomes.push_back(train_finite(model, task, s, progress));
    }
  });
  const Table table = table_of(task, outcomes);
  const std::vector<Comparison> compared = comparisons(task, outcomes);
  if (!table.empty())
    std::cout << '\n'
              << table.text() << '\n'
              << table.explained() << verdict(task, outcomes, compared);
  if (ranks::rank() > 0) return complete;  // all ranks have the same results; rank 0 writes
  auto judged = nlohmann::ordered_json::array();
  for (const Comparison& c : compared) {
    judged.push_back({{"method", c.method}, {"against", c.against}, {"figure", "accuracy"}});
    judged.back().update(as_json(c.judged));
  }
  program.write(
      {.tables = {{"models", table}}, .interrupted = !complete, .more = {{"verdict", judged}}});
  draw(name, s, task, outcomes);
  return complete;
}

}  // namespace ladon::example
