// Where a network attends before and after training.

#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/trained_attention/maps.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Where attention looks in an image, before and after training";
constexpr const char* duration = "about 3 s on 2 cores";
constexpr const char* lesson =
    "In an image of nine patches one has a mark, which determines the class; the others are noise. "
    "A kernel's attention is fixed, but that of a trained network may change: is it on the mark, "
    "before and after training? Networks and images are those of gp_classify.";
const std::vector<Trial> trials = {
    {"trained_attention --epochs 80", "after: does attention move to the mark in longer training?"},
    {"trained_attention --train 100",
     "after and accuracy: are few images enough to find the mark?"}};

/// A row for each network: mean over all test images ± standard error.
Table table_of(const std::vector<Watched>& all, std::int64_t images) {
  const auto share = [&](const char* when) {
    return join("attention that the patch of the mark gets ", when, " training, mean over ", images,
                " test images; attention to all alike gives ", 1.0 / 9);
  };
  Table table("network",
              {{"before", share("before")},
               {"after", share("after")},
               {"accuracy", join("share of right answers after training; guessing gives ", 0.25),
                Better::higher}});
  for (const Watched& w : all)
    table.add({w.model,
               {estimate(w.on_mark(w.before)), estimate(w.on_mark(w.after)), estimate(w.right)}});
  return table;
}

bool study(Program& program, const Settings& s) {
  const MarkedTask marked = marked_task(s);
  std::cout << marked.task.description << std::endl;
  std::vector<Watched> all;
  const bool complete = ran_to_the_end([&] {
    Progress progress(2);
    for (const Model& model : classifier_models)
      if (model.attends) all.push_back(watch(model, marked, s, progress));
  });
  const Table table = table_of(all, marked.task.test.size());
  print("Where does a network look?", table);
  program.write({.tables = {{"networks", table}}, .interrupted = !complete});
  if (!all.empty()) draw(s, marked, all.front());
  return complete;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("trained_attention", {summary, duration, lesson, trials}, settings.common);
  program.option("--train", settings.train, "Training images; 0: 400",
                 "Few images teach what the marks are, but not where to attend",
                 whole_number(0, 1'000'000));
  program.option("--test", settings.test, "Test images; 0: 400",
                 "Four times as many halve every standard error", whole_number(0, 1'000'000));
  add_classifier_options(program, settings);
  return program.run(argc, argv, [&] { return study(program, settings); });
}
