#include "ladon/examples/common/page/attention.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

// Contents of attention.js, embedded by the build.
extern const char* const attention_page_script;

namespace {

Json as_json(const SeenText& seen) {
  Json layers = Json::array();
  for (const LayerMaps& layer : seen.layers) {
    Json maps = Json::array();
    for (std::int64_t h = 0; h < layer.weights.size(0); ++h)
      maps.push_back(thousandths(select(layer.weights, 0, h)));
    layers.push_back({{"name", layer.name},
                      {"queries", layer.queries},
                      {"keys", layer.keys},
                      {"predicts", layer.predicts},
                      {"maps", maps}});
  }
  return {{"text", seen.text}, {"layers", layers}, {"predicted", seen.predicted}};
}

/// Values by which a test checks the page's function spread(): for each layer, the effective number
/// of keys (exponential of the entropy) to which the last query attends in the first head, as the
/// library computes it.
Json checks_of(const SeenText& seen) {
  Json checks = Json::array();
  for (const LayerMaps& layer : seen.layers) {
    const Tensor row = contiguous(select(select(layer.weights, 0, 0), 0, -1));
    const auto entropy = metrics::predictive_entropy(cast(unsqueeze(row, 0), f64));
    checks.push_back(checked("spread", Json::array({row.to_vector()}), std::exp(entropy[0])));
  }
  return checks;
}

/// The text with bytes that are not UTF-8 replaced, since JSON cannot hold them.
std::string readable(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

SeenText seen(const LanguageModel& model, const std::vector<std::int64_t>& tokens,
              const TokenText& token_text) {
  const NoGrad no_grad;
  const auto length = std::ssize(tokens) - 1;  // the last token is only a target
  const Tensor x = slice(from_vector(tokens, {1, length + 1}), 1, {.stop = length});
  const auto shown = [&](std::int64_t token) { return visible(token_text(token)); };
  SeenText all;
  std::vector<std::string> names;
  for (const std::int64_t token : x.to_vector<std::int64_t>()) {
    all.text += token_text(token);
    names.push_back(shown(token));
  }
  all.text = readable(all.text);
  const Tensor embedded = model.embedding(x);
  const auto maps = model.body.forward_with_weights(
      model.positions ? (*model.positions)(embedded) : embedded, {});
  for (std::size_t i = 0; i < maps.weights.size(); ++i)
    all.layers.push_back(
        {join("layer ", i + 1), names, names, select(maps.weights[i], 0, 0), "next"});
  all.predicted = next_tokens(select(model(x), 0, 0), {tokens.begin() + 1, tokens.end()}, shown);
  return all;
}

}  // namespace

Json thousandths(const Tensor& matrix) {
  Json rows = Json::array();
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    std::vector<std::int64_t> row;
    for (const double number : contiguous(select(matrix, 0, i)).to_vector())
      row.push_back(std::llround(1000 * number));
    while (!row.empty() && row.back() == 0) row.pop_back();
    rows.push_back(row);
  }
  return rows;
}

std::string visible(const std::string& token) {
  std::string all;
  for (std::size_t at = 0; at < token.size();) {
    const char c = token[at];
    const std::size_t count = std::min(token.find_first_not_of(c, at), token.size()) - at;
    const bool few = c != ' ' || count < 3;  // three blanks or more are shown as ␣×count
    all += c == ' ' ? "␣" : c == '\n' ? "⏎" : std::string(1, c);
    if (!few) all += join("×", count);
    at += few ? 1 : count;
  }
  return readable(all);
}

Json next_tokens(const Tensor& logits, const std::vector<std::int64_t>& right,
                 const TokenText& shown) {
  constexpr std::int64_t likely = 5;
  const Tensor all = softmax(logits);
  const ValuesAndIndices best = topk(all, std::min(likely, all.size(1)));
  const auto tokens = best.indices.to_vector<std::int64_t>();
  const auto chances = best.values.to_vector();
  const std::size_t count = tokens.size() / right.size();
  const auto rounded = [](double chance) { return std::round(1e5 * chance) / 1e5; };
  Json places = Json::array();
  for (std::size_t i = 0; i < right.size(); ++i) {
    Json names = Json::array(), of = Json::array();
    for (std::size_t j = i * count; j < (i + 1) * count; ++j) {
      names.push_back(shown(tokens[j]));
      of.push_back(rounded(chances[j]));
    }
    const double chance = at(all, {static_cast<std::int64_t>(i), right[i]}).item();
    places.push_back({{"likely", names},
                      {"chances", of},
                      {"right", shown(right[i])},
                      {"chance", rounded(chance)}});
  }
  return places;
}

std::vector<SeenText> seen_texts(const LanguageModel& model, const Tensor& text,
                                 std::int64_t length, const TokenText& token_text) {
  constexpr std::int64_t pieces = 10;
  const auto tokens = text.to_vector<std::int64_t>();
  const std::int64_t between = std::ssize(tokens) / pieces, spare = between - length - 1;
  std::vector<SeenText> all;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const auto from = tokens.begin() + i * between;
    const auto line = std::find_if(from, from + std::max<std::int64_t>(0, spare),
                                   [&](auto token) { return token_text(token).ends_with('\n'); });
    const auto begin = line - from < spare ? line + 1 : from;
    all.push_back(
        seen(model, {begin, begin + std::min(length + 1, tokens.end() - begin)}, token_text));
  }
  return all;
}

Page attention_page(const std::string& title, const std::string& about, const Json& predict,
                    const std::vector<SeenText>& texts, const std::vector<std::string>& heads) {
  Json all = Json::array();
  for (const SeenText& seen : texts) all.push_back(as_json(seen));
  return {.title = title,
          .about = about,
          .script = attention_page_script,
          .data = {{"predict", predict},
                   {"heads", heads},
                   {"texts", all},
                   {"checks", checks_of(texts.at(0))}}};
}

}  // namespace ladon::example
