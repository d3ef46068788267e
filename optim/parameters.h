#pragma once
// Checks that every optimizer makes: of the tensors that it will change, and of its settings.

#include <set>
#include <string>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/parameter_set.h"

namespace ladon::detail {

/// Throws Error if there is no parameter, if one is not a contiguous leaf that requires a gradient,
/// if one occurs twice, or if two share memory.
void check_parameters(const ParameterSet& parameters);

/// Throws Error naming `operation` if two tensors of the set share memory.
void check_apart(const char* operation, const ParameterSet& parameters);

/// Whether a name is an index, as sets of unnamed tensors have: "0", "1", ….
bool is_place(const std::string& name);
/// Names of the parameters in a state: those of the set. Several sets of unnamed tensors, each
/// numbered "0", "1", …, would use a name twice: then they are numbered over all sets. Throws Error
/// naming `operation` if two parameters have the same name.
std::vector<std::string> state_names(const char* operation, const ParameterSet& parameters);
/// The NAMEs of a state's entries "prefixNAMEending".
std::set<std::string> names_in(const StateDict& state, const std::string& prefix,
                               const std::string& ending = "");
/// The parameters that the state of an optimizer has entries for. If all `names` are numbers and
/// the state is of version 0.1, names without an entry are included: it has none for parameters
/// that were never updated.
std::set<std::string> parameters_of(const StateDict& state, const std::vector<std::string>& names);
/// Throws Error naming load_state_dict, with a list, if the parameters in a state differ from
/// these.
void check_same_parameters(const std::vector<std::string>& names,
                           const std::set<std::string>& in_state);

/// The gradient of ⟨cotangent, value⟩ (an undefined cotangent is 1) with respect to all parameters
/// of a set, as a row, f64 [set.count()]: zeros for parameters that are frozen or not used.
Tensor gradient_row(const Tensor& value, const ParameterSet& set, const Tensor& cotangent = {});

/// Throw Error naming `operation` unless the value is finite and at least 0, or lies in [0, 1).
void check_not_negative(const char* operation, const char* name, double value);
void check_fraction(const char* operation, const char* name, double value);

}  // namespace ladon::detail
