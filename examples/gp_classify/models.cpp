#include "ladon/examples/gp_classify/models.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::example {
namespace {

/// The layers of all models, in NTK parameterization. `in` is the width of what comes in so far; at
/// infinite width it plays no part.
class Builder {
 public:
  Builder(std::int64_t in, std::int64_t width, const Task& task, const Settings& settings,
          Generator& rng)
      : in_(in), width_(width), task_(task), settings_(settings), rng_(rng) {}

  Builder& linear(std::int64_t out) {
    net_.append(Linear({.in = in_,
                        .out = out,
                        .parameterization = Parameterization::ntk,
                        .weight_std = std::sqrt(settings_.weight_variance),
                        .bias_std = std::sqrt(settings_.bias_variance)},
                       rng_));
    in_ = out;
    return *this;
  }
  /// A linear map and a ReLU; on sequences, of each token by itself.
  Builder& hidden() {
    linear(width_);
    net_.append(Activation(Nonlinearity::relu));
    return *this;
  }
  /// Attention of every token to all; with weight `kept` of the tokens as they were (Residual).
  Builder& attention(double kept) {
    MultiHeadAttentionOptions options{
        .dim = in_,
        .heads = heads,
        .head_dim = width_,
        .form = {.scaling = AttentionScaling::linear, .tied = true},
        .prior = {.parameterization = Parameterization::ntk, .query_key_std = settings_.sharpness}};
    // An image's patches get positions in two dimensions: near ones attend to each
    // other more. The words of a review are a set.
    if (task_.images())
      options.positions = {.encoding = {.grid = {task_.rows, task_.columns},
                                        .in = in_,
                                        .correlation = decaying_correlation(settings_.decay)}};
    MultiHeadAttention layer(options, rng_);
    if (kept > 0)
      net_.append(Residual(kept, std::move(layer)));
    else
      net_.append(std::move(layer));
    return *this;
  }
  /// Images: patches side by side. Reviews, of unequal length: the mean of the tokens.
  Builder& read_out() { return task_.images() ? flatten() : mean_positions(); }
  Builder& flatten() {
    net_.append(Flatten());
    in_ *= task_.rows * task_.columns;
    return *this;
  }
  Builder& mean_positions() {
    net_.append(MeanPositions());
    return *this;
  }
  Sequential classes() {
    linear(task_.classes());
    return std::move(net_);
  }

 private:
  // Under linear scaling the limit is the same for any number of heads.
  static constexpr std::int64_t heads = 2;

  std::int64_t in_, width_;
  const Task& task_;
  const Settings& settings_;
  Generator& rng_;
  Sequential net_;
};

struct Entry {
  const char *name, *description;
  bool tokens, images, reviews;  // What it sees, and which tasks it suits.
  Builder& (*hidden_layers)(Builder& build, const Settings& settings);
};

// What all token models share is two layers of each token by itself and one of what is read out;
// they differ in how they read the tokens out.
constexpr Entry entries[] = {
    {"linear", "no hidden layer", false, true, true,
     [](Builder& build, const Settings&) -> Builder& { return build; }},
    {"dense", "3 hidden layers of the whole input", false, true, true,
     [](Builder& build, const Settings&) -> Builder& { return build.hidden().hidden().hidden(); }},
    {"flatten", "patches side by side", true, true, false,
     [](Builder& build, const Settings&) -> Builder& {
       return build.hidden().hidden().flatten().hidden();
     }},
    {"pool", "the mean of the tokens", true, true, true,
     [](Builder& build, const Settings&) -> Builder& {
       return build.hidden().hidden().mean_positions().hidden();
     }},
    {"attention", "attention, then patches side by side (or the mean of the words)", true, true,
     true,
     [](Builder& build, const Settings&) -> Builder& {
       return build.hidden().hidden().attention(0).read_out().hidden();
     }},
    {"residual", "the same with part of the tokens kept as they were", true, true, true,
     [](Builder& build, const Settings& s) -> Builder& {
       return build.hidden().hidden().attention(s.kept).read_out().hidden();
     }},
};

bool suits(const Entry& entry, const Task& task) {
  return task.images() ? entry.images : entry.reviews;
}

Model model_of(const Entry& entry, const Task& task, const Settings& settings) {
  const infinite::Inputs& inputs = entry.tokens ? task.train.tokens : task.train.dense;
  return {entry.name, entry.description, entry.tokens,
          [&entry, &task, &settings, in = inputs.x.size(-1)](std::int64_t width, Generator& rng) {
            Builder build(in, width, task, settings, rng);
            return entry.hidden_layers(build, settings).classes();
          }};
}

/// The attention that a layer is, or wraps; else null.
const MultiHeadAttention* attention_in(const Layer& layer) {
  if (const auto* residual = dynamic_cast<const Residual*>(&layer))
    return attention_in(*residual->branch);
  return dynamic_cast<const MultiHeadAttention*>(&layer);
}

}  // namespace

Tensor attention_on_patches(const Sequential& net, const Tensor& images) {
  const NoGrad no_grad;
  Tensor x = images;
  for (const auto& layer : net.layers) {
    if (const auto* attention = attention_in(*layer)) {
      const Tensor tokens = flatten(x, 1, 2);
      const auto seen = attention->forward_with_weights(tokens, tokens, tokens);
      // [N, heads, patches that attend, patches] → [N, patches]
      const Tensor shares = mean(mean(cast(seen.weights, f64), 1), 1);
      return reshape(shares, {x.size(0), x.size(1), x.size(2)});
    }
    x = (*layer)(x);
  }
  return {};
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

std::vector<Model> choose_models(const Task& task, const Settings& settings) {
  const auto& wanted = settings.models;
  std::vector<Model> models;
  for (const Entry& entry : entries) {
    const bool named = std::find(wanted.begin(), wanted.end(), entry.name) != wanted.end();
    LADON_CHECK(!named || suits(entry, task), "gp_classify", "the model ", entry.name,
                " does not suit the task ", task.name);
    if (named || (wanted.empty() && suits(entry, task)))
      models.push_back(model_of(entry, task, settings));
  }
  return models;
}

}  // namespace ladon::example
