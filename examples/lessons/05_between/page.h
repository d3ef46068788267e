#pragma once
// Interactive page of lesson 5: set the number and width of heads, from one to infinitely many.

#include <functional>
#include <map>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::example {

/// Function that returns the distribution of an output for a number of heads and their width (0:
/// infinitely wide).
using Law = std::function<infinite::ScaleMixture(std::int64_t heads, std::int64_t width)>;
/// Measured density for each number of heads of width 8, one row per bin: bin centre |output|/sd,
/// density, its standard error, exact density.
using Drawn = std::map<int, std::vector<std::vector<double>>>;

/// `tails` and `widths` are tables that the lesson prints.
Page page(const Law& law, const Drawn& drawn, const Table& tails, const Table& widths);

}  // namespace ladon::example
