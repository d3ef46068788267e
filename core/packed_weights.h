#pragma once
// Weights packed for inference.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Form of packed weights. float32: unchanged. bfloat16: rounded, half the bytes. int8: integers up
/// to ±127 times a scale, one scale per output and block of 64 inputs (the largest |w| of the block
/// / 127), .27 of the bytes; a weight errs by half a scale at most.
enum class WeightForm { float32, bfloat16, int8 };

/// Copies of weights, in the order in which products read them, for inference:
///
///   const PackedWeights packed(model.parameters(), WeightForm::int8);
///   generate(next_token(model), prompt, {}, rng);
///
/// While it is alive on this thread, products with these f32 tensors as matrices ([.., m, k] ·
/// [k, n]: every Linear, projection of attention, and tied embedding) read the copies, unless they
/// are recorded (so use NoGrad). With few rows, as in decoding, a product takes as long as reading
/// its weights, so fewer bytes are faster. Results are those of RowwiseProducts (core/rowwise.h),
/// bit for bit, with the weights as packed: rows do not depend on each other.
///
/// A weight is copied at the first product with it, and again at the first one after it was written
/// to. The weights themselves keep their values and their memory; bytes() counts the copies alone.
/// A product throws Error if a weight is not finite (int8) or would round to infinity (bfloat16).
/// Background tasks that were started while it was alive must end before it.
///
/// Of several on a thread the one made last is used, in whatever order they end. It may end on
/// another thread while its own thread computes nothing. If no product has read it (all were
/// recorded, or on other threads, or the weights are not f32), it warns on std::cerr when it
/// ends, once per process.
class PackedWeights : private detail::Scoped<const PackedWeights*> {
 public:
  explicit PackedWeights(std::vector<Tensor> weights, WeightForm form = WeightForm::float32);
  ~PackedWeights();
  std::size_t bytes() const;
  /// Number of products with its weights, on this thread, that read no copy because they were
  /// recorded.
  std::int64_t passed_over() const { return passed_over_.load(std::memory_order_relaxed); }

  // --- for products ---

  void pass_over(const Tensor& matrix) const;
  struct Matrix;
  /// The copy of a matrix [k, n]; null unless it is one of the weights, in any layout.
  std::shared_ptr<const Matrix> find(const Tensor& matrix) const;

 private:
  /// Address, strides and sizes of a matrix.
  using Place = std::tuple<const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  bool known(const Tensor& matrix) const;
  Storage room(std::size_t bytes, std::byte*& place) const;

  std::vector<Tensor> weights_;
  std::size_t other_dtypes_ = 0;  // given matrices that are not f32
  WeightForm form_;
  mutable std::atomic<std::int64_t> passed_over_ = 0;
  std::size_t slab_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable Storage slab_;  // the newest slab; its first `used_` bytes are taken
  mutable std::size_t used_ = 0;
  mutable std::map<Place, std::shared_ptr<const Matrix>> matrices_;
};

}  // namespace ladon
