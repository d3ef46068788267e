#include "ladon/examples/repulsive_sentences/sentences.h"

#include "ladon/core/text/glove.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t generated = 480;

const std::string& any(const Words& words, Generator& rng) {
  return words[static_cast<std::size_t>(rng.below(std::ssize(words)))];
}

TextDataset grammar(Generator& rng) {
  static const std::vector<Words> nouns = {
      {"king", "actor", "author", "pilot", "doctor", "singer", "painter", "poet"},
      {"city", "river", "island", "country", "harbour", "street", "mountain", "lake"},
      {"year", "day", "month", "hour", "decade", "century", "season", "week"},
      {"price", "distance", "speed", "weight", "height", "age", "share", "depth"},
      {"animal", "stone", "fruit", "ship", "drink", "tree", "metal", "instrument"},
      {"reason", "purpose", "cause", "rule", "law", "custom", "belief", "idea"}};
  static const Words asks = {"what", "which", "tell me what", "name the"},
                     verbs = {"did", "saw", "found", "left", "made", "gave", "lost", "wanted"},
                     joins = {"of the", "near the", "after the", "with the", "before the"};
  const auto noun = [&] { return any(nouns[static_cast<std::size_t>(rng.below(6))], rng); };
  TextDataset all{.texts = {},
                  .labels = {},
                  .label_names = {"person", "place", "time", "number", "thing", "thought"}};
  for (std::int64_t i = 0; i < generated; ++i) {
    const std::int64_t label = rng.below(6);
    std::string text;
    for (std::int64_t n = rng.below(3); n > 0; --n)  // clauses before and after
      text += join("the ", noun(), ' ', any(verbs, rng), " the ", noun(), " , ");
    text += join(any(asks, rng), ' ', any(nouns[static_cast<std::size_t>(label)], rng));
    for (std::int64_t n = rng.below(3); n > 0; --n) text += join(' ', any(joins, rng), ' ', noun());
    all.texts.push_back(join(text, ' ', any(verbs, rng), " the ", noun(), " ?"));
    all.labels.push_back(label);
  }
  return all;
}

TextDataset read(const Settings& s) {
  if (s.format == "lines") return read_lines(s.data);
  TextDataset all;
  for (const std::string& file : s.data) {
    const TextDataset more = read_trec(file, all.label_names);
    all.texts.insert(all.texts.end(), more.texts.begin(), more.texts.end());
    all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
    all.label_names = more.label_names;
  }
  return all;
}

}  // namespace

TextDataset Sentences::choose(const std::vector<std::int64_t>& indices) const {
  TextDataset chosen{.texts = {}, .labels = {}, .label_names = texts.label_names};
  for (const std::int64_t i : indices) {
    chosen.texts.push_back(texts.texts[static_cast<std::size_t>(i)]);
    chosen.labels.push_back(texts.labels[static_cast<std::size_t>(i)]);
  }
  return chosen;
}

Sentences sentences(const Settings& s, Generator rng) {
  Sentences all{.texts = s.format == "generated" ? grammar(rng) : read(s),
                .vocabulary = Vocabulary(),
                .word_vectors = {}};
  all.vocabulary = Vocabulary::from_texts(all.texts.texts, {.min_count = 2});
  constexpr double unknown_scale = 0.1;  // of words without a vector, against those with one
  if (!s.glove.empty())
    all.word_vectors =
        embedding_table(all.vocabulary, read_glove(s.glove), rng, unknown_scale).weights;
  return all;
}

}  // namespace ladon::example
