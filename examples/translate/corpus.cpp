#include "ladon/examples/translate/corpus.h"

#include <algorithm>
#include <filesystem>

#include "ladon/core/error.h"
#include "ladon/examples/translate/grammar.h"

namespace ladon::example {
namespace {

/// Takes the last pairs away.
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

Corpus generated(const Settings& s) {
  constexpr std::int64_t validation = 200, test = 500;
  Generator rng = Generator(s.common.seed).split(1);
  Corpus corpus{"a grammar", grammar_pairs(s.pairs + validation + test, rng), {}, {}};
  corpus.test = cut_off(corpus.train, test);
  corpus.validation = cut_off(corpus.train, validation);
  return corpus;
}

}  // namespace

Corpus read_corpus(const Settings& s) {
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
  LADON_CHECK(corpus.train.sources.size() >= 20 && !corpus.validation.sources.empty(), "translate",
              s.source, " leaves ", corpus.train.sources.size(), " pairs to train on, and ",
              corpus.validation.sources.size(), " for validation; give at least 40 lines");
  return corpus;
}

}  // namespace ladon::example
