#pragma once
// Kernel matrices that are tagged as NNGP kernel or NTK.

#include <optional>
#include <string_view>
#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Kernels to compute; the NTK needs the NNGP kernel too, but not the other way round.
enum class Get { nngp, ntk };

/// A kernel matrix, tagged as NNGP kernel or NTK if that is known: gram() sets the tag, and
/// functions of several matrices compare it (check_one_kind). A plain tensor is of unknown kind,
/// and so is the result of any operation, which may have mixed kernels.
class KernelMatrix : public Tensor {
 public:
  KernelMatrix() = default;
  KernelMatrix(Tensor values, std::optional<Get> kind = {})  // NOLINT: implicit
      : Tensor(std::move(values)), kind_(kind) {}
  std::optional<Get> kind() const { return kind_; }

 private:
  std::optional<Get> kind_;
};

/// Throws Error naming both if two kernels are known to be of different kinds. For example, `other`
/// is "the cross kernel" and `first` "the kernel of the training inputs".
void check_one_kind(std::string_view operation, std::string_view first, std::optional<Get> kind,
                    std::string_view other, std::optional<Get> other_kind);

}  // namespace ladon::infinite
