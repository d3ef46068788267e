// Lesson 13: is it repulsion, or a larger matrix? An arm that has one without the other tells.

#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Is it repulsion, or a larger matrix? Controls tell them apart";
constexpr const char* duration = "1 s";
constexpr const char* lesson = "What goes together is told apart by an arm that has one alone.";
const std::vector<Trial> trials = {{"13_control --seed 2", "start 4 − plain: the same sign?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr std::int64_t n = 600, dim = 16, hops = 8, seeds = 3, k = 5, fits = seeds * k;
  const std::string names[] = {"plain", "start 2", "start 4", "svgd 0", "svgd 0.01", "svgd 1"};
  const double start[] = {1, 2, 4, 1, 1, 1}, alpha[] = {0, 0, 0, 0, 0.01, 1};
  Generator rng(options.seed);
  const Tensor words = normal({33, dim}, rng), kinds = randint({n, 10}, rng, 0, 4);
  const Tensor nouns = 8 * kinds + randint({n, 10}, rng, 0, 8), y = select(kinds, 1, 0);
  const Tensor x = embedding(words, nouns) + pad(slice(words, 0, {.start = 32}), {0, 0}, {9, 0});
  const std::vector<Fold> parts = folds(n, k, rng);
  std::vector<Tensor> hits(6, zeros({seeds * n}, f64));
  std::vector<double> size(6, 0);
  for (std::size_t a = 0; a < 6; ++a)
    for (std::int64_t fit = 0; fit < fits; ++fit) {
      Generator own = rng.split(fit);  // first weights and batches are those of all arms
      StructuredAttention attention({.dim = dim, .hidden = 32, .hops = hops}, own);
      const Linear readout({.in = hops * dim, .out = 4}, own);
      const Tensor outer = attention.outer = parameter(start[a] * attention.outer.detach());
      Adam adam({attention.inner, outer, readout.weight, readout.bias}, {.lr = 5e-3});
      Svgd svgd(particles_of_rows(outer), SvgdOptions::paper(alpha[a]));
      const auto logits = [&](const Tensor& s) { return readout(flatten(attention(s), 1)); };
      const Tensor train = from_vector(parts[fit % k].train, {n - n / k});
      const Tensor test = from_vector(parts[fit % k].test, {n / k});
      for (int step = 0; step < 60; ++step) {
        const Tensor some = index_select(train, 0, randint({32}, own, 0, n - n / k));
        adam.zero_grad();
        backward(cross_entropy(logits(index_select(x, 0, some)), index_select(y, 0, some)));
        if (a > 2) svgd.apply();
        adam.step();
      }
      const Tensor hit = equal(argmax(logits(index_select(x, 0, test))), index_select(y, 0, test));
      hits[a] = scatter(hits[a], 0, test + fit / k * n, cast(hit, f64));
      size[a] += std::sqrt(mean(square(outer.detach())).item()) / fits;
    }
  const std::size_t pairs[][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {4, 3}, {5, 3}, {5, 1}};
  Table table("arm − base", {{"size", "of W_s2 at the end (rms), arm over base"},
                             {"accuracy", "arm − base, ± standard error over questions"},
                             {"seeds", "standard error over 3 seeds"},
                             {"corrected", "the same of Nadeau and Bengio"},
                             {"p", "of the error over questions, of this row alone"}});
  std::vector<std::vector<double>> rows = {{1, 0, 0}};
  for (const auto& [a, b] : pairs) {
    const Contrast c = contrast(reshape(hits[a], {seeds, n}), reshape(hits[b], {seeds, n}), parts);
    const Measured gain{c.difference, c.over_questions}, ratio{size[a] / size[b]};
    if (b == 0) rows.push_back({ratio.value, 100 * gain.value, 100 * gain.se});
    table.add({names[a] + " − " + names[b], {ratio, gain, {c.over_seeds}, {c.corrected}, {c.p}}});
  }
  print("Which arm answers more questions rightly?", table);
  program.write({.tables = {{"differences", table}}});
  Picture picture(options.out, "13_control");
  const std::string arms = picture.data("arms", rows) + " every ::";
  picture.panel(titled, "points over plain",
                "set key bottom\nset xlabel 'size of the matrix over that of plain'\nplot " +
                    with_errors(arms + "0::2", "1:2:3", kind(0), "start × 1, 2, 4") + ", " +
                    with_errors(arms + "3", "1:2:3", kind(1), "svgd, α = 0, 0.01, 1"));
  picture.draw_slide("Most of svgd's gain is there without repulsion", "± error over questions");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "13_control", {summary, duration, lesson, trials}, study);
}
