// Training by ranks: of one model on parts of each batch, and of an ensemble whose members repel
// each other. Both give the same bits as one process that computes all parts in the order of the
// ranks.

#include <memory>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/state/replace.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/training/data_parallel.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/ranks/checks.h"

namespace ladon::test {
namespace {

constexpr std::int64_t items = 50;
constexpr int steps = 20;

std::unique_ptr<Sequential> network(std::uint64_t seed) {
  Generator rng(seed);
  return std::make_unique<Sequential>(Linear({.in = 8, .out = 16}, rng),
                                      Activation(Nonlinearity::gelu),
                                      Linear({.in = 16, .out = 1}, rng));
}

struct Data {
  Data() {
    Generator rng(7);
    x = normal({items, 8}, rng);
    y = sum(sin(x), 1, keep_dims);
  }
  Tensor x, y;
};

void expect_same_parameters(const Module& a, const Module& b, const char* what) {
  const auto p = a.parameters(), q = b.parameters();
  for (std::size_t i = 0; i < p.size(); ++i) require(same_bits(p[i].detach(), q[i].detach()), what);
}

/// A share of the mean loss.
void backward_of(const Sequential& net, const Data& data, const ranks::Share& s) {
  const auto rows = [&](const Tensor& x) {
    return slice(x, 0, {.start = s.first, .stop = s.last});
  };
  backward(mse_loss(net(rows(data.x)), rows(data.y)) *
           (static_cast<double>(s.last - s.first) / items));
}

void data_parallel() {
  const Data data;
  const auto together = network(static_cast<std::uint64_t>(ranks::rank()));
  broadcast_state(*together);
  const ranks::Share mine = ranks::share_of(items);
  const auto shares = ranks::all_gather(std::as_bytes(std::span(&mine, 1)));
  Adam adam(together->parameters(), {.lr = 0.01});
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    backward_of(*together, data, mine);
    sum_gradients(together->parameters());
    adam.step();
  }
  const ranks::Alone alone;
  const auto single = network(0);
  Adam other(single->parameters(), {.lr = 0.01});
  for (int step = 0; step < steps; ++step) {
    other.zero_grad();
    for (const auto& bytes : shares) {
      ranks::Share share;
      std::memcpy(&share, bytes.data(), sizeof share);
      backward_of(*single, data, share);
    }
    other.step();
  }
  expect_same_parameters(*together, *single, "data-parallel training has the bits of one process");
}

/// A network, a parameter that the last rank alone uses, and one that nobody uses.
struct Parts {
  Parts() {
    all = net->parameters();
    for (const Tensor& x : {of_last, unused}) all.push_back(x);
  }
  void backward_of(const Data& data, const ranks::Share& s) const {
    ParameterSet(all).zero_grad();
    test::backward_of(*net, data, s);
    if (ranks::rank() == ranks::count() - 1) backward(sum(of_last * 2.0));
  }

