#pragma once
// Storage: one reference-counted block of bytes, shared by a tensor and its views.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ladon {

/// A handle to a block of bytes aligned to 64. Header and bytes are one allocation, from a caching
/// allocator. The version counts writes; autograd compares it to find in-place edits of what it
/// saved.
class Storage {
 public:
  Storage() = default;
  /// Allocates `bytes` uninitialized bytes. Throws Error when there is not enough memory.
  explicit Storage(std::size_t bytes);
  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    if (block_ && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) free_block(block_);
  }

  explicit operator bool() const { return block_ != nullptr; }
  bool operator==(const Storage& other) const { return block_ == other.block_; }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(block_ + 1); }
  std::size_t size() const { return block_ ? block_->size : 0; }
  /// Handles that share the block.
  int owners() const { return block_ ? block_->owners.load(std::memory_order_relaxed) : 0; }
  std::uint32_t version() const {
    return block_ ? block_->version.load(std::memory_order_relaxed) : 0;
  }
  void bump_version() const {
    if (block_) block_->version.fetch_add(1, std::memory_order_relaxed);
  }

  /// Bytes held by all storages of the process.
  static std::size_t bytes_in_use();
  /// The most that has been since the last reset_peak().
  static std::size_t peak_bytes();
  static void reset_peak();

 private:
  struct alignas(64) Block {
    std::atomic<int> owners{1};
    std::atomic<std::uint32_t> version{0};
    std::size_t size = 0;
  };
  static void free_block(Block* block);

  Block* block_ = nullptr;
};

}  // namespace ladon
