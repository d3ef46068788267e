#pragma once
// Checks of every optimizer: of the tensors that it is to change, and of its settings.

#include <set>
#include <string>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/parameter_set.h"

namespace ladon::detail {

/// Throws Error if there is no parameter, one is not a contiguous leaf that requires a gradient,
/// one comes twice, or two share memory.
void check_parameters(const ParameterSet& parameters);

/// Throws Error of the operation where two tensors of the set share memory.
void check_apart(const char* operation, const ParameterSet& parameters);

/// Whether a name is a place, as a set of tensors alone gives it: "0", "1", ….
bool is_place(const std::string& name);
/// Names by which a state knows parameters: those of the set. Several sets of tensors alone, each
/// of which calls its own "0", "1", …, would have one name twice: there it is the place among all.
/// Throws Error of `operation` where two have one name.
std::vector<std::string> state_names(const char* operation, const ParameterSet& parameters);
/// The NAMEs of a state's entries "prefixNAMEending".
std::set<std::string> names_in(const StateDict& state, const std::string& prefix,
                               const std::string& ending = "");
/// The parameters that the state of an optimizer of parameters with these names knows. Where they
/// are all numbers and the state is of version 0.1, those that it lacks too: it had no entry for
/// what was never updated.
std::set<std::string> parameters_of(const StateDict& state, const std::vector<std::string>& names);
/// Throws Error of load_state_dict, which lists them, where a state knows other parameters than
/// these.
void check_same_parameters(const std::vector<std::string>& names,
                           const std::set<std::string>& in_state);

/// The gradient of ⟨cotangent, value⟩ (undefined: 1) by a set as a row, f64 [set.count()]: zeros
/// for what is frozen or not used.
Tensor gradient_row(const Tensor& value, const ParameterSet& set, const Tensor& cotangent = {});

/// Throw Error of the operation unless the value of that name is finite and at least 0, or in [0,
/// 1).
void check_not_negative(const char* operation, const char* name, double value);
void check_fraction(const char* operation, const char* name, double value);

}  // namespace ladon::detail
