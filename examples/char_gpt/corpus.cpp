#include "ladon/examples/char_gpt/corpus.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/text.h"
#include "ladon/core/error.h"

namespace ladon::example {
namespace {

/// Headers and sources of the library, in the order of their names.
std::string own_sources() {
  const std::filesystem::path root = LADON_SOURCE_DIR;
  std::vector<std::filesystem::path> files;
  for (const char* room : {"core", "autograd", "layers", "optim"}) {
    if (!std::filesystem::is_directory(root / room)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / room))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        files.push_back(entry.path());
  }
  LADON_CHECK(!files.empty(), "char_gpt", "there are no sources of Ladon at ", root.string(),
              "; give a text by --text");
  std::sort(files.begin(), files.end());
  std::string text;
  for (const std::filesystem::path& file : files) text += read_text(file.string());
  return text;
}

/// Windows that begin at these places.
Window windows_at(const Tensor& text, const Tensor& starts, std::int64_t context) {
  const Tensor at = flatten(unsqueeze(starts, 1) + arange(context));
  const Shape shape{starts.count(), context};
  return {reshape(index_select(text, 0, at), shape), reshape(index_select(text, 0, at + 1), shape)};
}

}  // namespace

Corpus read_corpus(const std::string& path, std::int64_t context) {
  const std::string text = path.empty() ? own_sources() : read_text(path);
  CharacterVocabulary characters(text);
  const std::vector<std::int64_t> tokens = characters.encode(text);
  const auto count = static_cast<std::int64_t>(tokens.size()), cut = count / 10 * 9;
  LADON_CHECK(count >= 20 * context, "char_gpt", "the text has ", count,
              " characters; with a context of ", context, " give at least ", 20 * context);
  const Tensor all = from_vector(tokens, {count});
  return {path.empty() ? "Ladon's sources" : std::filesystem::path(path).filename().string(),
          std::move(characters), contiguous(slice(all, 0, {.stop = cut})),
          contiguous(slice(all, 0, {.start = cut}))};
}

Window random_windows(const Tensor& text, std::int64_t batch, std::int64_t context,
                      Generator& rng) {
  return windows_at(text, randint({batch}, rng, 0, text.count() - context), context);
}

std::int64_t window_count(const Tensor& text, std::int64_t context) {
  return (text.count() - 1) / context;
}

Window windows_from(const Tensor& text, std::int64_t first, std::int64_t batch,
                    std::int64_t context) {
  const std::int64_t end = std::min(first + batch, window_count(text, context));
  return windows_at(text, arange(end - first) * context + first * context, context);
}

double bigram_loss(const Corpus& corpus) {
  const auto n = static_cast<std::size_t>(corpus.characters.size());
  std::vector<double> pairs(n * n, 1), singles(n, static_cast<double>(n));
  const auto values = [](const Tensor& text) { return text.to_vector<std::int64_t>(); };
  const std::vector<std::int64_t> seen = values(corpus.train), asked = values(corpus.validation);
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
