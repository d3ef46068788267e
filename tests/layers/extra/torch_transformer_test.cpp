// An encoder–decoder with the parameter names of PyTorch's nn.Transformer, compared with loops over
// plain numbers that read the same names (norm_first = false and true; torch.nn.modules.transformer
// documents what it computes).

#include <gtest/gtest.h>

#include <filesystem>

#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/extra/state/torch_layout.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/layers/plain_loops.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::torch_transformer_test {
namespace {

using namespace test::plain;

constexpr int dim = 12, heads = 3, hidden = 20, source_words = 7, target_words = 9;

Names shapes() {
  Names names = {{"source.weight", {source_words, dim}},
                 {"target.weight", {target_words, dim}},
                 {"out.weight", {target_words, dim}},
                 {"out.bias", {target_words}}};
  const auto add = [&](const std::string& name, const Shape& weight) {
    names.push_back({name + "weight", weight});
    names.push_back({name + "bias", {weight[0]}});
  };
  const auto add_layer = [&](const std::string& layer, std::vector<std::string> attentions) {
    for (const std::string& attention : attentions) {
      add(layer + attention + ".in_proj_", {3 * dim, dim});
      add(layer + attention + ".out_proj.", {dim, dim});
    }
    add(layer + "linear1.", {hidden, dim});
    add(layer + "linear2.", {dim, hidden});
    for (std::size_t i = 0; i <= attentions.size(); ++i)
      add(layer + "norm" + std::to_string(i + 1) + ".", {dim});
  };
  for (const char* i : {"0.", "1."}) {
    add_layer(std::string("transformer.encoder.layers.") + i, {"self_attn"});
    add_layer(std::string("transformer.decoder.layers.") + i, {"self_attn", "multihead_attn"});
  }
  add("transformer.encoder.norm.", {dim});
  add("transformer.decoder.norm.", {dim});
  return names;
}

/// One layer, or the whole model, by the names that begin with `prefix`.
struct Torch {
  Weights w;
  bool norm_first;
  std::string prefix = "";

  Torch below(const std::string& name) const { return {w, norm_first, prefix + name + "."}; }
  Row map(const Row& x, const std::string& name) const {
    return affine(x, w.matrix(prefix + name + "weight"), w.vector(prefix + name + "bias"), true);
  }
  Row norm(const Row& x, const std::string& name) const {
    return normalized(x, w.vector(prefix + name + ".weight"), w.vector(prefix + name + ".bias"));
  }
  Rows norms(Rows x, const std::string& name) const {
    for (Row& row : x) row = norm(row, name);
    return x;
  }

  /// x + branch(norm(x)), or norm(x + branch(x)).
  template <class F>
  Rows around(const Rows& x, const std::string& name, const F& branch) const {
    Rows y = branch(norm_first ? norms(x, name) : x);
    for (std::size_t t = 0; t < x.size(); ++t) y[t] = plus(x[t], y[t]);
    return norm_first ? y : norms(y, name);
  }
  Rows attend(const Rows& x, const Rows& memory, const std::string& name, Attended how) const {
    const Torch layer = below(name);
    Rows q, k, v;
    for (const Row& row : x) q.push_back(part({layer.map(row, "in_proj_")}, 0, dim)[0]);
    for (const Row& row : memory) {
      const Row all = layer.map(row, "in_proj_");
      k.push_back(part({all}, dim, 2 * dim)[0]);
      v.push_back(part({all}, 2 * dim, 3 * dim)[0]);
    }
    Rows y = attended(q, k, v, how);
    for (Row& row : y) row = layer.map(row, "out_proj.");
    return y;
  }
  Rows feed(Rows x) const {
    for (Row& row : x) {
      row = map(row, "linear1.");
      for (double& v : row)
        v = norm_first ? v / 2 * std::erfc(-v / std::sqrt(2.0)) : std::max(v, 0.0);
      row = map(row, "linear2.");
    }
    return x;
  }

  /// norm_first goes with GELU here, its opposite with ReLU. Sources from `tokens` on are padding.
  Rows logits(const std::vector<int>& source, const std::vector<int>& target,
              std::size_t tokens) const {
    const Attended past{.heads = heads};
    const Attended there{.heads = heads,
                         .sees = [=](std::size_t, std::size_t s) { return s < tokens; }};
    const auto embedded = [&](const std::vector<int>& text, const char* name) {
      Rows x;
      for (const int token : text) x.push_back(w.matrix(name)[std::size_t(token)]);
      return x;
    };
    Rows memory = embedded(source, "source.weight"), x = embedded(target, "target.weight");
    for (const char* i : {"0", "1"}) {
      const Torch layer = below(std::string("transformer.encoder.layers.") + i);
      memory = layer.around(memory, "norm1",
                            [&](const Rows& y) { return layer.attend(y, y, "self_attn", there); });
      memory = layer.around(memory, "norm2", [&](const Rows& y) { return layer.feed(y); });
    }
    memory = norms(memory, "transformer.encoder.norm");
    for (const char* i : {"0", "1"}) {
      const Torch layer = below(std::string("transformer.decoder.layers.") + i);
      x = layer.around(x, "norm1",
                       [&](const Rows& y) { return layer.attend(y, y, "self_attn", past); });
      x = layer.around(x, "norm2", [&](const Rows& y) {
        return layer.attend(y, memory, "multihead_attn", there);
      });
      x = layer.around(x, "norm3", [&](const Rows& y) { return layer.feed(y); });
    }
    for (Row& row : x) row = map(norm(row, "transformer.decoder.norm"), "out.");
    return x;
  }
};

/// A model of a user's, with the members of a PyTorch program.
struct Seq2Seq : Module {
  Embedding source, target;
  Transformer transformer;
  Linear out;

  Seq2Seq(bool norm_first, Generator& rng)
      : source({.count = source_words, .dim = dim}, rng),
        target({.count = target_words, .dim = dim}, rng),
        transformer(
            {.layer = {.dim = dim,
                       .heads = heads,
                       .hidden = hidden,
                       .norm_placement = norm_first ? NormPlacement::pre : NormPlacement::post,
                       .activation = norm_first ? Nonlinearity::gelu : Nonlinearity::relu},
             .encoder_layers = 2,
             .decoder_layers = 2,
             .final_norm = true},
            rng),
        out({.in = dim, .out = target_words}, rng) {}
  Tensor forward(const Tensor& x, const Tensor& y, const Tensor& tokens) const {
    return out(transformer(source(x), target(y), tokens));
  }
  void visit(Visitor& v) override {
    v("source", source);
    v("target", target);
    v("transformer", transformer);
    v("out", out);
  }
  std::string describe() const override { return "Seq2Seq"; }
};

TEST(TorchLayout, LoadsNnTransformerByItsNames) {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "model.safetensors").string();
  const std::vector<int> source = {3, 1, 4, 1, 5, 2, 6}, target = {2, 7, 1, 8, 2};
  const Tensor tokens = less(unsqueeze(arange(7), 0), 5);  // the last two are padding
  for (const bool norm_first : {false, true}) {
    const StateDict state = drawn(shapes(), 2);
    save_safetensors(path, state);

    Generator rng(1);
    Seq2Seq model(norm_first, rng);
    from_torch(model, load_safetensors(path));
    model.to(f64);
    model.eval();

    const Tensor logits = model.forward(tokens_of(source), tokens_of(target), tokens);
    const Rows expected = Torch{Weights(state), norm_first}.logits(source, target, 5);
    EXPECT_LT(largest_error(logits, expected), 1e-10);
  }
}

}  // namespace
}  // namespace ladon::torch_transformer_test
