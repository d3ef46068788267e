// Evidence for one head against infinitely many, from generated data and from TREC's questions.

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/how_many_heads/study.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/latent_posterior.h"

namespace ladon::example {
namespace {

constexpr std::int64_t dim = 4;

Sequential one_layer() {
  Generator unused(0);
  const AttentionPrior prior{
      .parameterization = Parameterization::ntk, .query_key_std = 4, .value_output_std = 2};
  return Sequential(MultiHeadAttention({.dim = dim, .heads = 1, .prior = prior}, unused),
                    MeanPositions());
}

struct DataSet {
  infinite::Inputs x;
  Tensor y = {};  ///< f64 [N]
  double noise = 0.05;
};

Tensor limit_kernel(const infinite::Inputs& x) { return infinite::limit(one_layer())(x).nngp; }

/// Draws labels from a layer with this many heads; 0: infinitely many.
void label(DataSet& set, std::int64_t heads, const Generator& rng) {
  const std::int64_t n = set.x.count();
  Generator latents = rng.split(0), values = rng.split(1);
  const std::int64_t drawn = std::max<std::int64_t>(heads, 1);
  const auto of =
      infinite::latent_kernel(infinite::finite_heads(one_layer(), {.heads = drawn}), set.x);
  const Tensor kernel = heads == 0
                            ? limit_kernel(set.x)
                            : select(of.at(normal({1, of.dim}, latents, 0, 1, f64), n), 0, 0);
  const Tensor root = lapack::cholesky(kernel + set.noise * eye(n, f64));
  set.y = squeeze(matmul(root, normal({n, 1}, values, f64)), 1);
}

struct LogBayes {
  double value, apart;
};

/// Log Bayes factor: ln Z of one head minus ln Z of infinitely many, where Z is the evidence. Z of
/// one head is the mean of two runs of sequential Monte Carlo; `apart` is the absolute difference
/// of their ln Z.
LogBayes log_bayes(const DataSet& set, std::int64_t particles, Generator rng) {
  const auto one = infinite::latent_kernel(infinite::finite_heads(one_layer()), set.x);
  const LogLikelihood likelihood = latent_likelihood(one, set.y, set.noise);
  std::array<double, 2> runs{};
  for (double& run : runs)
    run =
        tempered_smc(
            one.dim,
            [&](const Tensor& z) {
              stop_if_interrupted();
              return likelihood(z);
            },
            {.particles = particles * set.x.count(), .keep = 0.75, .sweeps = 2, .recorded = 0}, rng)
            .log_evidence;
  const double high = std::max(runs[0], runs[1]), apart = high - std::min(runs[0], runs[1]);
  const double mean = high + std::log((1 + std::exp(-apart)) / 2);
  const GaussianProcess limit(limit_kernel(set.x), set.y, {.noise = set.noise, .jitter = 0});
  return {mean - limit.log_marginal_likelihood(), apart};
}

/// Questions as tokens. A question's tokens are the vectors of its first `length` words that have a
/// vector, in coordinates on principal axes.
struct Questions {
  static constexpr std::int64_t length = 10;
  Tensor tokens, mask;                            ///< [n, length, dim], [n, length]
  std::vector<std::vector<std::int64_t>> chosen;  ///< Questions by class, without rare classes.
};

/// Coordinates of words [n, d] on their first `dim` principal axes, each scaled to variance 1.
Tensor principal(const Tensor& words) {
  const Tensor x = words - mean(words, 0);
  const auto [values, axes] = lapack::eigh(matmul(transpose(x), x) / double(x.size(0)));
  const Slice last{.start = words.size(1) - dim};  // eigenvalues ascend
  return matmul(x, slice(axes, 1, last)) / sqrt(slice(values, 0, last));
}

Questions read_questions(const Settings& s, std::int64_t of_class) {
  const TextDataset data = read_trec(s.data[0]);
  const Glove glove = read_glove(s.data[1]);
  const Vocabulary words(glove.words);
  Questions q;
  q.chosen.resize(data.label_names.size());
  const auto n = std::ssize(data.texts);
  std::vector<std::int64_t> rows;                       // row of glove.vectors, for each word
  std::vector<std::int64_t> at(n * Questions::length);  // index in `rows` + 1; 0: no word
  for (std::int64_t i = 0; i < n; ++i) {
    auto place = at.begin() + i * Questions::length;
    const auto end = place + Questions::length;
    for (const std::int64_t word : words.encode(data.texts[i]))
      if (word > Vocabulary::unknown && place != end) {
        rows.push_back(word - Vocabulary::unknown - 1);
        *place++ = std::ssize(rows);
      }
    if (place != end - Questions::length) q.chosen[data.labels[i]].push_back(i);
  }
  constexpr std::int64_t rare = 100;
  std::erase_if(q.chosen, [](const auto& of) { return std::ssize(of) < rare; });
  LADON_CHECK(std::ssize(q.chosen) == classes, "how_many_heads", s.data[0], " has ",
              q.chosen.size(), " classes of at least ", rare, " questions, but must have ", classes,
              ", as TREC's training questions have; is it the file train_5500.label?");
  LADON_CHECK(of_class <= rare, "how_many_heads", "--targets needs ", of_class,
              " questions per class, but there are at most ", rare, "; lower it");
  const Tensor vectors = index_select(glove.vectors, 0, from_vector(rows, {std::ssize(rows)}));
  const Tensor x = concat({zeros({1, dim}, f64), principal(cast(vectors, f64))}, 0);
  const Tensor places = from_vector(at, {n, Questions::length});
  q.tokens = reshape(index_select(x, 0, flatten(places)), {n, Questions::length, dim});
  q.mask = places > 0.0;
  return q;
}

/// Questions alternating between two classes. Their labels are the classes (truth 0), or drawn from
/// one head (1) or infinitely many (2). The noise is half the variance of the labels.
DataSet question_set(const Questions& q, std::int64_t index, std::int64_t truth, std::int64_t most,
                     std::int64_t targets, const Generator& rng) {
  std::int64_t first = 0, second = 1;
  for (std::int64_t pair = index % pairs; pair > 0; --pair)
    if (++second == classes) second = ++first + 1;
  Generator draw = rng.split(0);
  std::vector<std::int64_t> rows(most);
  for (const std::int64_t side : {0, 1}) {
    const auto& from = q.chosen[side == 0 ? first : second];
    const auto order = permutation(std::ssize(from), draw).to_vector<std::int64_t>();
    for (std::int64_t i = side; i < most; i += 2) rows[i] = from[order[i / 2]];
  }
  rows.resize(targets);
  const Tensor at = from_vector(rows, {targets});
  DataSet set{.x = {index_select(q.tokens, 0, at), index_select(q.mask, 0, at)}};
  set.noise = mean(diagonal(limit_kernel(set.x))).item();
  if (truth > 0) {
    label(set, truth == 1 ? 1 : 0, rng.split(1));
  } else {
    const Tensor signs = tile(tensor({1, -1}, f64), {(targets + 1) / 2});
    set.y = contiguous(std::sqrt(2 * set.noise) * slice(signs, 0, {.stop = targets}));
  }
  return set;
}

DataSet generated_set(std::int64_t heads, std::int64_t most, std::int64_t targets,
                      const Generator& rng) {
  Generator tokens = rng.split(0);
  const Slice first{.stop = targets};
  DataSet set{.x = contiguous(slice(normal({most, 4, dim}, tokens, f64), 0, first))};
  label(set, heads, rng.split(1));
  return set;
}

}  // namespace

std::vector<Evidence> plan_evidence(const Settings& s) {
  std::vector<Evidence> rows;
  std::vector<std::string> truths = {"TREC's classes", "one head", "infinite heads"};
  if (s.data.empty()) {
    truths.clear();
    for (const std::int64_t h : s.truths) truths.push_back(join(h, h == 1 ? " head" : " heads"));
  }
  for (const std::string& truth : truths)
    for (const std::int64_t n : s.targets)
      rows.push_back({truth, n, {}, {}, s.data.empty() ? s.sets : pairs});
  return rows;
}

void find_evidence(const Settings& s, std::vector<Evidence>& rows, Progress& progress) {
  const Generator rng = Generator(s.common.seed).split(2);
  const std::int64_t most = *std::max_element(s.targets.begin(), s.targets.end());
  Questions questions;
  if (!s.data.empty()) questions = read_questions(s, (most + 1) / 2);
  const auto row_of = [&](std::int64_t job) { return static_cast<std::size_t>(job / s.sets); };
  std::int64_t next = 0;
  parallel::in_order(
      std::ssize(rows) * s.sets, 8,
      [&](std::int64_t job) {
        NoGrad off;
        const std::size_t row = row_of(job), truth = row / s.targets.size();
        const std::int64_t set = job % s.sets, n = rows[row].targets;
        const bool generated = s.data.empty();
        const Generator own =
            rng.split(static_cast<std::uint64_t>(set))
                .split(generated ? static_cast<std::uint64_t>(s.truths[truth]) : 0);
        return log_bayes(generated ? generated_set(s.truths[truth], most, n, own)
                                   : question_set(questions, set, static_cast<std::int64_t>(truth),
                                                  most, n, own),
                         s.particles, own.split(2 + static_cast<std::uint64_t>(n)));
      },
      [&](const LogBayes& found) {
        Evidence& row = rows[row_of(next++)];
        row.log_bayes.push_back(found.value);
        row.apart.push_back(found.apart);
        progress.step(join("evidence of ", row.targets, " targets"));
      });
}

}  // namespace ladon::example
