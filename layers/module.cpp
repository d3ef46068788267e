#include "ladon/layers/module.h"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/io/tensors/safetensors.h"

namespace ladon {
namespace {

/// Visits a module and all modules inside it, and calls a function for each member with its dotted
/// name.
class Walk final : public Visitor {
 public:
  enum class Kind { parameter, buffer, hyperparameter };
  std::function<void(const std::string&, Tensor&, Kind)> on_tensor = [](auto&&...) {};
  std::function<void(const std::string&, Module&)> on_module = [](auto&&...) {};
  std::function<void(const std::string&, Generator&)> on_generator = [](auto&&...) {};
  std::function<void(const std::string&, Owned<Layer>&, bool)> on_place = [](auto&&...) {};

  void run(Module& root) {
    on_module("", root);
    current_ = &root;
    root.visit(*this);
  }
  void generator(std::string_view name, Generator& rng) override {
    on_generator(prefix_ + std::string(name), rng);
  }
  void place(std::string_view name, Owned<Layer>& layer) override {
    on_place(prefix_ + std::string(name), layer, current_->training());
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
    detail::check_nesting("visit", ++depth_);
    const std::string outer = prefix_;
    on_module(prefix_ + std::string(name), m);
    const Module* around = std::exchange(current_, &m);
    prefix_ += std::string(name) + ".";
    m.visit(*this);
    prefix_ = outer;
    current_ = around;
    --depth_;
  }

 private:
  std::string prefix_;
  const Module* current_ = nullptr;
  int depth_ = 0;
};

}  // namespace

void detail::check_nesting(const char* operation, int depth) {
  constexpr int most = 1000;  // each call takes about 4 kB of the 8 MB stack under sanitizers
  LADON_CHECK(depth < most, operation, "modules are nested deeper than ", most,
              ", which would overflow the stack; put the layers into one Sequential, one after the "
              "other");
}

namespace {

/// Runs `walk` on a const module; the callbacks of `walk` must not change it.
void look(Walk& walk, const Module& root) { walk.run(const_cast<Module&>(root)); }

/// Display width of UTF-8 text: its number of code points.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to) {
  return text + std::string(to - width(text), ' ');
}

}  // namespace

ParameterSet Module::named_parameters() const {
  ParameterSet found;
  std::set<detail::Identity> seen;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::parameter && seen.insert(detail::identity(x)).second)
      found.emplace_back(path, x);
  };
  look(walk, *this);
  return found;
}

std::vector<Tensor> Module::parameters() const { return named_parameters().tensors(); }

ParameterSet Module::choose(const std::string& pattern) const {
  return named_parameters().choose(pattern);
}

ParameterSet Module::choose(std::initializer_list<const char*> patterns) const {
  return named_parameters().choose(patterns);
}

ParameterSet Module::choose(const ParameterChoice& choice) const {
  return named_parameters().choose(choice);
}

ParameterSet Module::choose(const std::function<bool(const Module&)>& choice) const {
  LADON_CHECK(static_cast<bool>(choice), "choose",
              "the choice must be a function of a module, but it is empty");
  ParameterSet inside;
  Walk walk;
  walk.on_module = [&](const std::string&, Module& m) {
    if (choice(m)) inside = inside | m.named_parameters();
  };
  look(walk, *this);
  const ParameterSet all = named_parameters();
  return all.except(all.except(inside));  // the same tensors, under their names in this module
}

std::vector<std::pair<std::string, Tensor>> Module::hyperparameters() const {
  std::vector<std::pair<std::string, Tensor>> found;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::hyperparameter) found.emplace_back(path, x);
  };
  look(walk, *this);
  return found;
}

void Module::set_hyperparameter(const std::string& path, const Tensor& value) {
  LADON_CHECK(value.defined() && value.rank() == 0 && value.dtype() == f64, "set_hyperparameter",
              "`", path, "` must be an f64 number of rank 0; got ", detail::kind_in_words(value));
  bool known = false;
  Walk walk;
  walk.on_tensor = [&](const std::string& name, Tensor& x, Walk::Kind kind) {
    if (kind != Walk::Kind::hyperparameter || name != path) return;
    x = value;
    known = true;
  };
  walk.run(*this);
  LADON_CHECK(known, "set_hyperparameter", "the module has no hyper-parameter `", path,
              "`; hyperparameters() lists those that it has");
}

std::vector<std::pair<std::string, Generator*>> Module::generators() {
  std::vector<std::pair<std::string, Generator*>> found;
  Walk walk;
  walk.on_generator = [&](const std::string& path, Generator& rng) {
    found.emplace_back(path, &rng);
  };
  walk.run(*this);
  return found;
}

std::int64_t Module::parameter_count() const { return named_parameters().count(); }
void Module::zero_grad() { named_parameters().zero_grad(); }

StateDict Module::state_dict() const {
  StateDict state;
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind) {
    LADON_CHECK(state.emplace(path, x.detach()).second, "state_dict", "two members are named `",
                path, "`; visit() must give each member a different name");
  };
  look(walk, *this);
  return state;
}

LoadReport Module::load_state_dict(const StateDict& state, const LoadOptions& options) {
  return detail::load_state(state_dict(), state, options);
}

void Module::save(const std::string& path) const {
  const StateDict state = state_dict();
  LADON_CHECK(!state.empty(), "save", describe(), " has no tensors to write to `", path,
              "`: it has no parameters, or was moved from");
  save_safetensors(path, state);
}

