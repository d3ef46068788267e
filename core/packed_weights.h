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

/// Form of packed weights. float32 keeps them unchanged. bfloat16 rounds them, and takes half the
/// bytes. int8 stores integers up to ±127 and one scale per output and block of 64 inputs (the
/// largest |weight| of the block, divided by 127); it takes 0.27 times the bytes, and each weight
/// errs by at most half a scale.
enum class WeightForm { float32, bfloat16, int8 };

/// Copies of weights, in the order in which products read them, for inference:
///
///   const PackedWeights packed(model.parameters(), WeightForm::int8);
///   generate(next_token(model), prompt, {}, rng);
///
/// While the object is alive on this thread, products [.., m, k] · [k, n] in which the matrix
/// [k, n] is one of these weights, in f32, read its copy. Every Linear, projection of attention and
/// tied embedding computes such a product. Products that are recorded for autograd read the
/// original weights, so use NoGrad. With few rows, as in decoding, a product takes as long as
/// reading its weights, so fewer bytes are faster. Results are, bit for bit, those under
/// RowwiseProducts (core/rowwise.h) with the packed values of the weights, so rows do not depend on
/// each other.
///
/// A weight is copied at the first product with it, and again at the first one after it was written
/// to. The weights themselves keep their values and their memory; bytes() counts the copies alone.
/// A product throws Error if a weight is not finite (int8) or would round to infinity (bfloat16).
/// Background tasks that were started while the object was alive must end before it is destroyed.
///
/// If several objects are alive on a thread, the one constructed last is used, in whatever order
/// they are destroyed. An object may be destroyed on another thread while its own thread computes
/// nothing. If no product has read the copies (all products were recorded or ran on other threads,
/// or the weights are not f32), the destructor warns on std::cerr, once per process.
class PackedWeights : private detail::Scoped<const PackedWeights*> {
 public:
  explicit PackedWeights(std::vector<Tensor> weights, WeightForm form = WeightForm::float32);
  ~PackedWeights();
  std::size_t bytes() const;
  /// Number of products with these weights, on this thread, that read the original weights because
  /// they were recorded for autograd.
  std::int64_t passed_over() const { return passed_over_.load(std::memory_order_relaxed); }

  // --- for the functions that compute products ---

  void pass_over(const Tensor& matrix) const;
  struct Matrix;
  /// The packed copy of a matrix [k, n] that is one of the weights, or a view of all elements of
  /// one, such as its transpose; null for any other matrix.
  std::shared_ptr<const Matrix> find(const Tensor& matrix) const;

 private:
  /// Address, strides and sizes of a matrix.
  using Place = std::tuple<const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  bool known(const Tensor& matrix) const;
  Storage room(std::size_t bytes, std::byte*& place) const;

  std::vector<Tensor> weights_;
  std::size_t other_dtypes_ = 0;  // number of given matrices that are not f32
  WeightForm form_;
  mutable std::atomic<std::int64_t> passed_over_ = 0;
  std::size_t slab_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable Storage slab_;  // newest block of memory for copies; its first `used_` bytes are taken
  mutable std::size_t used_ = 0;
  mutable std::map<Place, std::shared_ptr<const Matrix>> matrices_;
};

}  // namespace ladon