  std::unique_ptr<Sequential> net = network(3);
  Tensor of_last = zeros({3}).set_requires_grad(), unused = zeros({2}).set_requires_grad();
  std::vector<Tensor> all;
};

/// Sums that begin during the sweep have the bits of those after it, in buckets of any size.
void overlapped() {
  const Data data;
  const ranks::Share mine = ranks::share_of(items);
  const int before = num_threads();
  for (const int threads : {1, 2})
    for (const std::int64_t bucket : {1, 20, 1 << 20}) {
      set_num_threads(threads);
      const Parts together, after;
      OverlappedSum sum(together.all, bucket);
      for (int step = 0; step < 3; ++step) {
        together.backward_of(data, mine);
        sum.finish();
        after.backward_of(data, mine);
        sum_gradients(after.all);
        for (std::size_t i = 0; i < after.all.size(); ++i)
          require(same_bits(together.all[i].grad(), after.all[i].grad()), "the same sums");
      }
      if (ranks::count() == 1) continue;
      require_error([&] { backward_of(*together.net, data, mine); },
                    "gradient of an earlier backward pass", "gradients are cleared first");
    }
  set_num_threads(before);
}

/// A parameter that a layer of every rank, or of the last alone, no longer has: sums of what was
/// held before are an Error in all of them, change no gradient, and can be made anew.
void replaced_parameters() {
  const Data data;
  const ranks::Share mine = ranks::share_of(items);
  for (const bool everywhere : {true, false}) {
    const auto net = network(3);
    const ParameterSet held = net->named_parameters();
    {
      OverlappedSum sum(held);
      Generator rng(5);
      if (everywhere || ranks::rank() == ranks::count() - 1)
        replace(*net, "layers.0", Linear({.in = 8, .out = 16}, rng));
      backward_of(*net, data, mine);
      std::vector<Tensor> before;
      for (const Tensor& p : net->parameters()) before.push_back(clone(p.grad()));
      require_error([&] { sum.finish(); }, "was replaced by replace", "of an overlapped sum");
      require_error([&] { sum_gradients(held); }, "was replaced by replace", "of a set");
      for (std::size_t i = 0; i < before.size(); ++i)
        require(same_bits(net->parameters()[i].grad(), before[i]), "gradients stay");
    }
    std::vector<Tensor> overlapped, after;
    {
      OverlappedSum again(*net);
      net->zero_grad();
      backward_of(*net, data, mine);
      again.finish();
      for (const Tensor& p : net->parameters()) overlapped.push_back(clone(p.grad()));
    }
    net->zero_grad();
    backward_of(*net, data, mine);
    sum_gradients(*net);
    for (const Tensor& p : net->parameters()) after.push_back(p.grad());
    for (std::size_t i = 0; i < after.size(); ++i)
      require(same_bits(overlapped[i], after[i]), "sums made anew");
  }
}

/// Optimizers that divide their state move the parameters as whole ones do.
void divided_state() {
  const Data data;
  const auto together = network(3), whole = network(3);
  const ranks::Share mine = ranks::share_of(items);
  const ParameterSet own = own_parameters(*together);
  Adam adam(own, {.lr = 0.01}), other(whole->parameters(), {.lr = 0.01});
  for (int step = 0; step < steps; ++step)
    for (Sequential* net : {together.get(), whole.get()}) {
      net->zero_grad();
      backward_of(*net, data, mine);
      sum_gradients(net->parameters());
      Optimizer& optimizer = net == whole.get() ? other : adam;
      optimizer.step();
      if (net == together.get()) share_parameters(*net);
    }
  expect_same_parameters(*together, *whole, "the bits of whole optimizers");
  std::int64_t numbers = 0;
  for (const auto& [name, p] : own) numbers += p.count();
  const Tensor all = full({1}, static_cast<double>(numbers), f64);
  ranks::all_reduce(all);
  require(all.item() == 16 * 8 + 16 + 16 + 1, "each parameter is one rank's");
  if (ranks::count() > 1) {
    require(numbers < 16 * 8 + 16 + 16 + 1, "nobody has all");
    require_error([] { own_parameters({parameter(zeros({2}))}); },
                  "ranks cannot divide 1 trained parameters", "each has one at least");
  }
}

/// Parameters of which a rank, or every rank, lacks the gradient, and two dtypes.
void gradients_that_lack() {
  const auto leaf = [](DType type) { return zeros({3}, type).set_requires_grad(); };
  const std::vector<Tensor> p = {leaf(f32), leaf(f64), leaf(f32), leaf(f32)};
  const int r = ranks::rank(), n = ranks::count();
  backward(sum(p[0] * (r + 1.0)));
  backward(sum(p[1] * (r + 1.0)));
  if (r == n - 1) backward(sum(p[3] * 5.0));
  sum_gradients(p);
  require(same_bits(p[0].grad(), full({3}, n * (n + 1) / 2, f32)), "f32 gradients add up");
  require(same_bits(p[1].grad(), full({3}, n * (n + 1) / 2, f64)), "f64 gradients add up");
  require(!p[2].grad().defined(), "what all lack stays so");
  require(same_bits(p[3].grad(), full({3}, 5, f32)), "what one has, all get");
  if (n > 1)
    require_error([&] { sum_gradients(std::vector<Tensor>(p.begin(), p.begin() + 1 + r)); },
                  "has nothing", "numbers of parameters must agree");
}

/// Ranks that bring other parameters than one another to a call, by name, dtype, shape, order or
/// flag, though in sizes that agree: an Error in all of them, and nothing is changed.
void parameters_that_differ() {
  if (ranks::count() == 1) return;
  const bool last = ranks::rank() == ranks::count() - 1;
  const auto leaf = [](const Shape& shape) {
    return full(shape, ranks::rank()).set_requires_grad();
  };
  using Set = std::function<ParameterSet()>;
  const std::vector<std::pair<const char*, Set>> sets = {
      {"names",
       [&] {
         return ParameterSet{{"a", leaf({2})}, {last ? "c" : "b", leaf({2})}};
       }},
      {"order",
       [&] {
         ParameterSet set{{"a", leaf({2})}, {"b", leaf({2})}};
         if (last) std::swap(set[0], set[1]);
         return set;
       }},
      {"shapes",
       [&] {
         return ParameterSet{{"a", leaf(last ? Shape{1, 2} : Shape{2})}, {"b", leaf({2})}};
       }},
      {"number",
       [&] {
         ParameterSet set{{"a", leaf({2})}, {"b", leaf({2})}, {"d", leaf({2})}, {"e", leaf({2})}};
         if (last) set.pop_back();
         return set;
       }},
      {"flags", [&] {
         ParameterSet set{{"a", leaf({2})}, {"b", leaf({2})}, {"c", leaf({2})}, {"d", leaf({2})}};
         if (last) set.choose("b").freeze();
         return set;
       }}};
  for (const auto& [what, make] : sets) {
    const ParameterSet set = make();
    for (auto [name, x] : set)
      if (x.requires_grad()) x.set_grad(full(x.shape(), name[0]));
    require_error([&] { sum_gradients(set); }, "every rank must pass the same entries", what);
    require_error([&] { own_parameters(set); }, "every rank must pass the same entries", what);
    require_error([&] { share_parameters(set); }, "every rank must pass the same entries", what);
    require_error([&] { const OverlappedSum sum(set); }, "every rank must pass the same entries",
                  what);
    for (auto [name, x] : set) {
      require(!x.grad().defined() || same_bits(x.grad(), full(x.shape(), name[0])),
              "gradients stay");
      require(same_bits(x.detach(), full(x.shape(), ranks::rank())), "parameters stay");
    }
  }
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 2}, rng));
  if (last) replace(model, "layers.0", LayerNorm({.dim = 2}));
  require_error([&] { broadcast_state(model); }, "broadcast_state", "states differ");
}

