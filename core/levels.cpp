#include "ladon/core/levels.h"

#include <algorithm>
#include <iterator>

namespace ladon::mapped {
namespace {

bool before(const Level& a, const Level& b) { return a.call < b.call; }

}  // namespace

Level new_level(std::int64_t examples) {
  static std::atomic<std::uint64_t> next{0};
  return {next.fetch_add(1, std::memory_order_relaxed), examples};
}

Levels::Levels(std::vector<Level> levels) {
  if (!levels.empty()) shared_ = new Shared{std::move(levels)};
}

void Levels::release() {
  if (shared_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
}

std::int64_t Levels::count(const Level* from, const Level* to) {
  std::int64_t n = 1;
  for (; from != to; ++from) n *= from->examples;
  return n;
}

const Level* Levels::place(const Level& level) const {
  return std::lower_bound(begin(), end(), level, before);
}

bool Levels::contains(const Level& level) const {
  const Level* at = place(level);
  return at != end() && *at == level;
}

bool Levels::has_all(const Levels& others) const {
  return std::includes(begin(), end(), others.begin(), others.end(), before);
}

Levels Levels::with(const Levels& others) const {
  if (contains(others)) return *this;
  if (others.contains(*this)) return others;
  std::vector<Level> all;
  std::set_union(begin(), end(), others.begin(), others.end(), std::back_inserter(all), before);
  return Levels(std::move(all));
}

Levels Levels::without(const Level& level) const {
  std::vector<Level> others;
  std::remove_copy(begin(), end(), std::back_inserter(others), level);
  return Levels(std::move(others));
}

bool Levels::operator==(const Levels& other) const {
  return shared_ == other.shared_ || std::equal(begin(), end(), other.begin(), other.end());
}

}  // namespace ladon::mapped
