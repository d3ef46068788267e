#include "ladon/layers/extra/state/functional_call.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Members of a module that hold the parameters of a set, each with the value to put there. Several
/// members may hold one parameter.
class Places {
 public:
  Places(Module& module, const ParameterSet& set, const std::vector<Tensor>& values) {
    LADON_CHECK(values.size() == set.size(), "functional_call", "got ", values.size(),
                " values for ", set.size(), " parameters; a tensor with several names counts once");
    std::map<detail::Identity, std::size_t> which;
    for (std::size_t i = 0; i < set.size(); ++i) {
      check(set[i].first, set[i].second, values[i]);
      const bool apart = which.emplace(detail::identity(set[i].second), i).second;
      LADON_CHECK(
          apart || set[i].second.count() == 0, "functional_call", "`", set[i].first,
          "` and another parameter of the set are one tensor, which cannot have two values; use "
          "distinct()");
    }
    std::set<std::size_t> found;
    detail::for_each_parameter(module, [&](const std::string&, Tensor& x) {
      const auto at = which.find(detail::identity(x));
      if (at == which.end()) return;
      places_.emplace_back(&x, values[at->second]);
      found.insert(at->second);
    });
    for (std::size_t i = 0; i < set.size(); ++i)
      LADON_CHECK(found.contains(i), "functional_call", "`", set[i].first,
                  "` is not (or no longer) a parameter of the module");
    swap();
  }
  ~Places() {
    // A member that visit() lists twice has two entries, to be undone in reverse order.
    std::reverse(places_.begin(), places_.end());
    swap();
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

 private:
  static void check(const std::string& name, const Tensor& x, const Tensor& value) {
    LADON_CHECK(value.defined(), "functional_call", "the value for `", name,
                "` is an undefined tensor; pass one for each parameter");
    LADON_CHECK(value.shape() == x.shape() && value.dtype() == x.dtype(), "functional_call", "`",
                name, "` is ", x.dtype(), " of shape ", x.shape(),
                ", and its value must be the same; got ", value.dtype(), " of shape ",
                value.shape());
  }
  void swap() {
    for (auto& [place, value] : places_) std::swap(*place, value);
  }

  std::vector<std::pair<Tensor*, Tensor>> places_;
};

}  // namespace

Tensor functional_call(Module& module, const ParameterSet& set, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f) {
  LADON_CHECK(f, "functional_call", "the function is empty; pass one that calls the module");
  const Places until_the_end(module, set, values);
  return f();
}

Tensor functional_call(Module& module, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f) {
  return functional_call(module, module.named_parameters(), values, f);
}

}  // namespace ladon
