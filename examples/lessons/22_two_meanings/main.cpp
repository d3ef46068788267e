// Lesson 22, an appendix: the two meanings of Bayesian attention.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "A network that computes a posterior, and a posterior of networks";
constexpr const char* duration = "10 s";
constexpr const char* lesson =
    "Networks that predict a hidden Markov chain compute its posterior, not one of their weights.";
const std::vector<Trial> trials = {{"22_two_meanings --seed 2", "after: 2 is the rare token"}};
const Tensor says = tensor({0.7998, 0.2, 0.0002, 0.2, 0.798, 0.002}, {2, 3}, f64);
const Tensor moves = tensor({0.9, 0.1, 0.1, 0.9}, {2, 2}, f64);  // a row per state, as in `says`
/// Draws tokens [n, 24]; also returns, for each token from the second on, the exact probability
/// that it is 1, given the tokens before it.
std::pair<Tensor, Tensor> draw_chains(std::int64_t n, double surprise, Generator& rng) {
  Tensor state = cast(bernoulli({n}, rng, 0.5), i64), belief = full({n, 2}, 0.5, f64);
  std::vector<Tensor> tokens, exact;
  for (std::int64_t t = 0; t < 24; ++t) {
    exact.push_back(select(matmul(belief, says), 1, 1));  // [n, 2] · [2, 3]
    const Tensor said = squeeze(multinomial(index_select(says, 0, state), 1, rng), 1);
    tokens.push_back(where(bernoulli({n}, rng, surprise), 2, said));
    const Tensor joint = belief * transpose(index_select(says, 1, tokens.back()));
    belief = matmul(joint / sum(joint, 1, keep_dims), moves);  // Bayes' rule, then a transition
    state = squeeze(multinomial(index_select(moves, 0, state), 1, rng), 1);
  }
  return {stack(tokens, 1), slice(stack(exact, 1), 1, {1})};
}

Tensor trained_p(const Tensor& seen, Generator rng) {
  LanguageModel model(llama(3, 1, 32, 4, 4, 64), rng);
  Adam adam(model.parameters(), {.lr = 3e-3});
  for (int step = 0; step < 400; ++step) {
    const Tensor x = draw_chains(64, 0, rng).first;
    adam.zero_grad();
    backward(cross_entropy(model(slice(x, 1, {0, -1})), slice(x, 1, {1})));
    adam.step();
  }
  return cast(select(softmax(model(seen)), -1, 1).detach(), f64);
}

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const auto [tokens, exact] = draw_chains(2000, 0.02, rng);
  const Tensor seen = slice(tokens, 1, {0, -1});
  const auto network = [&](int k) { return trained_p(seen, rng.split(k)); };
  const Tensor p = stack({network(0), network(1), network(2), network(3)});
  Table table("token", {{.name = "error", .meaning = "root mean square of p − exact p"},
                        {.name = "spread", .meaning = "root mean variance of 4 networks' p"},
                        {.name = "memoryless", .meaning = "error of the best answer from it"}});
  std::vector<std::vector<double>> bars;
  for (const int token : {0, 1, 2}) {
    const Tensor here = equal(seen, token), own = var(masked_select(exact, here));
    const auto root = [&](const Tensor& x) { return sqrt(mean(masked_select(x, here))).item(); };
    bars.push_back({root(mean(square(p - exact), 0)), root(var(p, 0)), sqrt(own).item()});
    table.add({std::to_string(token), {{bars.back()[0]}, {bars.back()[1]}, {bars.back()[2]}}});
  }
  print("p: the next token is 1. How far is it from the exact one, by the token before?", table);
  program.write({.tables = {{"tokens", table}}});
  Picture picture(options.out, "22_two_meanings");
  const char* bar =
      " using ($0 - 0.5 + 0.25*i):i with boxes fs solid lc rgb "
      "word('#0072b2 #d55e00 #767676', i) title word('error spread memoryless', i)";
  picture.panel(slide, "",
                "set boxwidth 0.25\nset xtics 1\nset xlabel 'token just seen'\n"
                "plot [-0.6:2.6] [0:0.13] for [i=1:3] " +
                    picture.data("bars", bars) + bar);
  picture.draw_slide("Where data were few, networks err more, and differ more", "errors of p");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "22_two_meanings", {summary, duration, lesson, trials}, study);
}
