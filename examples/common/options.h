#pragma once
// Conditions on the values of options.

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ladon::example {

/// Condition on the value of an option. It is checked on the text that the command line gives.
struct Check {
  /// Returns the reason for refusing a text, or an empty string if the text is accepted. A null
  /// function accepts every text.
  std::function<std::string(const std::string&)> wrong;
  std::string description;  ///< The accepted values, for --help.

  /// The same condition with another description.
  Check described(std::string words) const { return {wrong, std::move(words)}; }
};

/// Accepts a text that at least one of two checks accepts.
Check operator|(const Check& a, const Check& b);

/// Accepts whole numbers, written in digits, from `low` to `high`. T is the type of the option:
/// int, std::int64_t or std::uint64_t.
template <class T>
Check whole_number(T low, T high = std::numeric_limits<T>::max());

/// Accepts finite numbers from `low` to `high`; number_above excludes `low`.
Check number(double low, double high = std::numeric_limits<double>::infinity());
Check number_above(double low);

/// Accepts any nonempty text; `what` describes it in the message ("a folder").
Check name_of(const std::string& what);

Check one_of(const std::vector<std::string>& names);
Check existing_file();
Check existing_folder();

/// Error in the use of a program: a wrong value of an option, or a combination of options that is
/// not allowed.
class UsageError : public std::runtime_error {
 public:
  UsageError(const std::string& option, const std::string& wrong)
      : std::runtime_error(option + ": " + wrong) {}
};

/// Throws UsageError if a value occurs twice in the list given to `option`. T is std::string, int,
/// std::int64_t or double.
template <class T>
void refuse_repeated(const std::string& option, const std::vector<T>& values);

}  // namespace ladon::example
