#pragma once
// Checks of the parameters and settings of optimizers, and names of parameters in saved states.

#include <set>
#include <string>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/parameter_set.h"

namespace ladon::detail {

/// Throws Error if there is no parameter, if a parameter is not a contiguous leaf that requires a
/// gradient, if a parameter occurs twice, or if two parameters share memory.
void check_parameters(const ParameterSet& parameters);

/// Throws Error naming `operation` if two tensors of the set share memory.
void check_apart(const char* operation, const ParameterSet& parameters);

/// Whether a name is a number, as in a set of unnamed tensors: "0", "1", ….
bool is_place(const std::string& name);
/// Names of the parameters as keys of a state: their names in `parameters`. If `parameters` is the
/// union of several sets of unnamed tensors, each numbered "0", "1", …, so that names occur twice,
/// the unnamed tensors get their index in the union instead. Throws Error naming `operation` if two
/// parameters still have the same name.
std::vector<std::string> state_names(const char* operation, const ParameterSet& parameters);
/// The set of names NAME for which the state has an entry with the key prefix + NAME + ending.
std::set<std::string> names_in(const StateDict& state, const std::string& prefix,
                               const std::string& ending = "");
/// Names of the parameters that an optimizer's state has entries for. If all `names` are numbers
/// and the state is of version 0.1, all `names` are included: such a state has no entries for
/// parameters that were never updated.
std::set<std::string> parameters_of(const StateDict& state, const std::vector<std::string>& names);
/// Throws Error naming load_state_dict, with a list of the differences, unless the parameters in a
/// state, `in_state`, are exactly `names`.
void check_same_parameters(const std::vector<std::string>& names,
                           const std::set<std::string>& in_state);

/// The gradient of the inner product ⟨cotangent, value⟩ with respect to all parameters of a set,
/// flattened to f64 [set.count()]: zeros for parameters that are frozen or not used. An undefined
/// cotangent stands for 1. Throws Error naming `operation` if there are parameters that are not
/// frozen and `value` depends on none of them.
Tensor gradient_row(const char* operation, const Tensor& value, const ParameterSet& set,
                    const Tensor& cotangent = {});

/// Throws Error naming `operation` unless `value` (called `name` in the message) is finite and ≥ 0
/// (check_not_negative) or lies in [0, 1) (check_fraction).
void check_not_negative(const char* operation, const char* name, double value);
void check_fraction(const char* operation, const char* name, double value);

}  // namespace ladon::detail
