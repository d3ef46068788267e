#include "ladon/examples/particles/picture.h"

#include <algorithm>
#include <cmath>

#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/film.h"
#include "ladon/examples/particles/look.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int page = 1200, names = 50, gap = 8, first_row = Picture::top + 70;

/// Panels of all methods beside each other, in the middle; x and y have one scale in them.
struct Grid {
  int width, height, left;

  explicit Grid(const Settings& s) {
    const int across = static_cast<int>(s.methods.size());
    width = std::min(300, (page - names) / across - gap);
    height = width * 68 / 84;
    left = (page + names - across * (width + gap)) / 2;
  }
  Box at(std::size_t row, std::size_t column) const {
    return {left + static_cast<int>(column) * (width + gap),
            first_row + static_cast<int>(row) * (height + gap), width, height};
  }
  int below(std::size_t rows) const { return at(rows, 0).top; }
};

/// Lines after each other; an empty row lifts the pen.
Rows as_rows(const std::vector<Line>& lines) {
  Rows rows;
  for (const Line& line : lines) {
    for (const Point& p : line) rows.push_back({p.x, p.y});
    rows.emplace_back();
  }
  return rows;
}

/// The way of one particle from a frame to another.
Line way(const Outcome& o, std::size_t from, std::size_t to) {
  Line line;
  for (std::size_t f = from; f <= to; ++f) line.push_back(points_of(o.frames[f].places)[0]);
  return thinned(line);
}

/// A target, and particles before it: one panel an outcome and frame.
class Stage {
 public:
  Stage(Picture& picture, const Grid& grid, const TargetStudy& study)
      : picture_(picture),
        grid_(grid),
        study_(study),
        contours_(picture.data("contours_" + study.target.name, as_rows(contours_of(study)))) {}

  /// Particles at frame `to`, and the way of one from frame `from`.
  std::string script(const Outcome& o, std::size_t from, std::size_t to) const {
    const Window& w = study_.target.shown;
    const Style style = method_style(o.method);
    const std::string of = join(study_.target.name, "_", o.method, "_", to);
    std::string plot = join("plot ", contours_, " using 1:2 with lines lw 1 lc rgb '",
                            contour_colour, "' notitle");
    if (o.diverged_at == 0) {
      // Dots as vectors about as long as wide: of these gnuplot makes the smallest SVG.
      constexpr double dot = 3.6;
      const double pixel = (w.right - w.left) / grid_.width;
      plot +=
          join(", ", picture_.data("way_" + of, as_rows({way(o, from, to)})),
               " using 1:2 with lines lw 1.2 lc rgb '#A0", style.colour.substr(1), "' notitle, ",
               picture_.data("places_" + of, as_rows({points_of(o.frames[to].places)})),
               " using ($1-", dot * pixel / 2, "):2:(", dot * pixel,
               "):(0) with vectors nohead lw ", dot, " lc rgb '", style.colour, "' notitle");
    }
    const std::string said =
        o.diverged_at == 0 ? corner(o.frames[to].places, study_) : std::string("diverged");
    return join("set xrange [", w.left, ":", w.right, "]\nset yrange [", w.bottom, ":", w.top,
                "]\nunset grid\nset border 15 lc rgb '#bbbbbb'\nunset tics\n"
                "set style textbox opaque noborder margins 0.5,0.3\nset label ",
                quoted(said), " at graph 0.98,0.08 right front boxed font ',14' textcolor rgb '",
                letters_colour, "'\nset label '+' at ", study_.target.start.x, ",",
                study_.target.start.y, " center font ',18' textcolor rgb '", letters_colour, "'\n",
                plot, "\n");
  }

 private:
  Picture& picture_;
  const Grid& grid_;
  const TargetStudy& study_;
  std::string contours_;
};

/// Above a column, the method; before a row, what it is of.
std::string headings(const Outcome& o, bool at_top, bool at_left, const std::string& row) {
  return join(at_top ? join("set title \"", o.method, "\\n{/*0.75 ", method_words(o.method),
                            "}\" enhanced font ',20' offset 0,-0.6\n")
                     : "",
              at_left ? join("set ylabel ", quoted(row), " offset 0.5,0\n") : "");
}

/// What the marks and figures are, in the middle under all panels.
void add_legend(Picture& picture, int top) {
  const auto line = [](const std::string& words, double height) {
    return join("set label ", quoted(words), " at graph 0.5,", height,
                " center font ',16' textcolor rgb '", letters_colour, "'\n");
  };
  picture.panel({0, top, page, 50}, "",
                join("unset border\nunset tics\nunset grid\n",
                     line("+ start;  dots: particles;  thin: the way of one;  grey: the smallest "
                          "regions that hold 50, 80 and 95% of the probability",
                          0.7),
                     line("inner half, right mode: the share of particles in the innermost region, "
                          "or at the right mode; 50% would be right",
                          0.15),
                     "plot [0:1] [0:1] NaN notitle"));
}

