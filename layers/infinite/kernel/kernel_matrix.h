#pragma once
// Kernel matrices that know which kernel they are of.

#include <optional>
#include <string_view>
#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Which kernels are computed; an NTK needs the NNGP kernel, but not the other way round.
enum class Get { nngp, ntk };

/// A kernel matrix, and whether it is an NNGP kernel or an NTK where that is known: gram() tells,
/// and what computes with several matrices compares (check_one_kind). A tensor is one of unknown
/// kind, and so is the result of any operation, which may have mixed kernels.
class KernelMatrix : public Tensor {
 public:
  KernelMatrix() = default;
  KernelMatrix(Tensor values, std::optional<Get> kind = {})  // NOLINT: implicit
      : Tensor(std::move(values)), kind_(kind) {}
  std::optional<Get> kind() const { return kind_; }

 private:
  std::optional<Get> kind_;
};

/// Throws Error naming both where two kernels are known to be of different kinds. `other`: "the
/// cross kernel", say; `first`: "the kernel of the training inputs".
void check_one_kind(std::string_view operation, std::string_view first, std::optional<Get> kind,
                    std::string_view other, std::optional<Get> other_kind);

}  // namespace ladon::infinite
