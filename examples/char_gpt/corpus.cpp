#include "ladon/examples/char_gpt/corpus.h"

#include <cmath>
#include <vector>

namespace ladon::example {

Corpus read_corpus(const std::string& path, std::int64_t context) {
  const Text text = text_or_own(path);
  CharacterVocabulary characters(text.content);
  const Split tokens = split(characters.encode(text.content), context, "characters");
  return {text.name, std::move(characters), tokens};
}

double bigram_loss(const Corpus& corpus) {
  const auto n = static_cast<std::size_t>(corpus.characters.size());
  std::vector<double> pairs(n * n, 1), singles(n, static_cast<double>(n));
  const auto values = [](const Tensor& text) { return text.to_vector<std::int64_t>(); };
  const std::vector<std::int64_t> seen = values(corpus.text.train),
                                  asked = values(corpus.text.validation);
  const auto index = [](std::int64_t token) { return static_cast<std::size_t>(token); };
  for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
    ++pairs[index(seen[i]) * n + index(seen[i + 1])];
    ++singles[index(seen[i])];
  }
  double sum = 0;
  for (std::size_t i = 0; i + 1 < asked.size(); ++i)
    sum -= std::log(pairs[index(asked[i]) * n + index(asked[i + 1])] / singles[index(asked[i])]);
  return sum / static_cast<double>(asked.size() - 1);
}

}  // namespace ladon::example