/// What is frozen belongs to nobody, and a rank that moved another's parameter says so.
void divided_state_of_a_part() {
  const auto net = network(3);
  net->choose("layers.0.*").freeze();
  if (net->named_parameters().trained().size() < static_cast<std::size_t>(ranks::count())) return;
  const ParameterSet own = own_parameters(*net);
  require(!own.empty() && own.trained().size() == own.size(), "own parameters are trained ones");
  const Tensor frozen = clone(net->parameters()[0].detach());
  Sgd sgd(own, {.lr = 0.1}), whole(*net, {.lr = 0.1});
  for (auto [name, x] : net->named_parameters().trained()) x.set_grad(ones_like(x));
  sgd.step();
  share_parameters(*net);
  require(same_bits(net->parameters()[0].detach(), frozen), "what is frozen stays");
  if (ranks::count() == 1) return;
  whole.step();
  require_error([&] { share_parameters(*net); },
                "; each rank's optimizer must have own_parameters()",
                "a step on another's own is noticed");
}

/// make(particles) is the method that moves the members.
template <class Make>
std::vector<std::unique_ptr<Sequential>> ensemble(const Data& data, const Make& make) {
  std::vector<std::unique_ptr<Sequential>> models;
  std::vector<Module*> all;
  std::vector<Tensor> parameters;
  for (std::uint64_t i = 0; i < 5; ++i) {
    all.push_back(models.emplace_back(network(i)).get());
    for (const Tensor& p : all.back()->parameters()) parameters.push_back(p);
  }
  auto method = make(particles(all));
  Adam adam(parameters, {.lr = 0.01});
  const ranks::Share mine = ranks::share_of(std::ssize(models));
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    for (std::int64_t i = mine.first; i < mine.last; ++i)
      backward(mse_loss((*models[static_cast<std::size_t>(i)])(data.x), data.y));
    share_gradients(method.particles());
    method.apply();
    adam.step();
  }
  return models;
}

template <class Make>
void ensembles(const Make& make) {
  const Data data;
  const auto together = ensemble(data, make);
  const ranks::Alone alone;
  const auto single = ensemble(data, make);
  for (std::size_t i = 0; i < single.size(); ++i)
    expect_same_parameters(*together[i], *single[i], "an ensemble has the bits of one process");
}

}  // namespace

void check_training() {
  data_parallel();
  overlapped();
  replaced_parameters();
  divided_state();
  divided_state_of_a_part();
  gradients_that_lack();
  parameters_that_differ();
  ensembles([](Particles all) { return Svgd(std::move(all), {.alpha = 0.1}); });
  ensembles([](Particles all) { return Spos(std::move(all), {}, Generator(3)); });
}

}  // namespace ladon::test
