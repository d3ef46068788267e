// Random calls of modules and optimizers other than forward() and step(): states, hooks, copies,
// hyper-parameters.

#include "ladon/autograd/graph.h"
#include "ladon/layers/extra/state/torch_layout.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/extra/extra.h"
#include "table.h"

namespace ladon::test {
namespace {

/// An attention whose gradients are cleared in the end.
MultiHeadAttention small_attention(Draw& d, Generator& rng) {
  MultiHeadAttentionOptions options{.dim = 4, .heads = 2};
  options.bias = d.flag();
  options.form.tied = d.chance(0.2);
  if (d.chance(0.3)) options.prior.parameterization = Parameterization::ntk;
  MultiHeadAttention layer(options, rng);
  return layer;
}

/// Takes an entry away, adds one, or puts another tensor in its place; mostly nothing.
StateDict damaged(Draw& d, StateDict state) {
  const std::int64_t kind = d.say(d.below(6));
  if (state.empty() || kind > 3) return state;
  auto entry = state.begin();
  std::advance(entry, d.below(static_cast<std::int64_t>(state.size())));
  if (kind == 0) state.erase(entry);
  if (kind == 1) state["surplus"] = d.tensor();
  if (kind == 2) entry->second = d.tensor();
  if (kind == 3) entry->second = d.near(entry->second.shape()).detach();
  return state;
}

void add_states(CallTable& table) {
  table.add("Module::load_state_dict", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer = small_attention(d, rng);
    layer.load_state_dict(damaged(d, layer.state_dict()));
    return layer(ones({1, 2, 4}));
  });
  table.add("from_torch", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer = small_attention(d, rng);
    from_torch(layer, damaged(d, to_torch(layer)));
    return layer(ones({1, 2, 4}));
  });
  table.add("Optimizer::load_state_dict", [](Draw& d) {
    const Tensor x = parameter(ones({2, 3}));
    Adam adam({x});
    if (d.flag()) {
      backward(sum(x * x));
      adam.step();
    }
    adam.load_state_dict(damaged(d, adam.state_dict()));
    return x.detach();
  });
}

void add_copies(CallTable& table) {
  table.add("Layer::register_forward_hook", [](Draw& d) {
    Generator rng(d.seed());
    Linear layer({.in = 2, .out = 2}, rng);
    const Tensor other = d.tensor();
    HookHandle handle = layer.register_forward_hook([other](const Tensor&) { return other; });
    const Tensor y = layer(d.near({3, 2}));
    handle.remove();
    return Tensors{y, clone(layer)(ones({1, 2})).detach()};
  });
  table.add("Module::set_hyperparameter", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer = small_attention(d, rng);
    const auto path = d.one_of<std::string>({"query_key_std", "value_output_std", "bias_std", ""});
    layer.set_hyperparameter(path, d.chance(0.7) ? scalar(d.number(), f64) : d.tensor());
    return layer(d.near({1, 2, 4}));
  });
  table.add("Module::summary", [](Draw& d) {
    Generator rng(d.seed());
    Sequential net(Linear({.in = 2, .out = 4}, rng), small_attention(d, rng));
    const Tensor y = d.floating(), x = d.near({2, 3, 2});
    return net.summary().size() + net.unlisted(y).size() + net.summary(x).size();
  });
}

}  // namespace

void add_module_calls(CallTable& table) {
  add_states(table);
  add_copies(table);
}

}  // namespace ladon::test
