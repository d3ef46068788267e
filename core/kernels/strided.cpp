#include "ladon/core/kernels/strided.h"

#include <algorithm>
#include <cstring>

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels {
namespace {

// Rows at least this long are passed to loops one by one, so that contiguous rows need no copy.
constexpr std::int64_t long_row = 128;
// Number of rows and columns of a piece if an operand is transposed.
constexpr std::int64_t tile_rows = 16, tile_columns = 64;

Shape in_bytes(const Shape& strides, std::int64_t item) {
  Shape bytes = strides;
  for (std::int64_t& stride : bytes) stride *= item;
  return bytes;
}

std::byte* first_byte(const Tensor& x) {
  LADON_CHECK(x.defined(), "tensor", "the tensor is undefined; it has no elements to read");
  return x.strided_bytes();
}

template <int item>
void copy_items(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t n) {
  if (from_stride == 0 && to_stride == item) {
    std::byte element[item];
    std::memcpy(element, from, item);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * item, element, item);
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * to_stride, from + i * from_stride, item);
  }
}

// Copies n items; strides are in bytes.
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from,
                  std::int64_t from_stride, std::int64_t n, std::int64_t item) {
  if (to_stride == item && from_stride == item)
    std::memcpy(to, from, static_cast<std::size_t>(n * item));
  else if (item == 1)
    copy_items<1>(to, to_stride, from, from_stride, n);
  else if (item == 2)
    copy_items<2>(to, to_stride, from, from_stride, n);
  else if (item == 4)
    copy_items<4>(to, to_stride, from, from_stride, n);
  else
    copy_items<8>(to, to_stride, from, from_stride, n);
}

// y[j, i] = x[i, j] for i < rows, j < columns; strides in bytes. The loop may belong to another
// type with items of the same size, because it only moves bits.
void transpose(const std::byte* x, std::int64_t x_row, std::byte* y, std::int64_t y_row,
               std::int64_t rows, std::int64_t columns, std::int64_t item) {
  const auto by = [&]<class E>(void (*loop)(std::int64_t, std::int64_t, const E*, std::int64_t, E*,
                                            std::int64_t)) {
    loop(rows, columns, reinterpret_cast<const E*>(x), x_row / item, reinterpret_cast<E*>(y),
         y_row / item);
  };
  if (item == 1)
    by(loops().boolean.transpose);
  else if (item == 2)
    by(loops().half.transpose);
  else if (item == 4)
    by(loops().f32.transpose);
  else
    by(loops().f64.transpose);
}

// The address of a row of one operand, which next() advances to the following row.
class RowCursor {
 public:
  RowCursor(const Shape& sizes, const Operand& operand, std::int64_t row)
      : sizes_(sizes), strides_(operand.strides), at_(operand.data) {
    for (int axis = sizes.rank() - 2; axis >= 0; --axis) {
      index_[axis] = row % sizes[axis];
      row /= sizes[axis];
      at_ += index_[axis] * strides_[axis];
    }
  }
  std::byte* at() const { return at_; }
  void next() {
    for (int axis = sizes_.rank() - 2; axis >= 0; --axis) {
      at_ += strides_[axis];
      if (++index_[axis] < sizes_[axis]) return;
      at_ -= sizes_[axis] * strides_[axis];
      index_[axis] = 0;
    }
  }

 private:
  const Shape& sizes_;
  const Shape& strides_;
  std::byte* at_;
  std::array<std::int64_t, Shape::max_rank> index_{};
};

}  // namespace

Operand Operand::input(const Tensor& x, const Shape& shape) {
  Operand operand;
  operand.data = first_byte(x);
  operand.item = static_cast<std::int64_t>(item_size(x.dtype()));
  operand.strides = Shape::filled(shape.rank(), 0);
  const int lead = shape.rank() - x.rank();
  for (int i = 0; i < x.rank(); ++i)
    if (x.shape()[i] != 1) operand.strides[lead + i] = x.strides()[i] * operand.item;
  return operand;
}

Operand Operand::output(Tensor& x) {
  Operand operand = in_place(x);
  operand.reads = false;
  return operand;
}

Operand Operand::in_place(Tensor& x) {
  Operand operand;
  operand.data = first_byte(x);
  operand.item = static_cast<std::int64_t>(item_size(x.dtype()));
  operand.strides = in_bytes(x.strides(), operand.item);
  operand.writes = true;
  x.storage().bump_version();
  return operand;
}

Pieces::Pieces(const Shape& shape, std::initializer_list<Operand> operands) {
  for (const Operand& operand : operands) operands_[operand_count_++] = operand;
  if (shape.count() == 0) return;
  merge_axes(shape);
  const int last = sizes_.rank() - 1;
  columns_ = sizes_[last];
  for (int axis = 0; axis < last; ++axis) rows_ *= sizes_[axis];
  const Shape dense = detail::contiguous_strides(sizes_);
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& operand = operands_[i];
    dense_[i] = operand.strides == in_bytes(dense, operand.item);
    constant_[i] = operand.strides == Shape::filled(sizes_.rank(), 0);
  }
  cut();
}

