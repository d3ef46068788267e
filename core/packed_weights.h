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

/// Form of packed weights. float32: as they are. bfloat16: rounded to it, half the bytes. int8:
/// whole multiples, up to ±127, of one scale per output and 64 inputs (the largest |w| of these is
/// 127 of it), in .27 of the bytes; so a weight errs by half a scale at most.
enum class WeightForm { float32, bfloat16, int8 };

/// Copies of weights, in the order in which products read them, for inference:
///
///   const PackedWeights packed(model.parameters(), WeightForm::int8);
///   generate(next_token(model), prompt, {}, rng);
///
/// While it is alive on this thread, products with these tensors of f32 as matrices ([.., m, k] ·
/// [k, n]: every Linear, projection of attention, and tied embedding) that are not recorded
/// (NoGrad) read the copies. With few rows, as in decoding, their time is that of reading memory
/// once, and the fewer bytes the less. What is computed is RowwiseProducts' (core/rowwise.h), bit
/// for bit, of the weights as they are or as they were rounded: rows do not depend on each other.
///
/// A copy is made at the first product with a weight, and anew at the next one after it was written
/// to. The weights stay as they are, and keep their memory. bytes(): held by the copies. Throws
/// Error, at the product, for an int8 copy of weights that are not finite, and for a bfloat16 one
/// of a weight that it would round to infinity. What runs in the
/// background has to end before it, if it was begun under it.
///
/// Of several on a thread the one made last counts, in whatever order they end; one may end on
/// another thread, while its own computes nothing. One that no product reads says so on std::cerr,
/// once, at its end: all were recorded, or on other threads, or the weights are not f32.
class PackedWeights : private detail::Scoped<const PackedWeights*> {
 public:
  explicit PackedWeights(std::vector<Tensor> weights, WeightForm form = WeightForm::float32);
  ~PackedWeights();
  std::size_t bytes() const;
  /// Number of products of this thread with its weights that read no copy, since they were
  /// recorded.
  std::int64_t passed_over() const { return passed_over_.load(std::memory_order_relaxed); }

  // --- for products ---

  void pass_over(const Tensor& matrix) const;
  struct Matrix;
  /// The copy of a matrix [k, n]; null unless it is one of the weights, in any layout.
  std::shared_ptr<const Matrix> find(const Tensor& matrix) const;

 private:
  /// Where a matrix stands, with its strides and sizes.
  using Place = std::tuple<const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  bool known(const Tensor& matrix) const;
  Storage room(std::size_t bytes, std::byte*& place) const;

  std::vector<Tensor> weights_;
  std::size_t other_dtypes_ = 0;  // matrices among what was given that are not f32
  WeightForm form_;
  mutable std::atomic<std::int64_t> passed_over_ = 0;
  std::size_t slab_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable Storage slab_;  // the last one, of which `used_` bytes are taken
  mutable std::size_t used_ = 0;
  mutable std::map<Place, std::shared_ptr<const Matrix>> matrices_;
};

}  // namespace ladon
