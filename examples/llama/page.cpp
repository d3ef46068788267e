#include "ladon/examples/llama/page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/page/attention.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/particles/diagnostics.h"

namespace ladon::example {

namespace {

/// Mean cosine between the attention maps of two heads in a layer: over pairs that share keys, and
/// over pairs that do not. Every `group` successive heads share keys.
std::pair<double, double> likeness(const std::vector<SeenText>& texts, std::int64_t group) {
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (const SeenText& text : texts)
    for (const LayerMaps& layer : text.layers) {
      const Tensor maps = unsqueeze(layer.weights, 0);  // [1, H, T, T]
      const Tensor all = ones({1, maps.size(2)}, boolean);
      for (std::int64_t h = 0; h < maps.size(1); ++h)
        for (std::int64_t g = 0; g < h; ++g) {
          const Tensor pair = from_vector(std::vector<std::int64_t>{h, g}, {2});
          const int other = h / group != g / group;
          sums[other] += map_redundancy(index_select(maps, 1, pair), all);
          ++counts[other];
        }
    }
  return {sums[0] / counts[0], sums[1] / counts[1]};
}

/// The two cosines in words, "0.41 where …, 0.4 where …", without those that do not exist.
std::string told(const std::vector<SeenText>& texts, std::int64_t group) {
  const auto [same, other] = likeness(texts, group);
  const auto rounded = [](double cosine) { return std::round(100 * cosine) / 100; };
  std::string text;
  if (!std::isnan(same)) text += join(" ", rounded(same), " where they share their keys");
  if (!std::isnan(other))
    text += join(text.empty() ? " " : ", ", rounded(other), " where they do not");
  return text;
}

}  // namespace

Page page(LanguageModel& model, const Lesson& lesson, std::int64_t context) {
  model.eval();
  const std::vector<SeenText> texts =
      seen_texts(model, lesson.text.validation, std::min<std::int64_t>(context, 24),
                 [&](std::int64_t token) { return lesson.tokenizer.tokens()[token]; });
  const MultiHeadAttention& attention = model.body.layers[0].attention;
  const std::int64_t group = attention.heads() / attention.kv_heads();
  std::vector<std::string> heads;
  for (std::int64_t h = 0; h < attention.heads(); ++h)
    heads.push_back(join(h + 1, " (keys ", h / group + 1, ")"));
  return attention_page(
      "Heads that share their keys still look at places of their own",
      join(
          "Attention of this run's small Llama with ", attention.heads(), " heads of queries and ",
          attention.kv_heads(), " of keys, in ", texts.size(), " pieces of ", lesson.name,
          " that it was not trained on. Choose a piece (or type words of it), a layer, a head and a token: "
          "the row of the map is where the head looks from there."),
      {{"question", "Some heads share one head of keys. Do they look at the same tokens?"},
       {"answers",
        {"yes: the keys decide", "no: each has queries of its own",
         "yes, but in the first layer only"}},
       {"right", 1},
       {"because",
        join("Weights are the softmax of queries times keys: keys are shared, queries are not. The "
             "mean cosine of two heads' maps here is",
             told(texts, group), ".")}},
      texts, heads);
}

}  // namespace ladon::example
