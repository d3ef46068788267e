#include "ladon/layers/infinite/kernel/kernel_matrix.h"

#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

std::string_view describe(Get kind) { return kind == Get::nngp ? "an NNGP kernel" : "an NTK"; }

}  // namespace

void check_one_kind(std::string_view operation, std::string_view first, std::optional<Get> kind,
                    std::string_view other, std::optional<Get> other_kind) {
  if (!kind || !other_kind || *kind == *other_kind) return;
  detail::fail(operation, first, " is ", describe(*kind), ", but ", other, " is ",
               describe(*other_kind),
               "; use one kind for both: .nngp or .ntk of gram(), the same .get in store_gram()");
}

}  // namespace ladon::infinite
