#pragma once
// The levels of a mapped tensor: the calls of vmap that it has an example for each of.

#include <cstdint>
#include <memory>
#include <vector>

namespace ladon::mapped {

/// One call of vmap. Calls are numbered as they begin: one inside another has the higher number.
struct Level {
  std::uint64_t call;
  std::int64_t examples;
  bool operator==(const Level&) const = default;
};

/// A level of its own for a call that begins now.
Level new_level(std::int64_t examples);

/// A set of levels, the outer ones first. A copy shares them.
class Levels {
 public:
  Levels() = default;
  explicit Levels(std::vector<Level> levels);

  bool none() const { return !levels_; }
  /// How many examples they have together: the product; −1 if there is no level.
  std::int64_t examples() const { return levels_ ? count(begin(), end()) : -1; }
  bool contains(const Level& level) const;
  bool contains(const Levels& others) const;

  const Level* begin() const { return levels_ ? levels_->data() : nullptr; }
  const Level* end() const { return levels_ ? levels_->data() + levels_->size() : nullptr; }
  /// The product of some of them; 1 for an empty range.
  static std::int64_t count(const Level* from, const Level* to);
  /// Where the level stands, or would.
  const Level* place(const Level& level) const;

  Levels with(const Levels& others) const;
  Levels without(const Level& level) const;
  bool operator==(const Levels& other) const;

 private:
  std::shared_ptr<const std::vector<Level>> levels_;  // null for none, sorted by call
};

}  // namespace ladon::mapped
