#include "ladon/optim/posterior/classification.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

// Class probabilities at variance 0: the classes with the largest mean share the probability
// equally.
void share_among_largest(std::int64_t classes, const double* mean, double* p) {
  const double most = *std::max_element(mean, mean + classes);
  const double count = static_cast<double>(std::count(mean, mean + classes, most));
  for (std::int64_t c = 0; c < classes; ++c) p[c] = mean[c] == most ? 1 / count : 0;
}

}  // namespace

Tensor classification_targets(const Tensor& labels, std::int64_t classes) {
  constexpr std::string_view operation = "classification_targets";
  LADON_CHECK(classes >= 2, operation, "the number of classes is ", classes,
              "; it must be at least 2");
  LADON_CHECK(labels.defined() && labels.dtype() == i64 && labels.rank() == 1, operation,
              "labels must be i64 [N], got ", ladon::detail::kind_in_words(labels));
  for (const std::int64_t label : labels.to_vector<std::int64_t>())
    LADON_CHECK(label >= 0 && label < classes, operation, "label ", label, " is outside [0, ",
                classes, "); labels count from 0 and must be less than the number of classes");
  return one_hot(labels, classes, f64) - 1.0 / static_cast<double>(classes);
}

Tensor class_probabilities(const Tensor& mean, const Tensor& variance) {
  constexpr std::string_view operation = "class_probabilities";
  LADON_CHECK(mean.defined() && mean.rank() == 2 && mean.size(1) >= 2, operation,
              "the mean must be [M, classes] with at least 2 classes, got ",
              ladon::detail::shape_in_words(mean));
  const std::int64_t rows = mean.size(0), classes = mean.size(1);
  LADON_CHECK(variance.defined() && variance.shape() == Shape{rows}, operation,
              "the variance must be [", rows, "], one per row of the mean, got ",
              ladon::detail::shape_in_words(variance));
  const Tensor m = kernel_blocks::cross_block(operation, "the mean", mean, rows, classes);
  const Tensor v =
      kernel_blocks::cross_block(operation, "the variance", unsqueeze(variance, 1), rows, 1);
  Tensor p = empty({rows, classes}, f64);
  const double *from = m.data<double>(), *s = v.data<double>();
  for (std::int64_t i = 0; i < rows; ++i)
    LADON_CHECK(s[i] >= 0, operation, "the variance of row ", i, " is ", s[i],
                "; it must be at least 0");
  double* to = p.mutable_data<double>();
  parallel::for_range(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> work(kernels::largest_work * classes);
    for (std::int64_t i = begin; i < end; ++i)
      if (s[i] > 0)
        kernels::loops().largest(classes, from + i * classes, std::sqrt(s[i]), to + i * classes,
                                 work.data());
      else
        share_among_largest(classes, from + i * classes, to + i * classes);
  });
  return p;
}

}  // namespace ladon
