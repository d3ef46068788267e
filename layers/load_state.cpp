#include "ladon/layers/load_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <ostream>
#include <set>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/io/tensors/safetensors.h"

namespace ladon {
namespace {

bool converts(DType from, DType to) { return from == to || (!is_whole(from) && !is_whole(to)); }

/// The entries of `state` whose names begin with `prefix`, with the prefix removed from the names.
StateDict under(const std::string& prefix, const StateDict& state) {
  if (prefix.empty()) return state;
  StateDict inner;
  for (const auto& [name, x] : state)
    if (name.starts_with(prefix)) inner.emplace(name.substr(prefix.size()), x);
  LADON_CHECK(!inner.empty(), "load_state_dict", "none of the state's ", state.size(),
              " names begins with `", prefix, "`",
              state.empty() ? "" : "; the first is `" + state.begin()->first + "`");
  return inner;
}

LoadReport compare(const StateDict& own, const StateDict& state) {
  LoadReport report;
  for (const auto& [name, x] : own) {
    const auto found = state.find(name);
    if (found == state.end())
      report.missing.push_back(name);
    else if (!found->second.defined() || found->second.shape() != x.shape() ||
             !converts(found->second.dtype(), x.dtype()))
      report.misfits.push_back(
          {name, found->second.shape(), x.shape(), found->second.dtype(), x.dtype()});
    else
      report.loaded.push_back(name);
  }
  for (const auto& [name, x] : state)
    if (!own.contains(name)) report.surplus.push_back(name);
  return report;
}

/// Prefix under which the state contains all names that are missing; empty if there is none.
std::string common_prefix(const LoadReport& report, const StateDict& state) {
  for (const auto& [name, x] : state)
    if (!report.missing.empty() && name.ends_with("." + report.missing[0])) {
      const std::string prefix = name.substr(0, name.size() - report.missing[0].size());
      bool all = true;
      for (const std::string& missing : report.missing)
        all = all && state.contains(prefix + missing);
      if (all) return prefix;
    }
  return {};
}

std::string hint(const LoadReport& report, const StateDict& state, const LoadOptions& options) {
  if (const std::string inner = common_prefix(report, state); !inner.empty()) {
    const std::string prefix = options.prefix + inner;
    return "; the state has it under `" + prefix + "`: load with .prefix = \"" + prefix + "\"";
  }
  return (state.empty() ? "" : "; the state begins with `" + state.begin()->first + "`") +
         (options.strict ? "; strict = false loads what fits" : "");
}

/// Explains why no tensor fits: names a tensor whose shapes or dtypes differ, or says that no name
/// is in both.
std::string first_misfit(const LoadReport& report, const StateDict& own, const StateDict& state) {
  if (report.misfits.empty())
    return detail::join("its first name is `", state.begin()->first, "`, the module's is `",
                        own.begin()->first, "`");
  const LoadReport::Misfit& x = report.misfits[0];
  return detail::join("`", x.name, "` is ", x.given_dtype, " ", x.given, " in the state and ",
                      x.expected_dtype, " ", x.expected, " in the module");
}

void check_strict(const LoadReport& report, const StateDict& own, const StateDict& state,
                  const LoadOptions& options) {
  const char* operation = "load_state_dict";
  if (!report.missing.empty())
    detail::fail(operation, "`", report.missing[0], "` (shape ", own.at(report.missing[0]).shape(),
                 ") is missing from the state", hint(report, state, options));
  for (const LoadReport::Misfit& x : report.misfits) {
    LADON_CHECK(state.at(x.name).defined() && x.given == x.expected, operation, "`", x.name,
                "` has shape ", x.given, " in the state and ", x.expected,
                " in the module; make the module with the options of the saved one");
    detail::fail(operation, "`", x.name, "` is ", x.given_dtype, " in the state and ",
                 x.expected_dtype,
                 " in the module; only floating and half-precision dtypes are converted");
  }
  if (!report.surplus.empty())
    detail::fail(operation, "the state has `", report.surplus[0], "` (shape ",
                 state.at(report.surplus[0]).shape(), "), which the module does not have",
                 hint(report, state, options));
}

/// Whether contiguous tensors of the same shape and dtype are bitwise equal.
bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.strided_bytes(), b.strided_bytes(),
                     static_cast<std::size_t>(a.count()) * item_size(a.dtype())) == 0;
}

