// Properties of every layer: it can be saved and loaded, copied and called as a user expects, and
// it has an infinite-width limit if the table says so.

#include "ladon/tests/registry/every_layer.h"

#include <set>
#include <sstream>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::test::every_layer_test {
namespace {

/// The row's layer in evaluation mode, from a seed.
std::unique_ptr<Layer> make(const LayerRow& row, std::uint64_t seed) {
  Generator rng(seed);
  std::unique_ptr<Layer> layer = row.make(rng);
  layer->eval();
  return layer;
}

/// Moves every trained tensor, also those that begin at 0 or 1.
void disturb(Module& layer, std::uint64_t seed) {
  StateDict state = layer.state_dict();
  for (const auto& [name, x] : layer.named_parameters())
    state[name] = x.detach() + cast(gaussian(x.shape(), seed++), x.dtype());
  layer.load_state_dict(state);
}

/// The first tensor in which two states differ, by its name.
std::string difference(const StateDict& a, const StateDict& b) {
  for (const auto& [name, x] : a)
    if (!b.contains(name) || !all_equal(x, b.at(name))) return name;
  return a.size() == b.size() ? "" : "the number of tensors";
}

StateDict values_of(const Module& layer) {
  StateDict values;
  for (const auto& [name, x] : layer.state_dict()) values[name] = clone(x.detach());
  return values;
}

/// Tries every row, without recording.
void every(const std::function<void(const LayerRow&)>& test) {
  const NoGrad off;
  for (const LayerRow& row : every_layer()) {
    SCOPED_TRACE(row.name);
    try {
      test(row);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(EveryLayer, IsSavedAndLoaded) {
  every([](const LayerRow& row) {
    const TemporaryFolder folder;
    const std::string path = folder / "state.safetensors";
    const auto saved = make(row, 1), loaded = make(row, 2);
    disturb(*saved, 3);
    saved->train();
    row.call(*saved);  // statistics of batches are state, too
    saved->eval();
    const Tensor y = row.call(*saved);
    if (!saved->parameters().empty()) {
      EXPECT_FALSE(all_equal(row.call(*loaded), y)) << "nothing is left to be loaded";
    }
    save_safetensors(path, saved->state_dict());
    loaded->load_state_dict(load_safetensors(path));
    EXPECT_EQ(difference(saved->state_dict(), loaded->state_dict()), "");
    EXPECT_TRUE(all_equal(row.call(*loaded), y)) << "the output needs what no state has";
  });
}

/// Gradients by all parameters of Σ⟨c, layer⟩; a function of the layer alone.
std::vector<Tensor> slopes(const Module& layer, const Tensor& y) {
  const std::vector<Tensor> all = layer.parameters();
  return grad({y}, all,
              {.cotangents = {cast(gaussian(y.shape(), 9), y.dtype())}, .allow_unused = true});
}

// Backward runs a checkpointed layer again: it is the same, and whatever it reads of its state is
// not to be edited before.
TEST(EveryLayer, IsCheckpointed) {
  every([](const LayerRow& row) {
    const auto layer = make(row, 1);
    disturb(*layer, 5);
    const EnableGrad on;
    const auto run = [&](const std::vector<Tensor>&) { return row.call(*layer); };
    if (layer->parameters().empty()) return;
    const std::vector<Tensor> plain = slopes(*layer, run({}));
    const std::vector<Tensor> again = slopes(*layer, checkpoint(run, {}));
    std::map<std::string, bool> used;
    const ParameterSet set = layer->named_parameters();
    for (std::size_t i = 0; i < plain.size(); ++i) {
      used[set[i].first] = plain[i].defined();
      ASSERT_EQ(plain[i].defined(), again[i].defined());
      EXPECT_TRUE(!plain[i].defined() || all_close(plain[i], again[i], 1e-5, 1e-6));
    }
    for (const auto& [name, x] : layer->state_dict()) {
      SCOPED_TRACE(name);
      const Tensor before = clone(x);
      const Tensor y = checkpoint(run, {});
      {
        const NoGrad off;
        copy_(x, before);  // the same numbers, as a step of rate 0 leaves them
      }
      bool refused = false;
      try {
        slopes(*layer, y);
      } catch (const Error& error) {
        refused = std::string(error.what()).find("edited in place") != std::string::npos;
        EXPECT_TRUE(refused) << error.what();
      }
      EXPECT_TRUE(refused || !used[name]) << "a step in between is not noticed";
    }
  });
}

TEST(EveryLayer, IsItsFormula) {
  every([](const LayerRow& row) {
    if (!row.formula) return;
    const auto layer = make(row, 1);
    disturb(*layer, 4);
    const Tensor y = row.call(*layer), expected = row.formula(*layer);
    ASSERT_EQ(y.shape(), expected.shape());
    EXPECT_TRUE(all_close(y, expected, 1e-5, 1e-5)) << y << expected;
  });
}

TEST(EveryLayer, IsCalledAsItIsWritten) {
  every([](const LayerRow& row) {
    const auto layer = make(row, 1);
    EXPECT_FALSE(layer->describe().empty());
    const Tensor y = row.call(*layer);
    EXPECT_TRUE(all(isfinite(y)).item<bool>());
    EXPECT_TRUE(all_equal(y, row.forward(*layer)));
  });
}

TEST(EveryLayer, IsInEvaluationWhatItWasBeforeTraining) {
  every([](const LayerRow& row) {
    const auto layer = make(row, 1);
    const Tensor y = row.call(*layer);
    layer->train();
    EXPECT_TRUE(layer->training());
    layer->eval();
    EXPECT_FALSE(layer->training());
    EXPECT_TRUE(all_equal(row.call(*layer), y));
  });
}

/// What is no mask of the positions of x, in dtype or in shape, with what it is.
std::vector<std::pair<std::string, Tensor>> no_masks(const Tensor& x) {
  const bool floating = is_floating(x.dtype());
  const std::int64_t n = x.size(0), t = x.shape().sub(1, x.rank() - (floating ? 1 : 0)).count();
  std::vector<std::pair<std::string, Tensor>> tensors{
      {"a number", scalar(1, f32)},
      {"a time per input", arange(n)},
      {"a condition per input", ones({n, 3})},
      {"another input", ones(x.shape())},
      {"labels of other inputs", zeros({9, 9}, i64)},
      {"bool of inputs", ones({n}, boolean)},
      {"bool of one position more", ones({n, t + 1}, boolean)},
      {"bool of one input more", ones({n + 1, t}, boolean)},
      {"bool of elements", ones({n, t, 1}, boolean)},
      {"integers of positions", ones({n, t}, i64)},
      {"numbers of positions", ones({n, t}, f32)}};
  if (floating && x.rank() == 2) {  // vectors have no positions
    tensors.emplace_back("bool of vectors", ones({n, 1}, boolean));
    tensors.emplace_back("bool of channels", ones(x.shape(), boolean));
  }
  return tensors;
}

// A second tensor that is none would be passed by in silence by every layer that needs no mask.
TEST(EveryLayer, RefusesASecondTensorThatIsNoMask) {
  every([](const LayerRow& row) {
    const auto layer = make(row, 1);
    const Layer& called = *layer;  // as networks call it, of whatever kind it is
    for (const auto& [what, tensor] : no_masks(row.input)) {
      SCOPED_TRACE(what);
      const Tensor& second = tensor;
      EXPECT_THROW(called(row.input, second), Error);
      Sequential net;
      net.append(Sequential(Residual(0.5, Sequential(Identity()))));
      EXPECT_THROW(net(row.input, second), Error);
      Generator rng(1);
      net.append(row.make(rng));
      EXPECT_THROW(net(row.input, second), Error);
    }
  });
}

// A mask of tokens alone changes nothing of a layer that takes one; behind vectors there is none.
TEST(EveryLayer, TakesAMaskOfItsPositions) {
  int masked = 0;
  every([&](const LayerRow& row) {
    const bool floating = is_floating(row.input.dtype());
    const int axes = row.input.rank() - (floating ? 2 : 1);
    if (axes < 1) return;
    const Tensor all =
        ones({row.input.size(0), row.input.shape().sub(1, 1 + axes).count()}, boolean);
    const auto layer = make(row, 1);
    const Layer& called = *layer;
    Tensor plain, y;
    try {
      plain = called(row.input);
      y = called(row.input, all);
    } catch (const Error&) {
      return;  // of two inputs, or it takes no mask
    }
    ++masked;
    EXPECT_TRUE(all_close(y, plain, 1e-6, 1e-6));
    Sequential behind;
    Generator rng(1);
    behind.append(row.make(rng));
    behind.append(Elementwise([](const Tensor& x) { return x; }));
    if (plain.rank() == 2) {
      EXPECT_TRUE(all_equal(behind(row.input, all), behind(row.input)));
    }
  });
  EXPECT_GE(masked, 20);
}

// The numbers are right, but twice as dear as they were meant to be: it is said once.
TEST(EveryLayer, TellsOfF64DataForWeightsOfF32) {
  std::set<std::string> with_weights;
  testing::internal::CaptureStderr();
  every([&](const LayerRow& row) {
    const auto layer = make(row, 1);
    const Layer& called = *layer;
    if (!is_floating(row.input.dtype())) return;
    try {
      called(row.input);
    } catch (const Error&) {
      return;  // of two inputs: its parts are in the table
    }
    std::string who = layer->describe();  // of hooks: the attention that they are in
    who = who.substr(0, who.find('('));
    if (who == "InstanceNorm") who = "GroupNorm";
    if (who == "LowRank") who = "Linear";
    for (const auto& [name, weight] : layer->named_parameters())
      if (name.find('.') == std::string::npos) with_weights.insert(who);
    called(cast(row.input, f64));
    called(cast(row.input, f64));
  });
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(with_weights.empty());
  for (const std::string& name : with_weights) {
    const std::size_t said = text.find("ladon: [" + name + "] the input [");
    EXPECT_NE(said, std::string::npos) << name << " says nothing:\n" << text;
    EXPECT_EQ(text.find("ladon: [" + name + "]", said + 1), std::string::npos) << "once";
  }
  testing::internal::CaptureStderr();
  every([](const LayerRow& row) {  // nothing of f64 models, nor of f32 data
    const auto layer = make(row, 1);
    layer->to(f64);
    row.call(*layer);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(EveryLayer, HasCopiesThatAreTheirOwn) {
  int without = 0;
  every([&](const LayerRow& row) {
    if (!row.copy) {
      ++without;
      return;
    }
    const auto layer = make(row, 1), copy = row.copy(*layer);
    const Tensor y = row.call(*layer);
    const StateDict before = values_of(*layer);
    EXPECT_TRUE(all_equal(row.call(*copy), y));
    disturb(*copy, 5);
    EXPECT_EQ(difference(before, layer->state_dict()), "");
    EXPECT_TRUE(all_equal(row.call(*layer), y));
    if (!layer->parameters().empty()) {
      EXPECT_FALSE(all_equal(row.call(*copy), y));
    }
  });
  EXPECT_EQ(without, 2) << "TaylorExpansion and Linearized own their network";
}

// Nothing is computed in silence by what has lost its tensors, and nothing is saved.
TEST(EveryLayer, IsAnErrorOnceItWasMovedFrom) {
  const TemporaryFolder folder;
  every([&](const LayerRow& row) {
    const auto layer = make(row, 1);
    // A norm without weights is a norm: nothing tells that it had some.
    const bool has_tensors = !layer->state_dict().empty() && !row.name.ends_with("Norm");
    row.move_from(*layer);
    if (!layer->parameters().empty()) return;  // moving copied its handles: it is whole
    if (has_tensors) {
      EXPECT_THROW(row.call(*layer), Error) << "computes without its tensors";
    }
    if (layer->state_dict().empty()) {
      EXPECT_THROW(layer->save(folder / "empty"), Error);
      EXPECT_FALSE(std::filesystem::exists(folder / "empty"));
    }
  });
  Generator rng(1);
  Sequential whole(Linear({.in = 4, .out = 4}, rng)), empty;
  const Sequential taken(std::move(whole));
  const Tensor x = ones({2, 4});
  EXPECT_EQ(taken(x).shape(), Shape({2, 4}));
  for (const Sequential* none : {&whole, &empty}) {  // NOLINT: moved from
    expect_error([&] { (*none)(x); }, "Identity() returns its input");
    expect_error([&] { infinite::limit (*none)(x); }, "Identity() returns its input");
    expect_error([&] { none->save(folder / "empty"); }, "has no tensors to write to");
  }
  EXPECT_TRUE(same_elements(Sequential(Identity())(x), x));
  expect_error([&] { ParameterSet().save(folder / "empty"); }, "the set has no parameters");
}

/// The row's limit of the row's input, and what is printed of it.
std::string derived(const LayerRow& row, std::unique_ptr<Layer> layer) {
  const bool numbers = is_floating(row.input.dtype());
  infinite::Inputs input(numbers ? cast(row.input, f64) : row.input);
  const std::int64_t width = row.input.size(-1);
  if (row.limit == Ends::behind_linear) {
    Generator rng(6);
    layer = std::make_unique<Sequential>(
        Linear({.in = width, .out = width, .parameterization = Parameterization::ntk}, rng),
        std::move(layer));
  }
  const infinite::Limit limit = infinite::limit(*layer);
  const infinite::Kernel k = limit(input);
  for (const Tensor& x : {k.nngp, k.ntk, k.cov1}) EXPECT_TRUE(all(isfinite(x)).item<bool>());
  EXPECT_TRUE(any(not_equal(k.nngp, 0)).item<bool>()) << "the outputs do not depend on the inputs";
  std::ostringstream text;
  text << limit;
  return text.str();
}

TEST(EveryLayer, HasTheLimitOrTheRefusalThatItsRowSays) {
  every([](const LayerRow& row) {
    const std::string name = make(row, 1)->describe();
    if (row.limit != Ends::in_a_refusal) {
      EXPECT_NE(derived(row, make(row, 1)).find("k₀"), std::string::npos);
      return;
    }
    try {
      derived(row, make(row, 1));
      ADD_FAILURE() << "has a limit now: say so in its row";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.find(name) != message.npos || message.find(row.name) != message.npos)
          << "a refusal that does not name " << name << " or " << row.name << ": " << message;
    }
  });
}

}  // namespace
}  // namespace ladon::test::every_layer_test