LoadReport Module::load(const std::string& path, const LoadOptions& options) {
  return detail::load_state(state_dict(), path, options);
}

void Module::to(DType dtype) {
  LADON_CHECK(is_floating(dtype), "to", "a module computes in f32 or f64, not in ", dtype);
  named_parameters()
      .choose([&](const std::string&, const Tensor& x) { return x.dtype() != dtype; })
      .check_own_values("to");
  detail::for_each_parameter(*this, [](const std::string& path, const Tensor& x) {
    LADON_CHECK(!x.history() || Leaf::of(x), "to", "`", path,
                "` is a recorded result, not a parameter; assign parameter(x.detach())");
  });
  std::map<detail::Identity, Tensor> converted;  // tensors that members share stay shared
  std::vector<Tensor> before;                    // keeps the tensors of the keys alive
  Walk walk;
  walk.on_tensor = [&](const std::string&, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::hyperparameter) return;
    if (!is_floating(x.dtype()) || x.dtype() == dtype) return;
    before.push_back(x);
    Tensor& y = converted[detail::identity(x)];
    if (!y.defined() && !x.history()) y = cast(x, dtype);
    if (!y.defined()) {
      y = ladon::parameter(cast(x.detach(), dtype)).set_requires_grad(x.requires_grad());
      Leaf::of(x)->replace(detail::join("Module::to(", dtype, ")"));
    }
    x = y;
  };
  walk.run(*this);
}

void Module::train(bool on) {
  Walk walk;
  walk.on_module = [on](const std::string&, Module& m) { m.training_ = on; };
  walk.run(*this);
}

std::string Module::summary() const {
  struct Row {
    std::string path, description, count;
  };
  std::vector<Row> rows{{"module", "layer", "parameters"}};
  Walk walk;
  walk.on_module = [&](const std::string& path, Module& m) {
    rows.push_back({path.empty() ? "·" : path, m.describe(), std::to_string(m.parameter_count())});
  };
  look(walk, *this);
  std::size_t path_width = 0, description_width = 0;
  for (const Row& row : rows) {
    path_width = std::max(path_width, width(row.path));
    description_width = std::max(description_width, width(row.description));
  }
  std::ostringstream out;
  for (const Row& row : rows)
    out << padded(row.path, path_width + 2) << padded(row.description, description_width + 2)
        << std::setw(12) << row.count << '\n';
  return out.str();
}

std::vector<std::string> Module::unlisted(const Tensor& output,
                                          const std::vector<Tensor>& known) const {
  std::set<const detail::Node*> listed;
  for (const Tensor& x : parameters()) listed.insert(x.history().get());
  for (const auto& [path, x] : hyperparameters()) listed.insert(x.history().get());
  for (const Tensor& x : known) listed.insert(x.history().get());
  std::vector<std::string> lines;
  for (const LeafUse& use : leaves_of(output))
    if (!listed.contains(use.leaf.get()))
      lines.push_back(detail::join("not listed by visit(): a trained tensor of shape ",
                                   use.leaf->shape(), ", used by `", use.used_by, "`"));
  return lines;
}

std::optional<std::string> Module::path_of(const Module& inner) const {
  std::optional<std::string> found;
  Walk walk;
  walk.on_module = [&](const std::string& path, Module& m) {
    if (&m == &inner && !found) found = path;
  };
  look(walk, *this);
  return found;
}

void detail::for_each_parameter(Module& module,
                                const std::function<void(const std::string&, Tensor&)>& f) {
  Walk walk;
  walk.on_tensor = [&](const std::string& path, Tensor& x, Walk::Kind kind) {
    if (kind == Walk::Kind::parameter) f(path, x);
  };
  walk.run(module);
}

void detail::for_each_module(Module& module,
                             const std::function<void(const std::string&, Module&)>& f) {
  Walk walk;
  walk.on_module = f;
  walk.run(module);
}

void detail::for_each_place(Module& module,
                            const std::function<void(const std::string&, Owned<Layer>&, bool)>& f) {
  Walk walk;
  walk.on_place = f;
  walk.run(module);
}

detail::Replacing::Replacing(Module& model, std::string by) : model_(model), by_(std::move(by)) {
  model.named_parameters().check_own_values(by_.c_str());
  for_each_parameter(model_, [&](const std::string&, Tensor& x) { before_.push_back(x); });
}

detail::Replacing::~Replacing() {
  std::set<const Leaf*> here;
  for_each_parameter(model_, [&](const std::string&, Tensor& x) {
    if (Leaf* leaf = Leaf::of(x)) {
      here.insert(leaf);
      leaf->put_back();
    }
  });
  for (const Tensor& x : before_)
    if (Leaf* leaf = Leaf::of(x); leaf && here.insert(leaf).second) leaf->replace(by_);
}

void detail::separate(Module& copy, std::uint64_t index) {
  std::map<detail::Identity, Tensor> copies;  // tensors that members share stay shared
  std::vector<Tensor> before;                 // keeps the tensors of the keys alive
  Walk walk;
  walk.on_tensor = [&](const std::string&, Tensor& x, Walk::Kind) {
    before.push_back(x);
    Tensor& own = copies[detail::identity(x)];
    if (!own.defined()) {
      own = ladon::clone(x.detach());
      if (x.history()) own = parameter(own).set_requires_grad(x.requires_grad());
    }
    x = own;
  };
  walk.on_generator = [&](const std::string&, Generator& rng) { rng = rng.split(index); };
  walk.run(copy);
}

Tensor parameter(Tensor x) { return x.set_requires_grad(); }

}  // namespace ladon