// A piece is several short rows, or a part of a long row. If an operand is transposed, a piece is a
// tile of rows and columns, so that the cache lines that its columns cross stay in the cache.
void Pieces::cut() {
  bool transposed = false;
  for (int i = 0; i < operand_count_; ++i) {
    const std::int64_t step = operands_[i].strides[sizes_.rank() - 1];
    transposed |= step != 0 && step != operands_[i].item;
  }
  if (transposed && rows_ >= tile_rows && columns_ >= tile_columns) {
    rows_per_piece_ = tile_rows;
    columns_per_piece_ = tile_columns;
  } else {
    columns_per_piece_ = std::min(columns_, piece_length);
    rows_per_piece_ = columns_ < long_row ? std::min(rows_, piece_length / columns_) : 1;
  }
  pieces_per_row_ = (columns_ + columns_per_piece_ - 1) / columns_per_piece_;
  count_ = (rows_ + rows_per_piece_ - 1) / rows_per_piece_ * pieces_per_row_;
  grain_ = std::max<std::int64_t>(1, task_length / (rows_per_piece_ * columns_per_piece_));
}

// Drops axes of size 1, and merges axis i with axis i+1 if in every operand
// stride[i] = stride[i+1]·size[i+1]. At least one axis is left.
void Pieces::merge_axes(const Shape& shape) {
  std::array<Shape, max_operands> strides;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const int last = sizes_.rank() - 1;
    bool even = last >= 0;
    for (int i = 0; i < operand_count_ && even; ++i)
      even = strides[i][last] == operands_[i].strides[axis] * shape[axis];
    if (even)
      sizes_[last] *= shape[axis];
    else
      sizes_.append(shape[axis]);
    for (int i = 0; i < operand_count_; ++i) {
      if (even)
        strides[i][last] = operands_[i].strides[axis];
      else
        strides[i].append(operands_[i].strides[axis]);
    }
  }
  if (sizes_.rank() == 0) {
    sizes_.append(1);
    for (int i = 0; i < operand_count_; ++i) strides[i].append(operands_[i].item);
  }
  for (int i = 0; i < operand_count_; ++i) operands_[i].strides = strides[i];
}

Pieces::Piece Pieces::at(std::int64_t index) const {
  const std::int64_t row = index / pieces_per_row_ * rows_per_piece_;
  const std::int64_t column = index % pieces_per_row_ * columns_per_piece_;
  return {row, std::min(rows_per_piece_, rows_ - row), column,
          std::min(columns_per_piece_, columns_ - column)};
}

std::byte* Pieces::direct(int i, const Piece& piece) const {
  const Operand& operand = operands_[i];
  if (dense_[i] && (piece.rows == 1 || piece.columns == columns_))
    return operand.data + (piece.row * columns_ + piece.column) * operand.item;
  if (piece.rows == 1 && operand.strides[sizes_.rank() - 1] == operand.item)
    return RowCursor(sizes_, operand, piece.row).at() + piece.column * operand.item;
  return nullptr;
}

// Copies between an operand's piece and its buffer. If the operand is transposed and the piece's
// rows are evenly spaced, transpose() moves square blocks.
template <bool gather>
void Pieces::transfer(const Operand& operand, const Piece& piece, std::byte* buffer) const {
  const auto move = [&](std::byte* at, std::int64_t stride, std::byte* in_buffer,
                        std::int64_t buffer_stride, std::int64_t n) {
    if constexpr (gather)
      copy_strided(in_buffer, buffer_stride, at, stride, n, operand.item);
    else
      copy_strided(at, stride, in_buffer, buffer_stride, n, operand.item);
  };
  const int last = sizes_.rank() - 1;
  const std::int64_t item = operand.item, step = operand.strides[last];
  RowCursor row(sizes_, operand, piece.row);
  if (piece.rows > 1 && operand.strides[last - 1] == item &&
      piece.row % sizes_[last - 1] + piece.rows <= sizes_[last - 1]) {
    std::byte* at = row.at() + piece.column * step;
    if constexpr (gather)
      transpose(at, step, buffer, piece.columns * item, piece.columns, piece.rows, item);
    else
      transpose(buffer, piece.columns * item, at, step, piece.rows, piece.columns, item);
    return;
  }
  for (std::int64_t r = 0; r < piece.rows; ++r, row.next())
    move(row.at() + piece.column * step, step, buffer + r * piece.columns * item, item,
         piece.columns);
}

Pieces::Pointers Pieces::present(const Piece& piece, Buffers& buffers) const {
  Pointers pointers{};
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& operand = operands_[i];
    pointers[i] = direct(i, piece);
    if (pointers[i]) continue;
    pointers[i] = buffers.bytes[i];
    if (!constant_[i]) {
      if (operand.reads) transfer<true>(operand, piece, pointers[i]);
    } else if (!buffers.spread[i]) {
      copy_strided(pointers[i], operand.item, operand.data, 0, rows_per_piece_ * columns_per_piece_,
                   operand.item);
      buffers.spread[i] = true;
    }
  }
  return pointers;
}

void Pieces::write_back(const Piece& piece, const Pointers& pointers) const {
  for (int i = 0; i < operand_count_; ++i)
    if (operands_[i].writes && !direct(i, piece)) transfer<false>(operands_[i], piece, pointers[i]);
}

}  // namespace ladon::kernels
