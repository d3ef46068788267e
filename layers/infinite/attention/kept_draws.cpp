#include "ladon/layers/infinite/attention/kept_draws.h"

#include <algorithm>

namespace ladon::infinite {
namespace {

double bytes_of(std::int64_t rank) {
  return 8 * static_cast<double>(rank) * static_cast<double>(rank);
}

}  // namespace

void KeptDraws::allow(double bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
}

KeptDraws::Kept* KeptDraws::place(const Source& source, std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const std::pair key(source, number);
  if (const auto at = kept_.find(key); at != kept_.end()) return at->second.get();
  const double bytes = bytes_of(source.rank);
  if (bytes_ + bytes > most_bytes_) return nullptr;
  bytes_ += bytes;
  return kept_.emplace(key, std::make_unique<Kept>()).first->second.get();
}

Tensor KeptDraws::get(const Source& source, std::int64_t number,
                      const std::function<Tensor()>& draw) {
  Kept* const kept = place(source, number);
  if (!kept) return draw();
  const std::lock_guard lock(kept->mutex);
  if (!kept->z.defined()) kept->z = draw();
  return kept->z;
}

void KeptDraws::expect(const Source& source, std::int64_t draws) {
  const std::lock_guard lock(mutex_);
  std::int64_t& most = expected_[source];
  most = std::max(most, draws);
}

double KeptDraws::expected_bytes() const {
  const std::lock_guard lock(mutex_);
  double bytes = 0;
  for (const auto& [source, draws] : expected_)
    bytes += static_cast<double>(draws) * bytes_of(source.rank);
  return bytes;
}

}  // namespace ladon::infinite
