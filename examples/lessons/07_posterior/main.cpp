// Lesson 7: the exact posterior.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "The exact posterior of one, four and infinitely many heads";
constexpr const char* duration = "4 s";
constexpr const char* lesson = "A target is uncertain by what is not known of f, and by noise.";
const std::vector<Trial> trials = {{"07_posterior", "far: which part of y has grown?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr double noise = 0.01;  // σ²
  Generator rng(options.seed);
  const Tensor given = tensor({-2.6, -2.2, -1.7, -1.2, -0.8, -0.4}), s = linspace(-3, 3, 41);
  const Tensor t = reshape(concat({given, s}, 0), {47, 1, 1}) * tensor({0.5, 1, 0.8, 1.5}, {2, 2});
  const Tensor x = std::sqrt(2.0) * concat({cos(t), sin(t)}, 2);  // two tokens of four channels
  MultiHeadAttentionOptions layer = {.dim = 4, .heads = 1, .bias = false};
  layer.prior = {.parameterization = Parameterization::ntk, .query_key_std = 4};
  const Sequential model(MultiHeadAttention(layer, rng), MeanPositions());
  const Tensor all = infinite::limit(model)(x, infinite::Get::nngp).nngp.detach();
  const Tensor rest = slice(all, 0, {6, 47}), own = slice(rest, 1, {6, 47});
  const Tensor cross = slice(rest, 1, {0, 6}), k = slice(slice(all, 0, {0, 6}), 1, {0, 6});
  const Tensor a = k + noise * eye(6, f64), y = matmul(cholesky(a), normal({6}, rng, f64));
  Table bands("of", {{"near", "standard deviation at s = -3/2"}, {"far", "the same at s = 3"}});
  std::vector<Tensor> ends = {cast(s, f64)};  // columns of the plot: s, then the edges of the bands
  const auto add = [&](const std::string& name, const Tensor& mean, const Tensor& v) {
    bands.add({name, {{std::sqrt(v.to_vector()[10])}, {std::sqrt(v.to_vector()[40])}}});
    for (const int z : {-2, 2}) ends.push_back(flatten(mean) + z * sqrt(v));
  };
  Table sampled("H", {{"evidence", "ln p(targets) by sequential Monte Carlo ± standard error"},
                      {"by_weights", "the same by the weights of 4000 draws from the prior"},
                      {"z", "their difference in standard errors"},
                      {"ess", "effective sample size of these draws"}});
  for (const int heads : {1, 4}) {
    const auto law = infinite::latent_kernel(infinite::finite_heads(model, {.heads = heads}), x);
    const auto p = sample_posterior(law, 47, y, {.noise = noise, .smc = {.particles = 200}}, rng);
    add(join("f, H = ", heads), p.mean, p.variance());
    const Tensor l = latent_likelihood(law, y, noise)(normal({4000, law.dim}, rng, f64));
    const double sum = logsumexp(l).item(), ess = std::exp(2 * sum - logsumexp(2 * l).item());
    const Measured e = p.log_evidence, w = {sum - std::log(4000), std::sqrt(1 / ess - 1 / 4000.0)};
    sampled.add({join(heads), {e, w, {(e.value - w.value) / std::hypot(e.se, w.se)}, {ess}}});
  }
  const GpPrediction gp = GaussianProcess(k, y, {.noise = noise, .jitter = 0}).predict(cross, own);
  add("f, H = ∞", gp.mean, gp.variance());
  add("y, H = ∞", gp.mean, gp.variance() + noise);
  const Tensor solved = solve(a, transpose(cross));  // (K + σ²)⁻¹k*
  add("f by formula", matmul(y, solved), diagonal(own - matmul(cross, solved)));
  print("What is not known, amid the targets and far from them?", bands);
  print("Do two ways of sampling few heads agree?", sampled);
  program.write({.tables = {{"bands", bands}, {"sampled", sampled}}});
  Picture picture(options.out, "07_posterior");
  std::vector<std::vector<double>> rows, targets;
  for (int i = 0; i < 41; ++i) rows.push_back(select(stack(ends, 1), 0, i).to_vector());
  for (int i = 0; i < 6; ++i) targets.push_back({at(given, {i}).item(), at(y, {i}).item()});
  picture.panel(slide, "",
                join("set xlabel 's'\nset ylabel 'f(s)'\nset key bottom left\nplot ",
                     picture.data("bands", rows),
                     " using 1:6:7 with filledcurves fs solid 0.3 lc rgb '#767676' title 'H = ∞', ",
                     "for [c=2:5] '' using 1:c with lines lw 2.5 dt 1+(c<4) lc rgb ",
                     "c<4 ? '#d55e00' : '#0072b2' title c==2 ? 'H = 1' : c==4 ? 'H = 4' : '', ",
                     picture.data("targets", targets),
                     " using 1:2:(0.2) with yerrorbars pt 7 lc 'black' title 'targets ± 2σ'"));
  picture.draw_slide("Far from targets the band widens, the noise does not", "mean ± 2 sd of f");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "07_posterior", {summary, duration, lesson, trials}, study);
}
