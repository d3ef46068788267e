#include "ladon/optim/extra/training/training_run.h"

#include "ladon/core/error.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

// Key and value in the file's metadata that identify a saved training run.
constexpr const char *mark = "ladon", *marked = "training run";

StateDict state_of_module(Module& module) {
  StateDict state;
  for (const auto& [name, x] : module.state_dict()) state["tensor." + name] = x;
  for (const auto& [name, rng] : module.generators())
    state["generator." + name] = detail::state_of(*rng);
  return state;
}

void load_module(Module& module, const StateDict& state) {
  detail::StateReader reader(state);
  StateDict tensors;
  for (const auto& [name, x] : module.state_dict())
    tensors[name] = reader.entry("tensor." + name, x.dtype(), x.shape());
  std::vector<std::pair<Generator*, Generator>> generators;
  for (const auto& [name, rng] : module.generators())
    generators.emplace_back(rng, reader.generator("generator." + name));
  reader.finish("this module");
  module.load_state_dict(tensors);
  for (const auto& [rng, loaded] : generators) *rng = loaded;
}

/// Entries of a file. Throws Error unless the file is a saved training run.
StateDict entries(const std::string& path) {
  std::map<std::string, std::string> metadata;
  StateDict all = load_safetensors(path, &metadata);
  LADON_CHECK(metadata.contains(mark) && metadata.at(mark) == marked, "training_run", path,
              ": the file is not a saved training run; pass a file that TrainingRun::save() wrote");
  return all;
}

StateDict copy(const StateDict& state) {
  StateDict copies;
  for (const auto& [name, x] : state) copies[name] = kernels::clone(x.detach());
  return copies;
}

}  // namespace

void TrainingRun::add(const std::string& name, Module& module) {
  const auto checked = [&module]() -> Module& {  // throws while parameters hold an average
    module.named_parameters().check_own_values("training_run");
    return module;
  };
  add_part(name, {[checked] { return state_of_module(checked()); },
                  [checked](const StateDict& state) { load_module(checked(), state); }});
}

void TrainingRun::add(const std::string& name, Generator& rng) {
  add_part(name, {[&rng] {
                    return StateDict{{"generator", detail::state_of(rng)}};
                  },
                  [&rng](const StateDict& state) {
                    detail::StateReader reader(state);
                    const Generator loaded = reader.generator("generator");
                    reader.finish("a generator");
                    rng = loaded;
                  }});
}

void TrainingRun::add(const std::string& name, std::int64_t& number) {
  add_part(name, {[&number] {
                    return StateDict{{"integer", detail::state_of(number)}};
                  },
                  [&number](const StateDict& state) {
                    detail::StateReader reader(state);
                    const auto loaded = reader.entry("integer", i64, {}).item<std::int64_t>();
                    reader.finish("an integer");
                    number = loaded;
                  }});
}

void TrainingRun::add(const std::string& name, double& number) {
  add_part(name, {[&number] {
                    return StateDict{{"number", scalar(number, f64)}};
                  },
                  [&number](const StateDict& state) {
                    detail::StateReader reader(state);
                    const double loaded = reader.number("number");
                    reader.finish("a number");
                    number = loaded;
                  }});
}

void TrainingRun::add(const std::string& name, Tensor& x) {
  LADON_CHECK(x.defined() && !x.requires_grad(), "training_run", "the tensor `", name,
              "` is undefined or requires a gradient; trained tensors belong to a module");
  add_part(name, {[&x] {
                    return StateDict{{"tensor", x}};
                  },
                  [&x](const StateDict& state) {
                    detail::StateReader reader(state);
                    const Tensor loaded = reader.entry("tensor");
                    reader.finish("a tensor");
                    LADON_CHECK(loaded.dtype() == x.dtype(), "load_state_dict", "\"tensor\" is ",
                                loaded.dtype(), " of shape ", loaded.shape(), ", expected ",
                                x.dtype());
                    x = loaded;
                  }});
}

void TrainingRun::add_part(const std::string& name, Part part) {
  LADON_CHECK(!name.empty() && name.find('/') == std::string::npos, "training_run",
              "the part's name is `", name, "`; names must not be empty or contain '/'");
  LADON_CHECK(parts_.emplace(name, std::move(part)).second, "training_run",
              "there already is a part named `", name, "`; names must be unique");
}

void TrainingRun::save(const std::string& path) const {
  StateDict all;
  for (const auto& [name, part] : parts_)
    for (const auto& [entry, x] : part.state()) all[name + "/" + entry] = x;
  save_safetensors(path, all, {{mark, marked}});
}

StateDict TrainingRun::saved(const std::string& path, const std::string& name) {
  StateDict part;
  for (const auto& [entry, x] : entries(path))
    if (entry.starts_with(name + "/")) part[entry.substr(name.size() + 1)] = x;
  LADON_CHECK(!part.empty(), "training_run", path, ": the file has no part `", name,
              "`; pass a name with which a part was added");
  return part;
}

std::map<std::string, StateDict> TrainingRun::read(const std::string& path) const {
  const StateDict all = entries(path);
  std::map<std::string, StateDict> states;
  for (const auto& [name, part] : parts_) states[name];  // the state of a part may be empty
  for (const auto& [entry, x] : all) {
    const std::string name = entry.substr(0, entry.find('/'));
    LADON_CHECK(name.size() < entry.size() && parts_.contains(name), "training_run", path,
                ": the file has the entry `", entry, "`, but this run has no part `", name,
                "`; add() it before load()");
    states[name][entry.substr(name.size() + 1)] = x;
  }
  return states;
}

void TrainingRun::load(const std::string& path) {
  const std::map<std::string, StateDict> states = read(path);
  std::map<std::string, StateDict> before;
  for (const auto& [name, part] : parts_) before[name] = copy(part.state());
  auto at = parts_.begin();
  // Each part checks its state before changing anything; parts loaded before a failure are
  // restored.
  const auto undo = [&] {
    while (at != parts_.begin()) {
      --at;
      at->second.load(before.at(at->first));
    }
  };
  try {
    for (; at != parts_.end(); ++at) at->second.load(states.at(at->first));
  } catch (const Error& error) {
    const std::string name = at->first;
    undo();
    detail::fail("training_run", path, ": the part `", name, "`: ", error.what());
  } catch (...) {
    undo();
    throw;
  }
}

}  // namespace ladon
