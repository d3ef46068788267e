#include "ladon/core/packed_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/loops/products/weights.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/machine/warning.h"
#include "ladon/core/view.h"

namespace ladon {

using kernels::weight_group;
using std::int64_t;

namespace {

int64_t pieces_of(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

// Copies are placed in slabs of at most this size: memory is read at full speed only from huge
// pages, which are larger than many matrices.
constexpr std::size_t most_slab_bytes = std::size_t{1} << 25, line_bytes = 64;

const kernels::WeightForms& forms() { return *kernels::loops().weights; }

}  // namespace

struct PackedWeights::Matrix {
  Matrix(const PackedWeights& all, const Tensor& x, WeightForm form)
      : loops(forms().of[static_cast<int>(form)]),
        k(x.size(0)),
        n(x.size(1)),
        version(x.storage().version()),
        words(pieces_of(k, loops.rows) * forms().columns),
        numbers(form == WeightForm::int8 ? pieces_of(k, weight_group) * forms().columns : 0),
        held(all.room(bytes(), place)) {
    const int64_t line = x.strides()[1], step = x.strides()[0];
    for_panels(1, [&](int64_t j, int64_t first, int64_t columns) {
      const Storage wide(static_cast<std::size_t>(k * forms().columns) * sizeof(float));
      auto* const floats = reinterpret_cast<float*>(wide.bytes());
      forms().pack(columns, k, x.strided_data<float>() + first * line, line, step, floats);
      if (form == WeightForm::bfloat16) check_range(x, floats, k * forms().columns);
      loops.narrow(k, floats, panel(j), scale(j));
    });
    const float* from = scale(0);
    LADON_CHECK(
        std::all_of(from, from + numbers * count(), [](float s) { return std::isfinite(s); }),
        "PackedWeights", "weights ", x.shape(),
        " have NaN or infinite elements, which int8 cannot hold; look for the training step "
        "that made them so");
  }

  /// Throws Error for a finite weight that bfloat16 would round to infinity.
  static void check_range(const Tensor& x, const float* weights, int64_t n) {
    constexpr float beyond = 0x1.ffp127f;  // half a step above the largest bf16
    for (int64_t i = 0; i < n; ++i)
      LADON_CHECK(!(std::abs(weights[i]) >= beyond) || std::isinf(weights[i]), "PackedWeights",
                  "weights ", x.shape(), " hold ", weights[i],
                  ", which bfloat16 rounds to infinity; use float32, or look for the training step "
                  "that made it so large");
  }

  int64_t count() const { return pieces_of(n, forms().columns); }
  std::size_t bytes() const {
    return static_cast<std::size_t>(count() * (words + numbers)) * sizeof(float);
  }
  std::uint32_t* panel(int64_t j) const {
    return reinterpret_cast<std::uint32_t*>(place) + j * words;
  }
  float* scale(int64_t j) const { return reinterpret_cast<float*>(panel(count())) + j * numbers; }

  /// Calls body(j, first column, number of columns) for each panel j. `rows` is the number of rows
  /// that are multiplied by each panel.
  template <class Body>
  void for_panels(int64_t rows, const Body& body) const {
    const int64_t columns = forms().columns;
    const int64_t grain = 1 + (int64_t{1} << 16) / (columns * k * std::max<int64_t>(1, rows));
    parallel::for_range(count(), grain, [&](int64_t j, int64_t end) {
      for (; j < end; ++j) body(j, j * columns, std::min(columns, n - j * columns));
    });
  }

  /// y ← a·(this matrix) + row, for a and y of m dense rows; `row` may be null.
  void multiply(int64_t m, const float* a, const float* row, float* y) const {
    for_panels(m, [&](int64_t j, int64_t first, int64_t columns) {
      loops.multiply(m, columns, k, a, k, panel(j), scale(j), row ? row + first : row, y + first,
                     n);
    });
  }

