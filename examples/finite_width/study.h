#pragma once
// Distributions at finite width, their limits, and the distance that theory predicts.

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/finite_width/law.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::int64_t> heads = {1, 2}, widths = {4, 16, 64, 256, 1024};
  std::int64_t head_width = 64;  ///< Width m of low-rank heads; 0: no such heads.
  std::int64_t draws = 20000;    ///< Draws of the variance, per repetition.
  std::int64_t repetitions = 10;
  std::int64_t outputs = 10000;  ///< Outputs per kernel density estimate; 0: no such estimates.
};

/// Points y > 0 at which densities are computed, evenly spaced in ln y; all distributions are
/// symmetric about 0.
const Tensor& grid();  // [points]
constexpr double grid_spacing = 0.14;
/// Density of the scale mixture of normal distributions with these variances, equally weighted.
Tensor density(const Tensor& variances);  // [points]

/// Kind of a row of a table, which determines what the row's Estimates::repetitions hold.
enum class Kind {
  law,       ///< Densities at finite width and in the limit.
  low_rank,  ///< Like `law`, for heads narrower than their tokens.
  curves,    ///< Results of expand() by the route of the same name.
  scores,    ///< Like `curves`, by Route::scores.
  kde        ///< Divergences by kernel density estimates, at each of kde_widths.
};

/// Estimates of one row of a table.
struct Estimates {
  Kind kind = Kind::law;
  OneLayer layer = {};
  std::vector<Tensor> repetitions = {};  ///< Each [functions, points]; for kde [widths].
};

/// Widths for kernel density estimates; 0 stands for a second sample from the limit distribution.
const std::vector<std::int64_t> kde_widths = {16, 64, 256, 1024, 0};
constexpr std::int64_t kde_heads = 2;

struct Study {
  std::vector<Estimates> rows;
  bool interrupted = false;  ///< If so, only rows with two or more repetitions are included.
};
Study run_study(const Settings& settings);

class Program;
/// Prints tables, writes them to --json, and draws finite_width.svg (divergence against width) and
/// finite_width_density.svg (densities for the first number of heads).
void report(const Program& program, const Settings& settings, const Study& study);

}  // namespace ladon::example
