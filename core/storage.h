#pragma once
// Storage: one reference-counted block of bytes, shared by a tensor and its views.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace ladon {

/// Reference-counted handle to a block of bytes: owned (aligned to 64 bytes, in one allocation with
/// its header, allocator.h) or borrowed until the last handle is gone. The version counts
/// writes; autograd compares it to find in-place edits of saved tensors.
class Storage {
 public:
  Storage() = default;
  /// Allocates `bytes` uninitialized bytes. Throws Error when there is not enough memory.
  explicit Storage(std::size_t bytes);
  /// Borrows `bytes` bytes at `data`, aligned as their elements need it. `release`, which may be
  /// empty and must not throw, is called once, when no handle is left. Throws Error when there is
  /// not enough memory for the header; nothing is then released.
  Storage(void* data, std::size_t bytes, std::function<void()> release);
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
  std::byte* bytes() const { return block_ ? block_->data : nullptr; }
  std::size_t size() const { return block_ ? block_->size : 0; }
  /// Whether Ladon allocated the bytes and this is their only handle, so that its holder may write
  /// there. Never true of borrowed memory, which belongs to its owner and may be read-only.
  bool exclusive() const { return owners() == 1 && !block_->borrowed(); }
  bool borrowed() const { return block_ && block_->borrowed(); }
  /// Number of handles that share the block.
  int owners() const { return block_ ? block_->owners.load(std::memory_order_relaxed) : 0; }
  std::uint32_t version() const {
    return block_ ? block_->version.load(std::memory_order_relaxed) : 0;
  }
  void bump_version() const {
    if (block_) block_->version.fetch_add(1, std::memory_order_relaxed);
  }

  /// Bytes held by all storages of the process, without borrowed ones.
  static std::size_t bytes_in_use();
  /// Peak of bytes_in_use() since the last reset_peak().
  static std::size_t peak_bytes();
  static void reset_peak();

 private:
  struct alignas(64) Block {
    std::atomic<int> owners{1};
    std::atomic<std::uint32_t> version{0};
    std::size_t size = 0;
    std::byte* data = nullptr;
    std::function<void()> release;
    bool borrowed() const { return data != reinterpret_cast<const std::byte*>(this + 1); }
  };
  static Block* allocate(std::size_t bytes);
  static void free_block(Block* block);

  Block* block_ = nullptr;
};

}  // namespace ladon
