#pragma once
// Adaptation of strided and broadcast operands to contiguous loops; no other file does this.
//
// The elements of an output are cut into pieces of at most `piece_length` elements, in row-major
// order. A loop gets a pointer to contiguous elements for each operand: to the operand itself if
// its piece is contiguous, else to a buffer on the stack, to which the elements are gathered (and
// from which they are scattered to a strided output). The buffer of an operand that repeats a
// single element is filled with it once.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "ladon/core/machine/parallel.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

inline constexpr std::int64_t piece_length = 1024;
/// Number of elements that make up one task.
inline constexpr std::int64_t task_length = 32 * piece_length;
inline constexpr int max_operands = 4;

/// One operand: its first element, strides and item size in bytes, and whether loops read and write
/// it.
struct Operand {
  std::byte* data = nullptr;
  Shape strides;
  std::int64_t item = 1;
  bool reads = true, writes = false;

  /// x broadcast to `shape`, a result of broadcast_shapes() with the shape of x.
  static Operand input(const Tensor& x, const Shape& shape);
  static Operand output(Tensor& x);
  static Operand in_place(Tensor& x);
};

/// The operands of a pointwise loop, cut into pieces. Axes are merged where the strides of all
/// operands allow it.
class Pieces {
 public:
  Pieces(const Shape& shape, std::initializer_list<Operand> operands);

  std::int64_t count() const { return count_; }
  /// Number of pieces that make up one task.
  std::int64_t grain() const { return grain_; }

  using Pointers = std::array<std::byte*, max_operands>;

  /// Calls loop(pointers, n) for pieces [begin, end).
  template <class F>
  void run(std::int64_t begin, std::int64_t end, const F& loop) const {
    Buffers buffers;
    for (std::int64_t i = begin; i < end; ++i) {
      const Piece piece = at(i);
      const Pointers pointers = present(piece, buffers);
      loop(pointers, piece.rows * piece.columns);
      write_back(piece, pointers);
    }
  }

 private:
  /// Columns [column, column + columns) of rows [row, row + rows); a row runs along the last axis.
  struct Piece {
    std::int64_t row, rows, column, columns;
  };
  struct Buffers {
    alignas(64) std::byte bytes[max_operands][piece_length * 8];
    std::array<bool, max_operands> spread{};  // whether the buffer has been filled with a scalar
  };

  void merge_axes(const Shape& shape);
  void cut();
  Piece at(std::int64_t index) const;
  /// Address of a piece of an operand if it is contiguous there; else nullptr.
  std::byte* direct(int operand, const Piece& piece) const;
  template <bool gather>
  void transfer(const Operand& operand, const Piece& piece, std::byte* buffer) const;
  Pointers present(const Piece& piece, Buffers& buffers) const;
  void write_back(const Piece& piece, const Pointers& pointers) const;

  Shape sizes_;
  std::array<Operand, max_operands> operands_;
  // Whether each operand is contiguous, and whether it repeats a single element.
  std::array<bool, max_operands> dense_{}, constant_{};
  int operand_count_ = 0;
  std::int64_t columns_ = 1, rows_ = 1, columns_per_piece_ = 1, rows_per_piece_ = 1;
  std::int64_t pieces_per_row_ = 1, count_ = 0, grain_ = 1;
};

/// Runs loop(pointers, n) over all pieces, on all threads.
template <class F>
void for_pieces(const Pieces& pieces, const F& loop) {
  if (pieces.count() <= pieces.grain()) return pieces.run(0, pieces.count(), loop);
  parallel::for_range(
      pieces.count(), pieces.grain(),
      [&pieces, &loop](std::int64_t begin, std::int64_t end) { pieces.run(begin, end, loop); });
}

/// Runs body(begin, end) over [0, n) by parallel::for_range, in tasks of task_length elements; if n
/// is at most task_length, it calls body directly.
template <class F>
void for_flat(std::int64_t n, const F& body) {
  if (n <= task_length) return body(std::int64_t{0}, n);
  parallel::for_range(n, task_length, body);
}

/// y = loop(x...), where y is contiguous with elements of type Y, and the operands x have elements
/// of types X and broadcast to the shape of y.
template <class Y, class... X, class Loop, class... Tensors>
void map(Tensor& y, const Loop& loop, const Tensors&... x) {
  const bool direct = ((x.shape() == y.shape() && x.contiguous()) && ...);
  if (direct) {
    Y* out = y.mutable_data<Y>();
    for_flat(y.count(), [&loop, out, &x...](std::int64_t begin, std::int64_t end) {
      loop((x.template data<X>() + begin)..., out + begin, end - begin);
    });
    return;
  }
  const Pieces pieces(y.shape(), {Operand::output(y), Operand::input(x, y.shape())...});
  for_pieces(pieces, [&loop](const Pieces::Pointers& at, std::int64_t n) {
    [&loop, &at, n ]<std::size_t... i>(std::index_sequence<i...>) {
      loop(reinterpret_cast<const X*>(at[i + 1])..., reinterpret_cast<Y*>(at[0]), n);
    }
    (std::index_sequence_for<X...>{});
  });
}

}  // namespace ladon::kernels
