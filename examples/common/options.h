#pragma once
// Validators of options. CLI11's own ranges print every digit of the largest double, its
// numbers wrap below zero and are clipped above.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ladon/examples/common/text.h"

namespace ladon::example {

/// Takes whole numbers, written in digits, from `low` to `high`. T is the type of the option.
template <class T>
CLI::Validator whole_number(T low, T high = std::numeric_limits<T>::max()) {
  const std::string range = high == std::numeric_limits<T>::max()
                                ? join("at least ", low)
                                : join("from ", low, " to ", high);
  const auto wrong = [=](const std::string& text) -> std::string {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= low && value <= high) return "";
    const bool too_large = error == std::errc::result_out_of_range && text[0] != '-';
    return join("needs a whole number ", too_large ? join("of at most ", high) : range, ", got '",
                text, "'");
  };
  return {wrong, range, "whole_number"};
}

/// Takes finite numbers from `low` (or above it) to `high`.
CLI::Validator number(double low, double high = std::numeric_limits<double>::infinity());
CLI::Validator number_above(double low);

/// Takes any text but an empty one; `what` is what it names ("a folder").
CLI::Validator name_of(const std::string& what);

/// Throws CLI::ValidationError if a value stands twice in the list given to `option`.
template <class T>
void refuse_repeated(const std::string& option, const std::vector<T>& values) {
  for (auto value = values.begin(); value != values.end(); ++value)
    if (std::find(values.begin(), value, *value) != value)
      throw CLI::ValidationError(option, join(*value, " stands twice in the list"));
}

}  // namespace ladon::example
