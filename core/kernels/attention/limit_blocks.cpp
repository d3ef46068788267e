#include "ladon/core/kernels/attention/limit_blocks.h"

namespace ladon::kernels {

void add_column_products(std::int64_t rows, std::int64_t n, const double* may, const double* x,
                         const double* y, double* __restrict column) {
  for (std::int64_t a = 0; a < rows; ++a, x += n, y += n) {
    if (!(may[a] > 0)) continue;
    for (std::int64_t j = 0; j < n; ++j) column[j] += x[j] * y[j];
  }
}

void negative_products(std::int64_t n, const double* a, const double* b, double* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = -a[i] * b[i];
}

void add_products(std::int64_t n, const double* a, const double* b, double* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += a[i] * b[i];
}

void products_by_draw(std::int64_t draws, std::int64_t t, const double* a, const double* b,
                      double* __restrict y) {
  for (std::int64_t i = 0; i < t; ++i)
    for (std::int64_t s = 0; s < draws; ++s, a += t, b += t) {
      double* to = y + (s * t + i) * t;
      for (std::int64_t j = 0; j < t; ++j) to[j] = a[j] * b[j];
    }
}

namespace {

/// Computes identity_block(), where the sums are given as functions of the index of an element.
template <class Sum>
inline void identity_elements(std::int64_t n, const IdentityFactors& by, const double* k,
                              const double* t, const Sum& kv, const Sum& ku, const Sum& tv,
                              double* __restrict value, double* __restrict tangent) {
  const auto [qk2, trained, bias] = by;
  for (std::int64_t i = 0; i < n; ++i) value[i] = qk2 * k[i] * kv(i);
  if (!tangent) return;
  for (std::int64_t i = 0; i < n; ++i)
    tangent[i] = qk2 * (k[i] * (ku(i) + trained * kv(i) + tv(i)) + (t[i] + bias) * kv(i));
}

}  // namespace

void identity_block(std::int64_t n, const IdentityFactors& by, const double* k, const double* t,
                    const IdentitySums& sums, bool one_sum, double* value, double* tangent) {
  if (one_sum) {
    const auto all = [](double x) { return [x](std::int64_t) { return x; }; };
    const bool both = tangent != nullptr;
    return identity_elements(n, by, k, t, all(*sums.kv), all(both ? *sums.ku : 0),
                             all(both ? *sums.tv : 0), value, tangent);
  }
  const auto each = [](const double* x) { return [x](std::int64_t i) { return x[i]; }; };
  identity_elements(n, by, k, t, each(sums.kv), each(sums.ku), each(sums.tv), value, tangent);
}

void attention_outputs(std::int64_t n, const OutputFactors& by, double* __restrict value,
                       double* __restrict tangent) {
  const auto [ov, variance, trained, bias] = by;
  for (std::int64_t i = 0; tangent && i < n; ++i)
    tangent[i] = ov * tangent[i] + trained * (ov * value[i]) + bias;
  for (std::int64_t i = 0; i < n; ++i) value[i] = ov * value[i] + variance;
}

}  // namespace ladon::kernels
