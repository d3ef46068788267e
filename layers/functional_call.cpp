#include "ladon/layers/functional_call.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Where the parameters stand, each with the value for it. A parameter may have several places.
class Places final : public Visitor {
 public:
  explicit Places(const std::vector<Tensor>& values) : values_(values) {}

  void buffer(std::string_view, Tensor&) override {}
  std::size_t parameters() const { return which_.size(); }
  void swap() {
    for (auto& [place, value] : places_) std::swap(*place, value);
  }

 private:
  void parameter(std::string_view name, Tensor& x) override {
    const std::string path = prefix_ + std::string(name);
    const std::size_t i = which_.emplace(x.history(), which_.size()).first->second;
    LADON_CHECK(i < values_.size(), "functional_call", "got ", values_.size(),
                " values, and none is left for `", path, "`");
    const Tensor& value = values_[i];
    LADON_CHECK(value.defined(), "functional_call", "the value for `", path, "` is undefined");
    LADON_CHECK(value.shape() == x.shape() && value.dtype() == x.dtype(), "functional_call", "`",
                path, "` is ", x.dtype(), " of shape ", x.shape(), "; the value is ", value.dtype(),
                " of shape ", value.shape());
    places_.emplace_back(&x, value);
  }
  void module(std::string_view name, Module& m) override {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + ".";
    m.visit(*this);
    prefix_ = outer;
  }

  const std::vector<Tensor>& values_;
  std::string prefix_;
  std::map<std::shared_ptr<Node>, std::size_t> which_;
  std::vector<std::pair<Tensor*, Tensor>> places_;
};

}  // namespace

Tensor functional_call(Module& module, const std::vector<Tensor>& values,
                       const std::function<Tensor()>& f) {
  Places places(values);
  module.visit(places);
  LADON_CHECK(places.parameters() == values.size(), "functional_call", "got ", values.size(),
              " values for ", places.parameters(), " parameters");
  struct Exchange {
    explicit Exchange(Places& p) : places(p) { places.swap(); }
    ~Exchange() { places.swap(); }
    Places& places;
  };
  const Exchange until_the_end(places);
  return f();
}

}  // namespace ladon
