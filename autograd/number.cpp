#include "ladon/autograd/number.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/record.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/error.h"

namespace ladon {

void check_plain(const char* operation, const Tensor& x, std::string_view what) {
  check_defined(operation, {x});
  LADON_CHECK(!x.mapped(), operation, "reads ", what, " of shape ", x.shape(),
              " as plain numbers, but inside vmap it has ", x.examples(),
              " examples; call it outside of vmap, once per example");
  if (is_plain(x)) return;
  const bool dual = detail::visible(x) != nullptr;
  detail::fail(operation, "reads ", what, " of shape ", x.shape(),
               " as plain numbers, and would lose its derivative: it ",
               dual ? "has a tangent of jvp" : "requires a gradient",
               "; pass x.detach(), or call it ",
               dual ? "outside of jvp" : "under NoGrad, if you need no derivative");
}

bool is_plain(const Tensor& x) { return !x.mapped() && !recorded({x}); }

double number_of(const char* operation, const Tensor& x) {
  check_plain(operation, x);
  return x.item();
}

std::vector<double> numbers_of(const char* operation, const Tensor& x) {
  check_plain(operation, x);
  return x.to_vector();
}

}  // namespace ladon
