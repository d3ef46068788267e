// Lesson 16: a head is born. One number decides whether a head copies.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/lessons/16_copy_head/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {
constexpr const char* summary = "A head is born: the posterior of its logit jumps between peaks";
constexpr const char* duration = "2 s";
constexpr const char* lesson = "More data move a posterior gradually only where it has one peak.";
const std::vector<Trial> trials = {{"16_copy_head --seed 2", "exact: at which N does it jump?"}};
constexpr double length = 16, noise = 10, spread = 0.1;  // tokens and symbols T = V, σ², w

Tensor strength(const Tensor& g) {
  const Tensor a = sigmoid(0.8 * g - std::log(length - 1));
  return (length * a - 1.0) / (length - 1);
}

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  std::vector<Tensor> orders;
  for (int i = 0; i < 128; ++i) orders.push_back(permutation(16, rng));
  const Tensor symbols = one_hot(roll(stack(orders, 0), 1, 1), 16, f64) - 1 / length;
  const Tensor x = flatten(symbols * length / std::sqrt(length - 1), 0, 1);  // the previous tokens
  const Tensor y = x + normal(x.shape(), rng, 0, std::sqrt(noise), f64);
  const Tensor g = linspace(-14, 14, 2801, f64), prior = -0.5 * square(g), rho = strength(g);
  Table table("N", {{"exact", "posterior probability of ρ > ½, by a sum over a grid of g"},
                    {"ln Z", "log evidence less that of a network that is 0, by the grid"},
                    {"smc", "ln Z by tempered sequential Monte Carlo ± standard error of 6 runs"},
                    {"z", "(smc − ln Z)/standard error"},
                    {"hmc", "share of 100 chains with ρ > ½ ± s.e., 100 draws after the prior"},
                    {"ascent", "the same of 100 gradient ascents from the prior that end there"}});
  Picture picture(options.out, "16_copy_head");
  std::string plot = "set xr [-3:8]\nset key center top\nset xl 'logit g'\nset yl 'density'\nplot ";
  for (const std::int64_t n : {24, 32, 36, 38, 40, 42, 44, 48, 64}) {
    const Tensor xy = matmul(transpose(slice(x, 0, {0, n * 16})), slice(y, 0, {0, n * 16}));
    const double k = n * length * length / (length - 1), c = spread * spread / noise / length;
    const double overlap = sum(square(xy)).item(), half = 0.5 * length * (length - 1);
    const auto evidence = [=](const Tensor& r) {
      const Tensor s = square(r), u = 1.0 + c * k * s;
      return 0.5 * c / noise * overlap * s / u - half * log(u);
    };
    const auto of = [&](const Tensor& z) { return evidence(strength(flatten(z))); };
    const LogDensity law(1, [&](const Tensor& z) { return of(z) - 0.5 * sum(square(z), 1); });
    const auto share = [](Tensor z) { return estimate(cast(strength(z) > 0.5, f64).to_vector()); };
    const Tensor p = softmax(prior + evidence(rho));
    const double exact = sum(p * cast(rho > 0.5, f64)).item(),
                 z = (logsumexp(prior + evidence(rho)) - logsumexp(prior)).item();
    std::vector<double> runs;
    while (runs.size() < 6) runs.push_back(tempered_smc(1, of, {}, rng).log_evidence);
    const Measured smc = estimate(runs);
    Tensor w = normal({100, 1}, rng, f64);
    const Measured end = share(select(hmc(law, w, {.draws = 50, .warmup = 50}, rng).draws, 1, -1));
    for (int i = 0; i < 500; ++i) w = w + 0.1 * law.score(w).gradient;
    const std::string name = std::to_string(n);
    table.add({name, {{exact}, {z}, smc, {(smc.value - z) / smc.se}, end, share(w)}});
    if (n != 32 && n != 40 && n != 48) continue;
    std::vector<std::vector<double>> r, ends;
    for (int i = 0; i <= 2800; i += 10) r.push_back({at(g, {i}).item(), 100 * at(p, {i}).item()});
    plot += curve(picture.data(name, r), "1:2", kind(n / 8 % 5), "N = " + name, 3) + ", ";
    for (const double at_end : w.to_vector()) ends.push_back({at_end, 0.02});
    if (n == 48) plot += picture.data("ends", ends) + " w p pt 6 ps 2 t 'ascents, N = 48', ";
  }
  print("When does the head copy?", table);
  program.write({.tables = {{"birth", table}}});
  program.write_page([&] { return page(x, y, noise, spread, table); });
  picture.panel(slide, "", plot + "NaN notitle");
  picture.draw_slide("The posterior jumps to the copying head, ascents do not follow",
                     "exact posteriors of g for N sequences; ends of 100 ascents from the prior");
  return true;
}
}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "16_copy_head", {summary, duration, lesson, trials}, study);
}
