#pragma once
// Levels of a mapped tensor: the calls of vmap that it depends on.

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace ladon::mapped {

/// One call of vmap. Calls are numbered in the order in which they begin, so a nested call has a
/// higher number than the call around it.
struct Level {
  std::uint64_t call;
  std::int64_t examples;
  bool operator==(const Level&) const = default;
};

/// A new level, for a call of vmap that begins now.
Level new_level(std::int64_t examples);

/// A set of levels, outermost first. Every tensor has one, nearly always empty, so it is a single
/// pointer: null for no levels, else to a reference-counted list that copies share.
class Levels {
 public:
  Levels() = default;
  explicit Levels(std::vector<Level> levels);
  Levels(const Levels& other) : shared_(other.shared_) {
    if (shared_) [[unlikely]]
      shared_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Levels(Levels&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Levels& operator=(Levels other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Levels() {
    if (shared_) [[unlikely]]
      release();
  }

  bool none() const { return !shared_; }
  /// Total number of examples, the product over the levels; −1 if there is no level.
  std::int64_t examples() const { return shared_ ? count(begin(), end()) : -1; }
  bool contains(const Level& level) const;
  bool contains(const Levels& others) const {
    return shared_ == others.shared_ || others.none() || has_all(others);
  }

  const Level* begin() const { return shared_ ? shared_->levels.data() : nullptr; }
  const Level* end() const { return shared_ ? begin() + shared_->levels.size() : nullptr; }
  /// Product of the numbers of examples of a range of levels; 1 for an empty range.
  static std::int64_t count(const Level* from, const Level* to);
  /// Pointer to the level in the list, or to the place at which it would be inserted.
  const Level* place(const Level& level) const;

  Levels with(const Levels& others) const;
  Levels without(const Level& level) const;
  bool operator==(const Levels& other) const;

 private:
  struct Shared {
    std::vector<Level> levels;  // sorted by call
    std::atomic<std::int64_t> holders = 1;
  };
  void release();
  bool has_all(const Levels& others) const;

  Shared* shared_ = nullptr;  // null for no levels
};

}  // namespace ladon::mapped
