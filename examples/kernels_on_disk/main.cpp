// Kernels in memory and on disk, solved directly and by conjugate gradients.

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/kernels_on_disk/tiles.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Kernels larger than memory: exact predictions from tiles on disk";
constexpr const char* duration = "about 5 s on 2 cores";
constexpr const char* lesson =
    "A kernel matrix of N inputs has N² elements, and so has its Cholesky factor. Here the kernel "
    "is stored on disk as tiles; systems are solved by a Cholesky factor on disk as well, or by "
    "conjugate gradients, which bound the error of each prediction. Do the predictions agree with "
    "those of a kernel in memory, and what do they cost? Models and images are those of "
    "gp_classify.";
const std::vector<Trial> trials = {
    {"kernels_on_disk --train 4000 --solvers memory,direct",
     "peak_mb: how much of the kernel's 256 MB do tiles on disk save?"},
    {"kernels_on_disk --model pool --solvers direct,cg",
     "iterations: does a kernel of another model need more?"}};

struct Found {
  std::string solver;
  Solved solved;
};

/// Largest difference between the class probabilities of `one` and those of the first outcome in
/// `all` for the same kernel; NaN if there is none.
double apart(const std::vector<Found>& all, const Outcome& one) {
  for (const auto& [solver, first] : all)
    if (first.outcome.form == one.form)
      return amax(abs(first.outcome.probabilities - one.probabilities)).item();
  return NAN;
}

/// Table of all solvers. Columns that compare solvers, or describe conjugate gradients, are
/// included only if they apply.
Table table_of(const Task& task, const TileSettings& s, const std::vector<Found>& all) {
  const bool compares = s.solvers.size() > 1, iterates = std::ranges::count(s.solvers, "cg") > 0;
  std::vector<Column> columns = answer_columns(task);
  const auto add = [&](const char* name, const char* meaning, bool whole, bool tiny) {
    columns.push_back({name, meaning, Better::lower, whole, tiny});
  };
  if (compares)
    add("apart", "largest difference of a probability to that of the kernel's first row", false,
        true);
  if (iterates) {
    add("iterations", "of conjugate gradients, for all classes at once", true, false);
    add("mean_error",
        "no mean of a test input's outputs is farther from the exact one; outputs are regressed to "
        "values that differ by 1",
        false, true);
    add("variance_error",
        "no variance of a test input is farther from the exact one, as a share of the kernel's "
        "mean diagonal",
        false, true);
  }
  add("seconds",
      "time from the kernel to the prediction. In memory both kernels are computed together; tiles "
      "that were in the folder already take little",
      false, false);
  add("peak_mb",
      "largest resident memory of the whole program, data and all, in MB of a million bytes", false,
      false);
  Table table("kernel", columns);
  for (const auto& [solver, solved] : all) {
    const auto& [outcome, how] = solved;
    Row row{outcome.method() + ", " + solver, figures(outcome, task)};
    if (compares) row.figures.push_back({apart(all, outcome)});
    if (iterates)
      for (const double x : {how.iterations, how.mean_error, how.variance_error})
        row.figures.push_back({x});
    row.figures.insert(row.figures.end(), {{outcome.seconds}, {outcome.peak_mb}});
    table.add(std::move(row));
  }
  return table;
}

