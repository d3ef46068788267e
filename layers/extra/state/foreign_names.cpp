#include "ladon/layers/extra/state/foreign_names.h"

#include <set>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

Tensor laid_out(const ForeignTensor& entry, const StateDict& own) {
  const auto found = own.find(entry.own);
  LADON_CHECK(found != own.end(), "foreign names", "the model has no tensor `", entry.own,
              "`, which the list of foreign names has; is the model of another architecture?");
  const Tensor x = found->second.detach();
  return contiguous(entry.out ? entry.out(x) : x);
}

}  // namespace

Tensor heads_joined(const Tensor& x) { return flatten(x, 0, 1); }

std::function<Tensor(const Tensor&)> heads_apart(std::int64_t heads) {
  return [heads](const Tensor& x) {
    Shape shape{heads, x.size(0) / heads};
    if (x.rank() == 2) shape.append(x.size(1));
    return reshape(x, shape);
  };
}

StateDict to_foreign(const Module& model, const std::vector<ForeignTensor>& list) {
  const NoGrad no_grad;
  const StateDict own = model.state_dict();
  StateDict state;
  std::vector<Tensor> parts;
  for (const ForeignTensor& entry : list) {
    parts.push_back(laid_out(entry, own));
    if (static_cast<int>(parts.size()) < entry.parts) continue;
    state[entry.foreign] = parts.size() == 1 ? clone(parts[0]) : concat(parts, entry.axis);
    parts.clear();
  }
  return state;
}

void from_foreign(Module& model, const std::vector<ForeignTensor>& list, const StateDict& state,
                  const std::function<bool(const std::string&)>& passed_over) {
  const NoGrad no_grad;
  const StateDict own = model.state_dict();
  StateDict loaded;
  std::set<std::string> used;
  for (const ForeignTensor& entry : list) {
    const auto found = state.find(entry.foreign);
    LADON_CHECK(found != state.end(), "foreign names", "`", entry.foreign,
                "` is missing from the state; the model needs it for `", entry.own, "`");
    used.insert(entry.foreign);
    Shape expected = laid_out(entry, own).shape();
    const std::int64_t width = expected[entry.axis];
    expected[entry.axis] *= entry.parts;
    LADON_CHECK(found->second.shape() == expected, "foreign names", "`", entry.foreign,
                "` has shape ", found->second.shape(), ", expected ", expected, " for `", entry.own,
                "`");
    const Slice mine{.start = entry.part * width, .stop = (entry.part + 1) * width};
    const Tensor x = entry.parts == 1 ? found->second : slice(found->second, entry.axis, mine);
    loaded[entry.own] = entry.in ? entry.in(x) : x;
  }
  for (const auto& [name, x] : state)
    LADON_CHECK(used.contains(name) || passed_over(name), "foreign names", "`", name, "` (shape ",
                x.shape(), ") is not in this model; remove it from the state");
  model.load_state_dict(loaded);
}

}  // namespace ladon
