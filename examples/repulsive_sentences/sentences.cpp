#include "ladon/core/extra/text/glove.h"
#include "ladon/examples/repulsive_sentences/fit.h"

namespace ladon::example {
namespace {

using Words = std::vector<std::string>;

TextDataset grammar(Generator& rng) {
  static const std::vector<Words> nouns = {
      {"king", "actor", "author", "pilot", "doctor", "singer", "painter", "poet"},
      {"city", "river", "island", "country", "harbour", "street", "mountain", "lake"},
      {"year", "day", "month", "hour", "decade", "century", "season", "week"},
      {"animal", "stone", "fruit", "ship", "drink", "tree", "metal", "instrument"}};
  static const Words frames = {"what # of the * saw the *",
                               "the * left the * , which # was it",
                               "name the # near the * of the *",
                               "tell me what # the * found",
                               "after the * , what # did the * of the * lose",
                               "with the * of the * , which # left the * and the *"};
  const auto any = [&](const auto& list) -> const auto& {
    return list[rng.below(std::ssize(list))];
  };
  TextDataset all{.texts = {}, .labels = {}, .label_names = {"person", "place", "time", "thing"}};
  constexpr std::int64_t count = 480;
  while (std::ssize(all.texts) < count) {
    all.labels.push_back(rng.below(std::ssize(nouns)));
    std::string& text = all.texts.emplace_back();
    for (const char c : any(frames))  // #: the noun asked for; *: any noun
      text += c == '#'   ? any(nouns[all.labels.back()])
              : c == '*' ? any(any(nouns))
                         : std::string(1, c);
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
    chosen.texts.push_back(texts.texts[i]);
    chosen.labels.push_back(texts.labels[i]);
  }
  return chosen;
}

Sentences sentences(const Settings& s, Generator rng) {
  Sentences all{.texts = s.format == "generated" ? grammar(rng) : read(s),
                .vocabulary = Vocabulary(),
                .word_vectors = {}};
  all.vocabulary = Vocabulary::from_texts(all.texts.texts, {.min_count = 2});
  constexpr double unknown_scale = 0.1;  // scale of the embedding of words without a vector
  if (!s.glove.empty())
    all.word_vectors =
        embedding_table(all.vocabulary, read_glove(s.glove), rng, unknown_scale).weights;
  return all;
}

}  // namespace ladon::example