/// Draws errors of conjugate gradients: their bounds, and the errors found.
void draw_errors(const TileSettings& s, const Task& task, const std::vector<Found>& all) {
  constexpr const char* names[] = {"means: at most", "variances: at most", "probabilities: found"};
  std::array<std::vector<std::vector<double>>, 3> rows;
  std::vector<std::string> kernels;
  for (const auto& [solver, solved] : all) {
    if (solver != "cg") continue;
    const auto place = static_cast<double>(kernels.size());
    rows[0].push_back({solved.how.mean_error, place - 0.2});
    rows[1].push_back({solved.how.variance_error, place});
    rows[2].push_back({apart(all, solved.outcome), place + 0.2});
    kernels.push_back(solved.outcome.method());
  }
  if (kernels.empty()) return;
  Picture picture(s.common.out, "kernels_on_disk", s.common.panels);
  std::string plots, legend;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    plots += join(i ? ", " : "", picture.data(join("error", i), rows[i]), " using 1:2 with points ",
                  kind(i).points(1.4), " notitle");
    legend +=
        join(i ? ", " : "", "NaN with points ", kind(i).points(1.4), " title '", names[i], "'");
  }
  picture.panel({200, 90, 720, 330}, "",
                join("set xlabel 'difference to the exact answer'\nset logscale x\nset format x "
                     "'%.0e'\nset xrange [1e-10:1e-2]\nset yrange [",
                     kernels.size(), "-0.5:-0.5]\nset ytics ", named_places(kernels), "\nplot ",
                     plots, "\n"));
  picture.legend(legend);
  picture.draw_slide("Conjugate gradients know how far off they are at most", task.description);
}

bool study(Program& program, const TileSettings& s) {
  const Task task = load_task(s);
  std::cout << task.description << std::endl;
  const Model& model = *std::ranges::find(classifier_models, s.model,
                                          [](const Model& each) { return std::string(each.name); });
  const std::filesystem::path folder = s.checkpoint.empty() ? s.common.out / "tiles" : s.checkpoint;
  const auto clear = [&] {
    if (s.checkpoint.empty() && ranks::count() == 1) std::filesystem::remove_all(folder);
  };
  clear();
  std::vector<Found> all;
  const bool complete = ran_to_the_end([&] {
    Progress progress(static_cast<double>(kernel_steps * s.solvers.size()));
    for (const std::string& solver : s.solvers) {
      progress.say(solver + ":");
      if (solver == "memory") {
        std::vector<Outcome> outcomes;
        add_infinite(model, task, s, progress, outcomes);
        for (const Outcome& outcome : outcomes) all.push_back({solver, {outcome}});
      } else {
        for (const KernelForm& form : kernel_forms)
          all.push_back({solver, by_tiles(solver, form, model, task, s, folder, progress)});
      }
    }
  });
  clear();
  const Table table = table_of(task, s, all);
  print("Are the answers those of a kernel in memory?", table);
  if (ranks::rank() > 0) return complete;  // all ranks have the same results; rank 0 writes
  program.write({.tables = {{"kernels", table}}, .interrupted = !complete});
  draw_errors(s, task, all);
  return complete;
}

void add_options(Program& program, TileSettings& s) {
  std::vector<std::string> models;
  for (const Model& model : classifier_models) models.emplace_back(model.name);
  program
      .option("--mnist", s.mnist, "IDX files: images, labels (gzip or not)",
              "Real digits; the first rows train, the last ones test")
      .expected(2);
  program.option("--train", s.train, "Training images; 0: 400, or 4,000 digits",
                 "Twice as many take four times the disk space", whole_number(0));
  program.option("--test", s.test, "Test images; 0: 400, or 2,000 digits",
                 "Their variances take most of the time of conjugate gradients", whole_number(0));
  program.option("--model", s.model, "Model whose kernels are used",
                 "Kernels of models that read patches take longer to compute", one_of(models));
  program.list(
      "--solvers", s.solvers,
      "memory: kernels in memory; direct, cg: tiles on disk, with a Cholesky factor or conjugate "
      "gradients",
      "Leave out memory if kernels do not fit; cg reports bounds of its errors",
      one_of({"memory", "direct", "cg"}));
  program.option("--memory-budget", s.memory_budget,
                 "MB of memory that kernels and factors may take",
                 "Lower it to what the machine has; a larger budget is faster",
                 whole_number<std::int64_t>(1, 1'000'000'000));
  program.option("--checkpoint", s.checkpoint, "Folder in which tiles are kept",
                 "A killed run resumes from kept tiles; without this option tiles are deleted",
                 name_of("a folder"));
  program.check([&s] { refuse_repeated("--solvers", s.solvers); });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  TileSettings settings;
  Program program("kernels_on_disk", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return study(program, settings); });
}