  const kernels::WeightLoops& loops;
  int64_t k, n;
  std::uint32_t version;
  int64_t words, numbers;  // number of 4-byte words of a panel; number of its scales
  std::byte* place;        // address of the panels, which the scales follow
  Storage held;
};

PackedWeights::PackedWeights(std::vector<Tensor> weights, WeightForm form)
    : Scoped(detail::modes.packed, this), weights_(std::move(weights)), form_(form) {
  std::erase_if(weights_, [this](const Tensor& x) {
    const bool matrix = x.defined() && x.rank() >= 2 && x.count() > 0;
    if (matrix && x.dtype() != f32) ++other_dtypes_;
    return !matrix || x.dtype() != f32;
  });
  for (const Tensor& x : weights_)
    slab_bytes_ += static_cast<std::size_t>(x.count()) * sizeof(float);
  slab_bytes_ = std::min(slab_bytes_, most_slab_bytes);
}

PackedWeights::~PackedWeights() {
  static std::once_flag said;
  if (matrices_.empty() && (!weights_.empty() || other_dtypes_ > 0))
    std::call_once(said, [this] {
      const auto others = static_cast<std::size_t>(other_dtypes_);
      std::string text =
          detail::join("none of the ", weights_.size() + others, " packed weights was used");
      if (!weights_.empty() && passed_over() == 0)
        text += ": no product with them ran on its thread while the scope was alive";
      if (passed_over() > 0)
        text +=
            detail::join(": ", passed_over(), " products were recorded; wrap inference in NoGrad");
      if (others > 0)
        text += detail::join("; ", others, " weights are not f32; call model.to(f32) first");
      detail::warn("PackedWeights", text);
    });
}

/// Takes memory for a copy from the newest slab. Returns the slab, and in `place` the address.
Storage PackedWeights::room(std::size_t bytes, std::byte*& place) const {
  if (used_ + bytes > slab_.size()) {
    slab_ = Storage(std::max(bytes, slab_bytes_));
    used_ = 0;
  }
  place = slab_.bytes() + used_;
  used_ += (bytes + line_bytes - 1) / line_bytes * line_bytes;
  return slab_;
}

std::size_t PackedWeights::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [place, matrix] : matrices_) sum += matrix->bytes();
  return sum;
}

bool PackedWeights::known(const Tensor& x) const {
  return x.dtype() == f32 && x.rank() == 2 && x.count() > 0 &&
         std::any_of(weights_.begin(), weights_.end(), [&](const Tensor& weight) {
           return weight.storage() == x.storage() && weight.count() == x.count();
         });
}

void PackedWeights::pass_over(const Tensor& x) const {
  if (known(x)) passed_over_.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<const PackedWeights::Matrix> PackedWeights::find(const Tensor& x) const {
  if (!known(x)) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& matrix =
      matrices_[{x.strided_data<float>(), x.strides()[0], x.strides()[1], x.size(0), x.size(1)}];
  if (!matrix || matrix->version != x.storage().version())
    matrix = std::make_shared<const Matrix>(*this, x, form_);
  return matrix;
}

namespace kernels {

Tensor multiply_packed(const Tensor& a, const Tensor& b, const Tensor& row) {
  if (detail::modes.recording) detail::modes.packed->pass_over(b);
  if (detail::modes.recording || a.dtype() != f32 || a.rank() < 2) return {};
  const auto matrix = detail::modes.packed->find(b);
  if (!matrix || a.size(-1) != matrix->k) return {};
  const Tensor rows = contiguous(a);
  Shape shape = a.shape().sub(0, a.rank() - 1);
  const int64_t m = shape.count();
  shape.append(matrix->n);
  Tensor y = empty(shape, f32);
  matrix->multiply(m, rows.data<float>(), row.defined() ? row.data<float>() : nullptr,
                   y.mutable_data<float>());
  return y;
}

}  // namespace kernels
}  // namespace ladon
