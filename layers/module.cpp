#include "ladon/layers/module.h"

#include <iomanip>
#include <set>
#include <sstream>

#include "ladon/core/error.h"
#include "ladon/core/io/safetensors.h"
#include "ladon/layers/infinite/kernel.h"

namespace ladon {
namespace {

/// Walks a module and all inside it, calling a function for each member under its dotted name.
class Walk final : public Visitor {
 public:
  enum class Kind { parameter, buffer, hyperparameter };
  std::function<void(const std::string&, Tensor&, Kind)> on_tensor = [](auto&&...) {};
  std::function<void(const std::string&, Module&)> on_module = [](auto&&...) {};

  void run(Module& root) {
    on_module("", root);
    root.visit(*this);
  }
  void buffer(std::string_view name, Tensor& x) override {
    if (x.defined()) on_tensor(prefix_ + std::string(name), x, Kind::buffer);
  }
  void hyperparameter(std::string_view name, Tensor& x) override {
    if (x.defined()) on_tensor(prefix_ + std::string(name), x, Kind::hyperparameter);
  }

 protected:
  void parameter(std::string_view name, Tensor& x) override {
    on_tensor(prefix_ + std::string(name), x, Kind::parameter);
  }
  void module(std::string_view name, Module& m) override {
    const std::string outer = prefix_;
    on_module(prefix_ + std::string(name), m);
    prefix_ += std::string(name) + ".";
    m.visit(*this);
    prefix_ = outer;
  }

 private:
  std::string prefix_;
};

}  // namespace

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() {
  std::vector<std::pair<std::string, Tensor>> found;
  std::set<const Node*> seen;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::parameter && (!x.history() || seen.insert(x.history().get()).second))
      found.emplace_back(path, x);
  };
  walk.run(*this);
  return found;
}

std::vector<Tensor> Module::parameters() {
  std::vector<Tensor> found;
  for (auto& [path, x] : named_parameters()) found.push_back(x);
  return found;
}

std::vector<std::pair<std::string, Tensor>> Module::hyperparameters() {
  std::vector<std::pair<std::string, Tensor>> found;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::hyperparameter) found.emplace_back(path, x);
  };
  walk.run(*this);
  return found;
}

void Module::set_hyperparameter(const std::string& path, const Tensor& value) {
  LADON_CHECK(value.defined() && value.rank() == 0 && value.dtype() == f64, "set_hyperparameter",
              "`", path, "` is an f64 number; got shape ", value.shape(), ", ", value.dtype());
  bool known = false;
  Walk walk;
  walk.on_tensor = [&](const std::string& name, Tensor& x, Walk::Kind kind) {
    if (kind != Walk::Kind::hyperparameter || name != path) return;
    x = value;
    known = true;
  };
  walk.run(*this);
  LADON_CHECK(known, "set_hyperparameter", "the module has no hyper-parameter `", path, "`");
}

std::int64_t Module::parameter_count() {
  std::int64_t count = 0;
  for (const Tensor& x : parameters()) count += x.count();
  return count;
}

void Module::zero_grad() {
  for (Tensor& x : parameters())
    if (x.requires_grad()) x.set_grad(Tensor());
}

StateDict Module::state_dict() {
  StateDict state;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind) {
    LADON_CHECK(state.emplace(path, x.detach()).second, "state_dict", "two members are named `",
                path, "`; visit() must name each once");
  };
  walk.run(*this);
  return state;
}

void Module::load_state_dict(const StateDict& state) {
  StateDict mine = state_dict();
  for (const auto& [path, x] : mine) {
    const auto found = state.find(path);
    LADON_CHECK(found != state.end(), "load_state_dict", "`", path, "` (shape ", x.shape(),
                ") is missing from the state");
    LADON_CHECK(found->second.defined() && found->second.shape() == x.shape(), "load_state_dict",
                "`", path, "` has shape ", found->second.shape(), " in the state and ", x.shape(),
                " in the module");
  }
  for (const auto& [path, x] : state)
    LADON_CHECK(mine.contains(path), "load_state_dict", "the state has `", path, "` (shape ",
                x.shape(), "), which the module does not have");
  for (auto& [path, x] : mine) copy_(x, state.at(path).detach());
}

void Module::save(const std::filesystem::path& path) { save_safetensors(path, state_dict()); }
void Module::load(const std::filesystem::path& path) { load_state_dict(load_safetensors(path)); }

void Module::to(DType dtype) {
  LADON_CHECK(is_floating(dtype), "to", "a module computes in f32 or f64, not in ", dtype);
  std::map<std::shared_ptr<Node>, Tensor> converted;  // what members share stays shared
  Walk walk;
  walk.on_tensor = [&](const std::string&, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::hyperparameter) return;
    if (!is_floating(x.dtype()) || x.dtype() == dtype) return;
    if (!x.requires_grad()) {
      x = cast(x, dtype);
      return;
    }
    Tensor& y = converted[x.history()];
    if (!y.defined()) y = ladon::parameter(cast(x.detach(), dtype));
    x = y;
  };
  walk.run(*this);
}

void Module::train(bool on) {
  Walk walk;
  walk.on_module = [on](const std::string&, Module& m) { m.training_ = on; };
  walk.run(*this);
}

std::string Module::summary() {
  struct Row {
    std::string path, description;
    std::int64_t count;
  };
  std::vector<Row> rows;
  std::size_t path_width = 6, description_width = 6;
  Walk walk;
  walk.on_module = [&](const std::string& path, Module& m) {
    rows.push_back({path.empty() ? "·" : path, m.describe(), m.parameter_count()});
    path_width = std::max(path_width, rows.back().path.size());
    description_width = std::max(description_width, rows.back().description.size());
  };
  walk.run(*this);
  std::ostringstream out;
  const auto line = [&](const std::string& path, const std::string& text,
                        const std::string& count) {
    out << path << std::string(path_width + 2 - path.size(), ' ') << text
        << std::string(description_width + 2 - text.size(), ' ') << std::setw(12) << count << '\n';
  };
  line("module", "layer", "parameters");
  for (const Row& row : rows) line(row.path, row.description, std::to_string(row.count));
  return out.str();
}

Tensor Layer::forward_masked(const Tensor& x, const Tensor&) const { return forward(x); }

infinite::Kernel Layer::limit(const infinite::Kernel&) const {
  detail::fail("limit", describe() +
                            " has no limit in closed form; estimate its kernel from finite "
                            "networks with infinite::monte_carlo_kernel");
}

Tensor parameter(Tensor x) { return x.set_requires_grad(); }

}  // namespace ladon
