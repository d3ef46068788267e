// All calls that the tables "in use" in the README.md of folders show, in the same words; a test
// compares the two.

#include <memory>
#include <vector>

#include "expect.h"
#include "ladon/ladon.h"

using namespace ladon;
using List = std::vector<Tensor>;

namespace {

void use(const Tensor& x) {
  if (!x.defined()) detail::fail("in_use", "a call gave nothing");
}
template <class T>
void use(const T&) {}

void tensors(Generator& rng) {
  const std::vector<double> v{1, 2, 3, 4, 5, 6};
  use(from_vector(v, {2, 3}));
  use(tensor({1, 2, 3}, f64));
  use(scalar(1, f64));
  use(zeros({2, 3}));
  use(arange(6));
  use(normal({2, 3}, rng, f64));
  use(uniform({4}, rng, -1, 1));
  use(randint({4}, rng, 0, 9));
  const Tensor x = normal({3, 4}, rng), a = x, b = x + 1;
  use(cast(x, f64));
  use(clone(x));
  use(sum(x).item());
  use(x.to_vector());
  use(equal(a, b));
  use(a < b);
  use(amax(x));
  use(max(x, -1).values);
  use(argmax(x));
  use(at(x, {0, {1, 3}}));
  use(slice(x, 1, {0, 2}));
  use(select(x, 0, -1));
  use(concat({a, b}, 0));
  const Tensor y = arange(3);
  use(tensor_loader({x, y}, {.batch_size = 2}, rng).next());
  const std::string text = "hydra, hydra, hydra";
  const CharacterVocabulary characters = CharacterVocabulary(text);
  const std::vector<std::int64_t> tokens = characters.encode(text);
  auto windows = window_loader(tokens, 8, 4, {.batch_size = 2}, rng);
  use(windows.next().inputs);
}

void derivatives(Generator& rng) {
  Tensor w = normal({3}, rng, f64);
  w.set_requires_grad();
  const Tensor x = normal({3}, rng, f64), t = ones({3}, f64), c = ones({3}, f64);
  const auto f = [](const List& in) { return tanh(in[0]); };
  const auto g = [](const Tensor& in) { return sum(tanh(in)); };
  use(x.detach());
  const Tensor a = normal({2, 3}, rng), b = normal({4, 3}, rng);
  use(matmul(a, transpose(b)));
  backward(sum(w * x));
  use(w.grad());
  const Tensor z = sum(square(w * x));
  use(grad(z, w));
  use(grad({sum(w * w)}, {w}, {.create_graph = true})[0]);
  use(jvp(f, {x}, {t}).tangent);
  use(vjp(f, {x}, c).gradients[0]);
  use(jacobian(f, {x})[0]);
  use(hvp(g, x, t));
  const Tensor rows = normal({5, 3}, rng, f64), labels = rows;
  const auto product = [](const List& in) { return sum(in[0] * in[1]); };
  use(vmap(product, {rows, x}, {0, unmapped}));
  const auto loss = [&](const List& in) { return sum(square(in[0] * w - in[1])); };
  use(per_example_gradients(loss, {rows, labels}, {w})[0]);
  use(gradcheck(f, {w}));
  use(gradgradcheck(f, {w}));
  NoGrad no_grad;
}

void models(Generator& rng) {
  TransformerEncoder model({.layer = {.dim = 8, .heads = 2}, .layers = 2}, rng);
  const Tensor x = normal({2, 5, 8}, rng), mask = ones({2, 5}, boolean);
  use(model(x, mask));
  use(model.layers[0].attention->forward_with_weights(x, x, x, causal() & padding(mask)));
  model.train();
  model.eval();
  use(model.summary(x));
  use(model.choose("layers.1.*").count());
  model.freeze();
  model.choose("layers.1.*").thaw();
  model.save("in_use.safetensors");
  use(model.load("in_use.safetensors", {.strict = false}).missing);
  LowRankUpdate queries(model.choose("*.attention.query"), {.rank = 2}, rng);
  use(functional_call(model, queries.set, queries.values(), [&] { return model(x); }));
  use(add_low_rank(model, "*.expand", {.rank = 2}, rng));
  use(merge_low_rank(model));

  Sequential mlp(Linear({.in = 8, .out = 4}, rng), Activation(Nonlinearity::gelu),
                 Dropout(0.1, rng));
  const std::vector<Sequential> members{clone(mlp), clone(mlp)};
  use(functional_call(mlp, mlp.parameters(), x));
  use(vmap([&](const List& w) { return functional_call(mlp, w, x); }, stack_parameters(members)));
  use(MaxPool({.window = {2, 2}})(normal({2, 6, 6, 3}, rng)));
  use(Conv2d({.in = 3, .out = 4, .window = {3, 3}}, rng)(normal({2, 6, 6, 3}, rng)));
  use(MaxPositions()(x, mask));

  const LanguageModel language(gpt2(20, 1, 8, 2, 16), rng);
  const Tensor prompt = randint({2, 3}, rng, 0, 20);
  const auto show = [](std::int64_t row, std::int64_t token) { return row >= 0 && token >= 0; };
  const NextToken next = next_token(language);
  clone(language).eval();
  LanguageModel quiet = clone(language);
  quiet.eval();
  use(generate(next_token(quiet), prompt, {.length = 4, .min_p = 0.05, .on_token = show}, rng));
}

void limits(Generator& rng) {
  const auto make = [](Generator& own) {
    return std::make_unique<Sequential>(Linear({.in = 3, .out = 64}, own),
                                        Activation(Nonlinearity::relu),
                                        Linear({.in = 64, .out = 8}, own));
  };
  const auto model = make(rng);
  const Tensor a = normal({4, 3}, rng, f64), b = normal({2, 3}, rng, f64),
               y = normal({4, 1}, rng, f64);
  const infinite::Limit limit = infinite::limit(*model);
  std::cout << limit;
  use(limit(a, b, infinite::Get::nngp).nngp);
  use(infinite::gram(limit, a, infinite::Get::nngp).nngp);
  use(infinite::gram(limit, b, a).ntk);
  use(infinite::monte_carlo_kernel(make, a, b, {.draws = 20}, rng).nngp_se);
  const Tensor k = infinite::gram(limit, a).nngp, cross = infinite::gram(limit, b, a).nngp,
               own = infinite::gram(limit, b).nngp;
  const GaussianProcess gp(k, y, {.noise = 0.1});
  use(gp.predict(cross, own).variance());
  use(gp.log_marginal_likelihood());
  use(gp.amplitude());
  use(predict(*model, a, y, b, {.relative_noise = 0.1}).mean);
}

void learning(Generator& rng) {
  Sequential model(Linear({.in = 3, .out = 4}, rng), Linear({.in = 4, .out = 1}, rng));
  const Tensor x = normal({16, 3}, rng), y = normal({16, 1}, rng);
  AdamW adam(model.parameters(), {.lr = 1e-3});
  adam.set_schedule(schedule::cosine({.steps = 10, .warmup = 2}));
  adam.zero_grad();
  backward(mse_loss(model(x), y));
  clip_grad_norm(model.parameters(), 1.0);
  adam.step();

  model.eval();
  const ParameterSet head = model.choose("layers.1.*");
  const auto loss = [&] { return mse_loss(model(x), y); };
  const LogDensity density = log_posterior(head, loss, {.count = 16, .prior_precision = 1});
  const Tensor start = normal({2, density.dim()}, rng, f64);
  const Chains chains = nuts(density, start, {.draws = 20, .warmup = 20}, rng);
  use(amax(split_rhat(chains)));
  use(effective_sample_size(chains));
}

void heads(Generator& rng) {
  MultiHeadAttention layer({.dim = 8, .heads = 4}, rng);
  const Tensor x = normal({3, 5, 8}, rng);
  Svgd svgd(particles(layer), {.alpha = automatic, .target = {.count = 3}});
  Sgd sgd(layer.parameters(), {.lr = 1e-3});
  backward(sum(square(layer(x))));
  svgd.apply();
  sgd.step();
  use(svgd.report()[0].distance.mean);
  const auto seen = layer.forward_with_weights(x, x, x);
  use(off_diagonal(head_cka(seen.contexts)).mean);
  use(map_redundancy(seen.weights));
  use(pairwise_cosine(particles(layer)[0].values()).mean);
}

}  // namespace

int main() {
  Generator rng(1);
  tensors(rng);
  derivatives(rng);
  models(rng);
  limits(rng);
  learning(rng);
  heads(rng);
}
