#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/exact_posterior/study.h"

namespace ladon::example {
namespace {

/// Draws the posteriors on top of each other, and the prior.
void draw_heads(const TaskSettings& s, const Study& study) {
  Picture picture(s.common.out, "exact_posterior", s.common.panels);
  const Tensor& prior = study.prior_sd;
  const auto prior_rows = band_rows(zeros(prior.shape(), f64), prior);
  std::string plots = "plot " + area(picture.data("prior", prior_rows), grey, 0.15),
              legend = "NaN with lines lw 12 lc rgb '#dddddd' title 'prior'";
  for (std::size_t i = 0; i < study.bands.size(); ++i) {
    const Band& band = study.bands[i];
    const Style style = step(i, study.bands.size());
    const std::string file = picture.data(join(band.heads), band_rows(band));
    for (const char* columns : {"1:3", "1:4"}) plots += ", " + curve(file, columns, style, "", 3);
    legend += join(", NaN with lines ", style.line(3), " title ",
                   quoted(band.heads == 0   ? "∞ heads"
                          : band.heads == 1 ? "1 head"
                                            : join(band.heads, " heads")));
  }
  picture.legend(legend);
  picture.panel(slide, "",
                axes(study.bands) + "set ylabel 'f(s), ± 2 sd'\n" + plots + ", " +
                    dots(picture, study.targets));
  picture.draw_slide("With more heads the exact posterior becomes a Gaussian process",
                     "dots: eight targets; lines: mean − 2 sd and mean + 2 sd");
}

/// Draws the distance between H heads and infinitely many.
void draw_approach(const TaskSettings& s, const Study& study) {
  Picture picture(s.common.out, "exact_posterior_approach", s.common.panels);
  std::vector<std::vector<double>> rows;
  for (const Approach& a : study.approaches) {
    const Measured w2 = mean_of(a.scores, &BeliefScore::w2);
    rows.push_back({static_cast<double>(a.heads), w2.value, std::isfinite(w2.se) ? w2.se : 0});
  }
  const double last = rows.back()[0], at_last = rows.back()[1];
  if (!(at_last > 0)) return;
  picture.panel(
      slide, "",
      join("set logscale xy\nset xlabel 'number of heads, H'\nset ylabel 'distance / sd'\n",
           "set format y '%g'\nset xrange [0.8:", 1.25 * last, "]\nset key top right\nplot ",
           at_last * last, "/x with lines lc rgb '", grey, "' dt 2 lw 2 title '1/H', ",
           with_errors(picture.data("heads", rows), "1:2:3", kind(0), "exact posterior")));
  picture.draw_slide("With many heads the distance to the Gaussian process falls as 1/H",
                     join("Wasserstein distance of predictions; mean of ", s.draws,
                          " data sets ± standard error"));
}

}  // namespace

void draw(const TaskSettings& s, const Study& study) {
  if (study.approaches.empty()) return;
  draw_heads(s, study);
  draw_approach(s, study);
}

}  // namespace ladon::example