/// The ends of all runs: a row a target, a column per method.
std::filesystem::path draw_ends(const Settings& s, const std::vector<TargetStudy>& studies) {
  Picture picture(s.common.out, "particles");
  const Grid grid(s);
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const Stage stage(picture, grid, studies[i]);
    const std::vector<Outcome> outcomes = typical_runs(studies[i]);
    for (std::size_t j = 0; j < outcomes.size(); ++j) {
      const Outcome& o = outcomes[j];
      picture.panel(
          grid.at(i, j), "",
          headings(o, i == 0, j == 0, studies[i].target.title) + stage.script(o, 0, last_frame));
    }
  }
  add_legend(picture, grid.below(studies.size()));
  return picture.draw("Where do they go?",
                      settings_line(s) + (s.seeds == 1 ? join(", seed ", s.common.seed)
                                                       : join("; of ", s.seeds,
                                                              " seeds, each row the typical one")),
                      page, grid.below(studies.size()) + 60);
}

/// One target in time: a row per step, a column per method.
std::filesystem::path draw_course(const Settings& s, const TargetStudy& study) {
  Picture picture(s.common.out, "particles_course");
  const std::vector<std::size_t> shown = {4, 8, 16, 28, last_frame};
  const Grid grid(s);
  const Stage stage(picture, grid, study);
  const std::vector<Outcome> outcomes = typical_runs(study);
  for (std::size_t i = 0; i < shown.size(); ++i)
    for (std::size_t j = 0; j < outcomes.size(); ++j)
      picture.panel(grid.at(i, j), "",
                    headings(outcomes[j], i == 0, j == 0,
                             join("step ", step_of(static_cast<std::int64_t>(shown[i]), s))) +
                        stage.script(outcomes[j], i == 0 ? 0 : shown[i - 1], shown[i]));
  add_legend(picture, grid.below(shown.size()));
  return picture.draw(join("How do they get there? ", study.target.title),
                      settings_line(s) + seed_words(s, outcomes), page,
                      grid.below(shown.size()) + 60);
}

/// A column of the table against the dimension.
std::string series(Picture& picture, const std::string& of, const std::vector<Remaining>& all,
                   double Remaining::*figure, const std::string& how, const std::string& name) {
  Rows rows;
  for (const Remaining& r : all)
    if (std::isfinite(r.*figure)) rows.push_back({static_cast<double>(r.dim), r.*figure});
  return rows.empty()
             ? ""
             : join(picture.data(of, rows), " using 1:2 with ", how, " title ", quoted(name), ", ");
}

std::filesystem::path draw_collapse(const Settings& s, const std::vector<Remaining>& all) {
  Picture picture(s.common.out, "particles_collapse");
  const std::string m = std::to_string(s.collapse_particles);
  picture.panel(
      {140, Picture::top, 620, 380}, "",
      join("set logscale xy\nset xlabel 'dimension D'\nset ylabel 'variance per coordinate'\n"
           "set key outside right center Left reverse width -4 spacing 1.6\n"
           "set format y '%g'\nset yrange [*:2]\nset xrange [0.7:*]\nplot ",
           series(picture, "automatic", all, &Remaining::automatic, "points " + kind(2).points(1),
                  "svgd, α = auto"),
           series(picture, "per_coordinate", all, &Remaining::per_coordinate,
                  "points " + kind(3).points(1), "svgd, one kernel per coordinate"),
           series(picture, "law", all, &Remaining::law, "lines " + Style{grey, 1, 0}.line(2),
                  "α·ln(M + 1)·(M − 1)/(M·D)"),
           series(picture, "svgd", all, &Remaining::svgd, "points " + kind(1).points(1), "svgd"),
           "1 with lines lw 1.5 dt 2 lc rgb '", grey, "' title 'the target'"));
  return picture.draw(
      "What is left of a normal distribution in D dimensions",
      join(m, " particles, α = ", s.alpha, ", bandwidth by the median, seed ", s.common.seed), page,
      Picture::top + 470);
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const std::vector<TargetStudy>& studies,
                                        const std::vector<Remaining>& collapse) {
  std::vector<std::filesystem::path> paths;
  if (!studies.empty()) paths.push_back(draw_ends(s, studies));
  for (const TargetStudy& study : studies)
    if (study.target.name == s.course) {
      paths.push_back(draw_course(s, study));
      paths.push_back(write_film(s, study));
    }
  if (!collapse.empty()) paths.push_back(draw_collapse(s, collapse));
  std::erase(paths, std::filesystem::path());
  return paths;
}

}  // namespace ladon::example