/// The bytes from the first to the last element of x; an empty range if x has no elements, or is
/// mapped by vmap.
std::pair<const std::byte*, const std::byte*> extent(const Tensor& x) {
  if (x.count() == 0 || x.mapped()) return {nullptr, nullptr};
  std::int64_t before = 0, behind = 1;  // elements from x's first one
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t reach = (x.shape()[i] - 1) * x.strides()[i];
    (reach < 0 ? before : behind) += reach;
  }
  const auto size = static_cast<std::int64_t>(item_size(x.dtype()));
  return {x.strided_bytes() + before * size, x.strided_bytes() + behind * size};
}

/// Loads values into a copy of the memory in which several tensors of the module lie, to find
/// tensors whose values are overwritten by those of another tensor.
class Rehearsal {
 public:
  Rehearsal(const StateDict& own, const StateDict& given, const std::byte* begin,
            const std::byte* end)
      : own_(own),
        given_(given),
        begin_(begin),
        before_(static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(begin) % 64)),
        memory_(static_cast<std::size_t>(before_ + (end - begin))) {}

  void load(const std::string& name) { copy_(window(name), given_.at(name).detach()); }
  /// Whether the elements of `name` are those that load(name) writes.
  bool holds(const std::string& name) const {
    const Tensor& x = own_.at(name);
    Tensor value = empty(x.shape(), x.dtype());
    copy_(value, given_.at(name).detach());
    return same_bits(contiguous(window(name)), value);
  }

 private:
  Tensor window(const std::string& name) const {
    const Tensor& x = own_.at(name);
    const auto size = static_cast<std::int64_t>(item_size(x.dtype()));
    return {memory_, x.dtype(), x.shape(), x.strides(),
            (before_ + (x.strided_bytes() - begin_)) / size};
  }

  const StateDict &own_, &given_;
  const std::byte* begin_;
  // Bytes of padding before the copy of *begin_, so that the copy is aligned as the original.
  std::ptrdiff_t before_;
  Storage memory_;
};

/// Throws Error if the state has different values for an element that two of these tensors of the
/// module have in common: the value loaded last would overwrite the first. Their elements lie
/// between `begin` and `end`.
void check_common(const std::vector<std::string>& names, const StateDict& own,
                  const StateDict& given, const std::byte* begin, const std::byte* end) {
  Rehearsal copy(own, given, begin, end);
  for (const std::string& name : names) copy.load(name);
  const auto lost = std::ranges::find_if_not(names, [&](const auto& x) { return copy.holds(x); });
  if (lost == names.end()) return;
  copy.load(*lost);
  LADON_CHECK(copy.holds(*lost), "load_state_dict", "elements of `", *lost,
              "` share memory in the module, but the state has different values for them; give the "
              "module a tensor of its own, clone()");
  const auto other = std::find_if(lost + 1, names.end(), [&](const std::string& name) {
    copy.load(name);
    return !copy.holds(*lost);
  });
  const bool tied = same_elements(own.at(*lost), own.at(*other));
  detail::fail("load_state_dict", "`", *lost, "` and `", *other,
               tied ? "` are one tensor in the module, but differ in the state; give both the same "
                      "values, or untie them in the module"
                    : "` share memory in the module, but the state has different values for their "
                      "common elements; give both the same values there, or clone() one in the "
                      "module");
}

