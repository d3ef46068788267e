// Lesson 8: the evidence counts heads, but one data set does not decide.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/08_evidence/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "The evidence counts heads, but one data set does not decide";
constexpr const char* duration = "5 s";
constexpr const char* lesson =
    "Evidence points the right way on average over data sets; one data set often says the opposite";
const std::vector<Trial> trials = {{"08_evidence --seed 2", "right: is it 40 with 24 targets?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr std::int64_t most = 24, sets = 40, draws = 60'000, at_once = 4'000;
  Generator rng(options.seed);
  const AttentionPrior prior{.parameterization = Parameterization::ntk, .query_key_std = 4};
  const Sequential model(MultiHeadAttention({.dim = 2, .heads = 1, .prior = prior}, rng),
                         MeanPositions());
  const Tensor x = normal({most, 2, 2}, rng, f64), limit = infinite::limit(model)(x).nngp;
  const auto head = infinite::latent_kernel(infinite::finite_heads(model, {.heads = 1}), x);
  const auto random = [&](int n) { return head.at(normal({n, head.dim}, rng, f64), most); };
  const auto root = [](const Tensor& k) { return cholesky(k + 0.05 * eye(most, f64)); };
  const Tensor both = root(concat({random(sets), expand(limit, {sets, most, most})}, 0));
  const Tensor y = transpose(squeeze(matmul(both, normal({2 * sets, most, 1}, rng, f64)), 2));
  const auto log_density = [&](const Tensor& kernels) {  // [.., most, most] → [.., 4, 2·sets]
    const Tensor l = root(kernels), sd = unsqueeze(diagonal(l), -1);  // y_i | y_<i ~ N(m_i, sd_i²)
    const Tensor error = sd * solve_triangular(l, y);                 // y_i − m_i
    const Tensor each = Normal(zeros({1}, f64), sd).log_prob(error);
    return index_select(cumsum(each, -2), -2, tensor({2, 5, 11, 23}, i64));
  };
  std::vector<Tensor> parts;
  for (int i = 0; i < draws / at_once; ++i) parts.push_back(log_density(random(at_once)));
  const Tensor all = concat(parts, 0), total = logsumexp(all, 0);
  const Tensor log_b = reshape(total - std::log(draws) - log_density(limit), {8, sets});
  const Tensor effective = reshape(exp(2 * total - logsumexp(2 * all, 0)), {8, sets});
  Table table("N, from",
              {{.name = "ln B", .meaning = "ln Z_1 − ln Z_∞ in nats, mean over 40 data sets ± se"},
               {.name = "right", .meaning = "data sets of 40 with the right sign", .whole = true},
               {.name = "decided", .meaning = "of these, beyond 3 nats: odds of 20", .whole = true},
               {.name = "effective", .meaning = "draws of 60000, median data set", .whole = true},
               {.name = "poor", .meaning = "of 40, below 100: not to be trusted", .whole = true},
               {.name = "error", .meaning = "standard error of ln B for that number of draws"}});
  std::vector<std::vector<double>> dots[2];
  for (std::int64_t row = 0; row < 8; ++row) {
    const Tensor b = sort(select(log_b, 0, row)).values, right = row % 2 == 0 ? b : -b;
    const Tensor n = sort(select(effective, 0, row)).values, middle = at(n, {sets / 2});
    const auto number = [](const Tensor& t) { return Measured{sum(t).item()}; };
    table.add({join(3 << row / 2, row % 2 == 0 ? ", one head" : ", infinitely many"),
               {estimate(b.to_vector()), number(right > 0), number(right > 3), number(middle),
                number(n < 100), number(sqrt(1 / middle - 1.0 / draws))}});
    for (const double dot : b.to_vector())
      dots[row % 2].push_back({row - 0.4 + 0.02 * (dots[row % 2].size() % sets), dot});
  }
  print("What does the evidence say of data from one head, and from infinitely many?", table);
  program.write({.tables = {{"evidence", table}}});
  program.write_page([&] { return page(x, y, limit, head, log_b); });
  Picture picture(options.out, "08_evidence");
  picture.panel(slide, "",
                join("set xlabel 'N, targets per data set'\nset xtics ('3' 0.5, '6' 2.5, '12' 4.5",
                     ", '24' 6.5)\nset xrange [-1:8]\nset ylabel 'ln B: above 0 for one head'\n",
                     "set key bottom left\nplot 0 lc rgb '", grey, "' notitle, ",
                     picture.data("one", dots[0]), " with points ", kind(0).points(0.5),
                     " title 'from one head', ", picture.data("all", dots[1]), " with points ",
                     kind(1).points(0.5), " title 'from infinitely many'"));
  picture.draw_slide("Right on average, often wrong on one data set", "each dot: one data set");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "08_evidence", {summary, duration, lesson, trials}, study);
}
