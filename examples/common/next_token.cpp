#include "ladon/examples/common/next_token.h"

#include <algorithm>
#include <filesystem>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/text/text.h"

namespace ladon::example {
namespace {

/// The sources in the repository, concatenated, or the installed headers if there are no sources.
std::string own_sources() {
  std::filesystem::path root = LADON_SOURCE_DIR;
  if (!std::filesystem::is_directory(root / "core")) root = LADON_HEADERS;
  std::vector<std::filesystem::path> files;
  for (const char* room : {"core", "autograd", "layers", "optim"}) {
    if (!std::filesystem::is_directory(root / room)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / room))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        files.push_back(entry.path());
  }
  LADON_CHECK(!files.empty(), "text", "the default text, Ladon's sources, is missing at ",
              root.string(), "; give a text by --text");
  std::sort(files.begin(), files.end());
  std::string text;
  for (const std::filesystem::path& file : files) text += read_text(file.string());
  return text;
}

/// Windows of the text that begin at these positions.
Window windows_at(const Tensor& text, const Tensor& starts, std::int64_t context) {
  const Tensor at = flatten(unsqueeze(starts, 1) + arange(context));
  const Shape shape{starts.count(), context};
  return {reshape(index_select(text, 0, at), shape), reshape(index_select(text, 0, at + 1), shape)};
}

}  // namespace

Text text_or_own(const std::string& path) {
  if (path.empty()) return {"Ladon's sources", own_sources()};
  return {std::filesystem::path(path).filename().string(), read_text(path)};
}

Split split(const std::vector<std::int64_t>& tokens, std::int64_t context, const char* what) {
  const auto count = static_cast<std::int64_t>(tokens.size()), cut = count / 10 * 9;
  LADON_CHECK(count >= 20 * context, "text", "the text has ", count, " ", what,
              ", too few for a context of ", context, "; give at least ", 20 * context);
  const Tensor all = from_vector(tokens, {count});
  return {contiguous(slice(all, 0, {.stop = cut})), contiguous(slice(all, 0, {.start = cut}))};
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

double loss_on(const LanguageModel& model, const Tensor& text, std::int64_t context) {
  constexpr std::int64_t at_once = 64;
  const NoGrad no_grad;
  const std::int64_t windows = window_count(text, context);
  double sum = 0, count = 0;
  for (std::int64_t first = 0; first < windows; first += at_once) {
    const Window w = windows_from(text, first, at_once, context);
    const auto here = static_cast<double>(w.y.count());
    sum += here * cross_entropy(model(w.x), w.y).item();
    count += here;
  }
  return sum / count;
}

}  // namespace ladon::example