/// check_common() for all tensors to load.
void check_ties(const LoadReport& report, const StateDict& own, const StateDict& given) {
  struct Place {
    const std::byte *begin, *end;
    std::string name;
  };
  std::vector<Place> places;
  for (const std::string& name : report.loaded) {
    const auto [begin, end] = extent(own.at(name));
    if (begin != end) places.push_back({begin, end, name});
  }
  std::ranges::sort(places, std::less(), &Place::begin);
  for (auto first = places.begin(); first != places.end();) {
    const std::byte* end = first->end;
    std::vector<std::string> names{first->name};
    auto next = first + 1;
    for (; next != places.end() && std::less()(next->begin, end); ++next) {
      names.push_back(next->name);
      end = std::max(end, next->end, std::less());
    }
    std::ranges::sort(names);  // in the order in which they are loaded
    if (names.size() > 1) check_common(names, own, given, first->begin, end);
    first = next;
  }
}

/// The values to load, in the order of report.loaded. Values that are themselves tensors of the
/// module, under other names, are copied: loading would overwrite them. Throws Error for a finite
/// number that the module's dtype cannot represent.
std::vector<Tensor> values_of(const LoadReport& report, const StateDict& own,
                              const StateDict& given) {
  std::set<const std::byte*> written;
  for (const auto& [name, x] : own) written.insert(x.storage().bytes());
  std::vector<Tensor> values;
  for (const std::string& name : report.loaded) {
    const Tensor x = given.at(name).detach();
    const bool shared = written.contains(x.storage().bytes()) && !same_elements(x, own.at(name));
    const DType dtype = own.at(name).dtype();
    if (x.dtype() == f64 && dtype != f64 && is_floating(dtype)) {
      const Tensor narrow = cast(x, dtype);
      LADON_CHECK(all(equal(isfinite(narrow), isfinite(x))).item<bool>(), "load_state_dict", "`",
                  name, "` has finite elements beyond the range of ", dtype,
                  ", the module's dtype; call to(f64) of the module first");
    }
    values.push_back(shared ? clone(x) : x);
  }
  return values;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const LoadReport& report) {
  out << report.loaded.size() << " loaded\n";
  for (const std::string& name : report.missing) out << "missing    " << name << '\n';
  for (const std::string& name : report.surplus) out << "surplus    " << name << '\n';
  for (const LoadReport::Misfit& x : report.misfits)
    out << "misfit     " << x.name << ": " << x.given_dtype << ' ' << x.given << " for "
        << x.expected_dtype << ' ' << x.expected << '\n';
  return out;
}

void detail::check_writable(const char* operation, const std::string& name, const Tensor& x) {
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(x.shape()[i] <= 1 || x.strides()[i] != 0, operation, "`", name, "` of shape ",
                x.shape(), " is expanded: axis ", i,
                " repeats one element, so that it cannot be written to; clone the tensor first");
}

LoadReport detail::load_state(const StateDict& own, const StateDict& state,
                              const LoadOptions& options) {
  const StateDict given = under(options.prefix, state);
  LoadReport report = compare(own, given);
  if (options.strict) check_strict(report, own, given, options);
  LADON_CHECK(own.empty() || !given.empty(), "load_state_dict", "the state has no tensors",
              options.prefix.empty() ? "" : " under `" + options.prefix + "`",
              "; the module begins with `", own.begin()->first, "`");
  LADON_CHECK(!report.loaded.empty() || own.empty(), "load_state_dict",
              "no tensor of the state fits the module: ", first_misfit(report, own, given),
              hint(report, given, options));
  const NoGrad no_grad;
  for (const std::string& name : report.loaded)
    check_writable("load_state_dict", name, own.at(name));
  check_ties(report, own, given);
  const std::vector<Tensor> values = values_of(report, own, given);
  for (std::size_t i = 0; i < values.size(); ++i) copy_(own.at(report.loaded[i]), values[i]);
  return report;
}

LoadReport detail::load_state(const StateDict& own, const std::string& path,
                              const LoadOptions& options) {
  std::map<std::string, std::string> metadata;
  const StateDict state = load_safetensors(path, &metadata);
  LADON_CHECK(!metadata.contains("ladon"), "load", path, ": the file holds a ", metadata["ladon"],
              ", not the weights of a module; load it with TrainingRun::load");
  try {
    return load_state(own, state, options);
  } catch (const Error& error) {
    fail("load", path, ": ", error.what());
  }
}

}  // namespace ladon
