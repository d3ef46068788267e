#pragma once
// The page of lesson 5: heads and their width to turn, between one head and infinitely many.

#include <functional>
#include <map>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::example {

/// The law of an output, of heads of this width; 0: infinite.
using Law = std::function<infinite::ScaleMixture(std::int64_t heads, std::int64_t width)>;
/// By heads of width 8: middle of a bin of |output|/sd, density, standard error, exact density.
using Drawn = std::map<int, std::vector<std::vector<double>>>;

/// tails, widths: the lesson's tables.
Page page(const Law& law, const Drawn& drawn, const Table& tails, const Table& widths);

}  // namespace ladon::example
