#pragma once
// Random matrices that all passes over one Gram matrix share. Internal to the limits of attention
// and to gram().

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Cache of the matrices Z of draws (SharedDraws in logits.h). The passes over landmarks, over
/// single inputs and over the pairs of each tile use the same ones: each is drawn once and kept, up
/// to a number of bytes; matrices that do not fit are drawn again at each use. A matrix depends on
/// nothing but its key, so results have the same bits with any cache, and with none.
class KeptDraws {
 public:
  /// Key of the draws that one attention layer makes for one replicate (independent estimate):
  /// their generator, and the rank R of Z.
  struct Source {
    std::uint64_t seed, stream;
    std::int64_t rank;
    auto operator<=>(const Source&) const = default;
  };

  static constexpr double few_bytes = 32e6;  ///< Default limit, if allow() is not called.

  /// Keeps at most `bytes`.
  explicit KeptDraws(double bytes = few_bytes) : most_bytes_(bytes) {}
  /// Keeps at most `bytes` from now on; matrices that are kept already stay.
  void allow(double bytes);

  /// Z of draw `number`. Calls draw() to make it unless it is kept. If several threads ask for it
  /// at once, one of them makes it and the others wait. A thread cannot wait for itself, since the
  /// parallel loops inside draw() start no other task on the thread that runs them.
  Tensor get(const Source& source, std::int64_t number, const std::function<Tensor()>& draw);

  /// Records, for expected_bytes(), that a layer uses the first `draws` matrices of a source.
  void expect(const Source& source, std::int64_t draws);
  /// Bytes of all matrices that expect() has recorded.
  double expected_bytes() const;

 private:
  struct Kept {
    std::mutex mutex;
    Tensor z;
  };
  Kept* place(const Source& source, std::int64_t number);

  mutable std::mutex mutex_;
  double most_bytes_, bytes_ = 0;
  std::map<std::pair<Source, std::int64_t>, std::unique_ptr<Kept>> kept_;
  std::map<Source, std::int64_t> expected_;
};

}  // namespace ladon::infinite
