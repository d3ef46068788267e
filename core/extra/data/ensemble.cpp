#include "ladon/core/extra/data/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/core/error.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/extra/data/probabilities.h"

namespace ladon::metrics {
namespace {

/// Members' probabilities as doubles.
struct Members {
  Members(const char* operation, const Tensor& members,
          detail::Reads reads = detail::Reads::values) {
    LADON_CHECK(members.defined() && members.rank() == 3 && is_floating(members.dtype()) &&
                    members.count() > 0,
                operation,
                "members' probabilities must be floating [S, N, C] with S, N, C > 0, got ",
                ladon::detail::kind_in_words(members));
    count = members.size(0);
    rows = members.size(1);
    classes = members.size(2);
    values = members.detach().to_vector<double>();
    detail::check_rows(operation, values, classes, reads);
  }
  const double* row(std::int64_t s, std::int64_t i) const {
    return values.data() + (s * rows + i) * classes;
  }
  /// For row i, the number of members whose largest probability is at each label.
  std::vector<std::int64_t> votes(std::int64_t i) const {
    std::vector<std::int64_t> votes(classes);
    for (std::int64_t s = 0; s < count; ++s)
      ++votes[std::max_element(row(s, i), row(s, i) + classes) - row(s, i)];
    return votes;
  }

  std::int64_t count, rows, classes;
  std::vector<double> values;
};

Tensor mean_of(const Members& p) {
  std::vector<double> mean(p.rows * p.classes);
  for (std::int64_t s = 0; s < p.count; ++s)
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += p.row(s, 0)[k];
  for (double& value : mean) value /= static_cast<double>(p.count);
  return from_vector(mean, {p.rows, p.classes});
}

}  // namespace

Tensor ensemble_mean(const Tensor& members) { return mean_of(Members("ensemble_mean", members)); }

std::vector<double> mutual_information(const Tensor& members) {
  const Members p("mutual_information", members);
  std::vector<double> information = predictive_entropy(mean_of(p));
  const std::vector<double> each =
      predictive_entropy(from_vector(p.values, {p.count * p.rows, p.classes}));
  for (std::int64_t i = 0; i < p.rows; ++i) {
    double sum = 0;
    for (std::int64_t s = 0; s < p.count; ++s) sum += each[s * p.rows + i];
    information[i] -= sum / static_cast<double>(p.count);
  }
  return information;
}

// If label c has v_c votes on a row, Σ_c v_c(v_c − 1) of the S(S − 1) ordered pairs of members
// agree.
double disagreement(const Tensor& members) {
  const Members p("disagreement", members, detail::Reads::order);
  if (p.count < 2) return std::numeric_limits<double>::quiet_NaN();
  double agreeing = 0;
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (const std::int64_t v : p.votes(i)) agreeing += static_cast<double>(v * (v - 1));
  const auto pairs = static_cast<double>(p.count * (p.count - 1));
  return 1 - agreeing / (pairs * static_cast<double>(p.rows));
}

std::vector<double> variation_ratio(const Tensor& members) {
  const Members p("variation_ratio", members, detail::Reads::order);
  std::vector<double> ratio(p.rows);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const std::vector<std::int64_t> votes = p.votes(i);
    const auto most = static_cast<double>(*std::max_element(votes.begin(), votes.end()));
    ratio[i] = 1 - most / static_cast<double>(p.count);
  }
  return ratio;
}

}  // namespace ladon::metrics
