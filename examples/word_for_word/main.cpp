// Translation word for word: how good translations are by a lexicon that is learned from pairs of
// sentences, without word order.

#include <cmath>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/word_for_word/corpus.h"
#include "ladon/examples/word_for_word/judgement.h"
#include "ladon/examples/word_for_word/lexicon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Translation word for word, and what more pairs cannot teach it";
constexpr const char* duration = "about 1 s";
constexpr const char* lesson =
    "A lexicon is estimated from pairs of sentences: the most probable translation of each word, "
    "by expectation maximization (Model 1 of Brown et al. 1993). It translates in the source's "
    "word order, without agreement. How many words does it get right from few pairs and from many, "
    "and how many runs of four words, which need order? By default the pairs are English and "
    "German from a small grammar. It is the baseline for the Transformer of translate.";
const std::vector<Trial> trials = {
    {"word_for_word --pairs 10000", "fours: do ten times as many pairs teach any order?"},
    {"word_for_word --source train.de --target train.en",
     "words: is one direction easier than the other?"}};

constexpr std::int64_t parts[] = {27, 9, 3, 1};  // a lexicon from 1/27, 1/9, … of the pairs

ParallelText first(const ParallelText& pairs, std::int64_t count) {
  const auto cut = [count](const std::vector<std::string>& all) {
    return std::vector<std::string>(all.begin(), all.begin() + count);
  };
  return {.sources = cut(pairs.sources), .targets = cut(pairs.targets)};
}

void draw(const CorpusSettings& s, const std::string& corpus, const std::vector<double>& pairs,
          const Table& table) {
  Picture picture(s.common.out, "word_for_word", s.common.panels);
  std::string plots;
  constexpr const char* names[] = {"", "words", "runs of four words"};
  constexpr std::size_t figures[] = {1, 2};  // columns of the table
  for (const std::size_t f : figures) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      rows.push_back({pairs[i], table.rows()[i].figures[f].value});
    const std::string file = picture.data(f == 1 ? "words" : "fours", rows);
    plots += join(f == 1 ? "" : ", ", file, " using 1:2 with linespoints ", kind(f - 1).line(),
                  " pt ", kind(f - 1).marker, " ps 1.2 title '", names[f], "'");
  }
  picture.panel(slide, "",
                "set logscale x\nset xlabel 'pairs that the words are counted from'\nset yrange "
                "[0:1]\nset ylabel 'share that stands in the reference'\nset key center right\n"
                "plot " +
                    plots);
  picture.draw_slide("More pairs teach words, and not their order",
                     join(corpus, "; seed ", s.common.seed));
}

bool study(Program& program, const CorpusSettings& s) {
  const Corpus corpus = read_corpus(s);
  const std::int64_t all_pairs = std::ssize(corpus.train.sources);
  std::cout << corpus.name << ": " << all_pairs << " pairs, " << corpus.test.sources.size()
            << " for the test" << std::endl;
  std::vector<Translations> all;
  std::vector<double> pairs;
  const bool complete = ran_to_the_end([&] {
    Progress progress(std::size(parts));
    for (const std::int64_t part : parts) {
      const ParallelText some = first(corpus.train, all_pairs / part);
      pairs.push_back(static_cast<double>(some.sources.size()));
      all.push_back(timed(join(some.sources.size()),
                          [&] { return word_for_word(some, corpus.test.sources); }));
      progress.step("counting");
    }
  });
  const Table table = judged("pairs", all, corpus.test);
  print("What do pairs teach of words, and of their order?", table);
  program.write({.tables = {{"lexicons", table}}, .interrupted = !complete});
  if (!complete) return false;
  std::cout << shown({{"word for word", all.back().texts}}, corpus.test);
  draw(s, corpus.name, pairs, table);
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  CorpusSettings settings;
  Program program("word_for_word", {summary, duration, lesson, trials}, settings.common);
  add_corpus_options(program, settings);
  return program.run(argc, argv, [&] { return study(program, settings); });
}
