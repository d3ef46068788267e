#pragma once
// Interactive page of lesson 5: set the number and width of heads, from one to infinitely many.

#include <functional>
#include <map>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::example {

/// Distribution of an output, given the number of heads and their width (0: infinite).
using Law = std::function<infinite::ScaleMixture(std::int64_t heads, std::int64_t width)>;
/// Per number of heads (width 8), rows: bin centre |output|/sd, density, its s.e., exact density.
/// exact density.
using Drawn = std::map<int, std::vector<std::vector<double>>>;

/// tails, widths: the lesson's tables.
Page page(const Law& law, const Drawn& drawn, const Table& tails, const Table& widths);

}  // namespace ladon::example
