#pragma once
// Quality of translations.

#include <string>
#include <vector>

#include "ladon/core/extra/text/text.h"
#include "ladon/examples/common/meter.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// Translations of the test sources by one method.
struct Translations {
  std::string method;
  std::vector<std::string> texts;
  double seconds = 0;
};

/// Table of BLEU and its components with a row for each method; `of` is the heading of the rows'
/// names.
Table judged(const std::string& of, const std::vector<Translations>& all, const ParallelText& test);

/// Text with the first test sentences: source, reference, and each method's translation.
std::string shown(const std::vector<Translations>& all, const ParallelText& test);

/// Translates, and measures the time.
template <class F>
Translations timed(const std::string& method, const F& translate) {
  const Meter meter;
  Translations found{method, translate()};
  found.seconds = meter.seconds();
  return found;
}

}  // namespace ladon::example
