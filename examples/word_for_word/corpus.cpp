#include "ladon/examples/word_for_word/corpus.h"

#include <algorithm>
#include <filesystem>

#include "ladon/core/error.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/word_for_word/grammar.h"

namespace ladon::example {
namespace {

/// Removes the last pairs and returns them.
ParallelText cut_off(ParallelText& pairs, std::int64_t count) {
  ParallelText last;
  const auto cut = [count](std::vector<std::string>& from, std::vector<std::string>& to) {
    to.assign(from.end() - count, from.end());
    from.resize(from.size() - static_cast<std::size_t>(count));
  };
  cut(pairs.sources, last.sources);
  cut(pairs.targets, last.targets);
  return last;
}

Corpus generated(const CorpusSettings& s) {
  constexpr std::int64_t validation = 200, test = 500;
  Generator rng = Generator(s.common.seed).split(1);
  Corpus corpus{"a grammar", grammar_pairs(s.pairs + validation + test, rng), {}, {}};
  corpus.test = cut_off(corpus.train, test);
  corpus.validation = cut_off(corpus.train, validation);
  return corpus;
}

}  // namespace

void add_corpus_options(Program& program, CorpusSettings& s) {
  Option source = program.option(
      "--source", s.source, "File of sentences, one per line (default: sentences of a grammar)",
      "With --target, for your own pairs; files may be compressed by gzip", name_of("a file"));
  Option target = program.option("--target", s.target, "File of their translations, line by line",
                                 "Either language may be the source", name_of("a file"));
  source.needs(target);
  target.needs(source);
  program
      .option("--validation", s.validation, "Two files of pairs for validation in training",
              "Without them the last training pairs are taken")
      .expected(2)
      .needs(source);
  program.option("--test", s.test, "Two files of pairs for the test", "As --validation")
      .expected(2)
      .needs(source);
  program
      .option("--pairs", s.pairs, "Number of training pairs from the grammar",
              "Few pairs are memorized, and no rule is learned from them",
              whole_number<std::int64_t>(20, 1'000'000))
      .excludes(source);
}

Corpus read_corpus(const CorpusSettings& s) {
  if (s.source.empty()) return generated(s);
  Corpus corpus{
      std::filesystem::path(s.source).filename(), read_parallel(s.source, s.target), {}, {}};
  const auto held_out = [&](const std::vector<std::string>& files) {
    if (!files.empty()) return read_parallel(files[0], files[1]);
    return cut_off(corpus.train,
                   std::min<std::int64_t>(1000, std::ssize(corpus.train.sources) / 20));
  };
  corpus.test = held_out(s.test);
  corpus.validation = held_out(s.validation);
  LADON_CHECK(corpus.train.sources.size() >= 20, "translate", s.source,
              " must leave at least 20 pairs for training, but leaves ",
              corpus.train.sources.size(), "; give at least 40 lines");
  LADON_CHECK(!corpus.validation.sources.empty(), "translate", s.source,
              " leaves no pair for validation; give at least 40 lines, or a file of pairs by "
              "--validation");
  return corpus;
}

}  // namespace ladon::example
