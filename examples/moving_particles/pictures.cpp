#include <algorithm>
#include <cmath>

#include "ladon/core/io/file.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/moving_particles/study.h"

namespace ladon::example {
namespace {

constexpr const char *faint = "#b9c3d3", *letters = "#444444";  // colours

std::string text(double x, double y, int size, const std::string& anchor,
                 const std::string& words) {
  return join("<text x='", x, "' y='", y, "' font-size='", size, "' text-anchor='", anchor, "'>",
              words, "</text>\n");
}

std::string colour_of(const std::string& method) {
  return kind(place_of(method, method_names())).colour;
}

std::string words_of(const std::string& method) {
  return std::vector{"each climbs alone", "share and repel",  "svgd and noise",
                     "climb and repel",   "climb with noise", "roll, accept or not"}
      .at(place_of(method, method_names()));
}

// --- a panel; its units are 1/100 of the plane's ---

constexpr double wide = 840, high = 680;

/// Coordinates "12 34" of a point; a point that is farther outside than the width or height of the
/// window is moved to that distance from the window's edge.
std::string at(const Point& p, const Window& w) {
  const auto unit = [](double share, double size) {
    return std::round(std::clamp(share, -1.0, 2.0) * size);
  };
  return join(unit((p.x - w.left) / (w.right - w.left), wide), " ",
              unit((w.top - p.y) / (w.top - w.bottom), high));
}

/// A target's contours of equal density, and a cross at the centre of the particles' start.
std::string backdrop(const TargetStudy& study) {
  const Window& w = study.target.shown;
  std::string lines;
  for (const double level : study.truth.levels()) {
    const Line pieces = contour(study.target, level);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      lines += join(i % 2 == 0 ? "M" : " ", at(pieces[i], w));
  }
  return join("<g fill='none' stroke-width='4'><rect width='", wide, "' height='", high,
              "' stroke='#bbbbbb'/><path stroke='", faint, "' stroke-linecap='round' d='", lines,
              "'/><path stroke='", letters, "' d='M",
              at({study.target.start[0], study.target.start[1]}, w),
              "m-16 0h32m-16 -16v32'/></g>\n");
}

/// Dots, as strokes of length 0 with round ends. They form one path, so a film can morph them.
std::string dots(const Tensor& places, const Window& w) {
  std::string d;
  for (const Point& p : points_of(places)) d += join("M", at(p, w), "h0");
  return d;
}

std::string particles_at(const Outcome& o, const Window& w, const std::string& moving = "") {
  return join("<path fill='none' stroke='", colour_of(o.method),
              "' stroke-width='16' stroke-linecap='round' stroke-opacity='0.8' d='",
              dots(o.frames.back(), w), "'>", moving, "</path>\n");
}

/// Path of one particle.
std::string way(const Outcome& o, const Window& w) {
  std::string d = "M";
  for (const Tensor& places : o.frames) d += at(points_of(places)[0], w) + " ";
  return join("<path fill='none' stroke='", colour_of(o.method),
              "' stroke-width='5' stroke-opacity='0.4' d='", d, "'/>");
}

/// Text for the corner of the panel: the final share of particles at the right mode, or in the
/// inner half.
std::string figure(const TargetStudy& study, const Outcome& o) {
  if (o.diverged_at != 0) return "diverged";
  return join(study.target.modes ? "right mode " : "inner half ",
              std::round(100 * (study.target.modes ? o.end.mode_mass : o.end.inner_half)), "%");
}

/// Panel of a target: the backdrop, then `inside`, then the text of figure() in the corner.
std::string panel(const Box& box, const TargetStudy& study, const Outcome& o, int size,
                  const std::string& inside) {
  // Text has a white outline, so that lines pass behind it.
  return join(
      "<svg x='", box.left, "' y='", box.top, "' width='", box.width, "' height='", box.height,
      "' viewBox='0 0 ", wide, " ", high, "'>", backdrop(study), o.diverged_at == 0 ? inside : "",
      "</svg>\n<g stroke='white' stroke-width='5' paint-order='stroke'>",
      text(box.left + box.width - 7, box.top + box.height - 9, size, "end", figure(study, o)),
      "</g>\n");
}

// --- pages of panels ---

std::filesystem::path write_page(const Settings& s, const std::string& name,
                                 const std::string& title, const std::string& of_seeds, int width,
                                 int height, const std::string& body) {
  const std::string settings = settings_line(s) + of_seeds;
  const std::filesystem::path file = s.common.out / (name + ".svg");
  write_atomically(
      file,
      join("<svg xmlns='http://www.w3.org/2000/svg' width='", width, "' height='", height,
           "' viewBox='0 0 ", width, " ", height, "' font-family='sans-serif' fill='", letters,
           "'>\n<title>", title, "</title>\n<desc>", settings, "</desc>\n<rect width='", width,
           "' height='", height, "' fill='white'/>\n", text(width / 2.0, 34, 24, "middle", title),
           text(width / 2.0, 66, 18, "middle", settings), body, "</svg>\n"));
  return file;
}

std::string seed_words(const Settings& s, const TargetStudy& study) {
  return join(", seed ", study.runs.front()[typical_run(study)].seed,
              s.seeds == 1 ? "" : join(", of ", s.seeds, " the nearest to the medians"));
}

/// Draws an overview: a row per target, a panel per method. A panel shows the final particles of
/// the typical run, and the path of one of them.
std::filesystem::path draw_overview(const Settings& s, const std::vector<TargetStudy>& studies) {
  constexpr int page = 1200, names = 50, gap = 8, first_row = 150;
  const int across = static_cast<int>(s.methods.size());
  const int width = std::min(300, (page - names) / across - gap), height = width * 68 / 84;
  const int left = (page + names - across * (width + gap)) / 2;
  std::string svg;
  int y = first_row;
  for (const TargetStudy& study : studies) {
    const Window& w = study.target.shown;
    svg += join("<g transform='translate(", left - 16, " ", y + height / 2, ") rotate(-90)'>",
                text(0, 0, 18, "middle", study.target.title), "</g>\n");
    int x = left;
    for (const std::vector<Outcome>& runs : study.runs) {
      const Outcome& o = runs[typical_run(study)];
      if (y == first_row)
        svg += text(x + width / 2.0, y - 48, 20, "middle", o.method) +
               text(x + width / 2.0, y - 20, 15, "middle", words_of(o.method));
      svg +=
          panel({x, y, width, height}, study, o, 10 + width / 45, way(o, w) + particles_at(o, w));
      x += width + gap;
    }
    y += height + gap;
  }
  svg += text(page / 2.0, y + 16, 16, "middle",
              "+ start;  dots: particles;  thin: the way of one;  grey: the smallest regions that "
              "hold 50, 80 and 95% of the probability");
  svg += text(page / 2.0, y + 44, 16, "middle",
              "inner half, right mode: the share of particles in the innermost region, or at the "
              "right mode; 50% would be right");
  return write_page(s, "moving_particles", "Where do they go?",
                    s.seeds == 1 ? join(", seed ", s.common.seed)
                                 : join("; of ", s.seeds, " seeds, each row the typical one"),
                    page, y + 60, svg);
}

/// Values of an attribute at each frame, with the last one held for a while.
template <class F>
std::string animated(const std::string& attribute, const F& value) {
  constexpr double seconds = 12, still = 2;
  std::string times, values;
  for (std::size_t frame = 0; frame <= last_frame; ++frame) {
    const double share = static_cast<double>(frame) / last_frame * (1 - still / seconds);
    times += join(std::round(1e4 * share) / 1e4, ";");
    values += join(value(frame), ";");
  }
  return join("<animate attributeName='", attribute, "' dur='", seconds,
              "s' repeatCount='indefinite' keyTimes='", times, "1' values='", values,
              value(last_frame), "'/>");
}

/// Clock of the film: frames are evenly spaced in time, while steps per frame grow.
std::string clock(const Settings& s, int y) {
  constexpr int from = 130, length = 700;
  const auto x = [](std::size_t frame) { return from + length * frame / last_frame; };
  std::string svg =
      join("<path stroke='", faint, "' stroke-width='2' d='M", from, " ", y, "h", length, "'/>\n");
  for (const std::size_t frame : {0, 10, 20, 30, 40})
    svg += text(static_cast<double>(x(frame)), y + 32, 18, "middle",
                join(frame == 0 ? "step " : "", step_of(frame, s)));
  return join(svg, "<circle r='9' cy='", y, "' cx='", x(last_frame), "'>", animated("cx", x),
              "</circle>\n");
}

/// A slide of `count` methods on one target: the final state with one particle's path, or a film.
std::filesystem::path draw_slide(const Settings& s, const std::string& name,
                                 const TargetStudy& study, std::size_t first, std::size_t count,
                                 bool film) {
  constexpr int page_width = 960, page_height = 540, gap = 15, top = 145;
  const int width = count == 1 ? 420 : (page_width - 4 * gap) / 3, height = width * 68 / 84;
  const Window& w = study.target.shown;
  std::string svg;
  int x = (page_width - static_cast<int>(count) * (width + gap) + gap) / 2;
  for (std::size_t i = first; i < first + count; ++i, x += width + gap) {
    const Outcome& o = study.runs[i][typical_run(study)];
    svg += text(x + width / 2.0, top - 14, 20, "middle",
                join("<tspan fill='", colour_of(o.method), "' font-weight='bold'>", o.method,
                     "</tspan>: ", words_of(o.method)));
    const auto moving = [&](std::size_t frame) { return dots(o.frames[frame], w); };
    svg += panel({x, top, width, height}, study, o, 18,
                 film ? particles_at(o, w, animated("d", moving)) : way(o, w) + particles_at(o, w));
  }
  svg += film ? clock(s, 435)
              : text(page_width / 2.0, 505, 18, "middle",
                     "+ start; grey lines: regions that hold 50, 80 and 95% of the probability");
  return write_page(s, name,
                    join(study.target.title, ": half of the particles belong ",
                         study.target.modes ? "at the right mode" : "in the inner region"),
                    seed_words(s, study), page_width, page_height, svg);
}

/// Slides of all methods on one target, three per slide; with --panels also one per method.
std::vector<std::filesystem::path> draw_slides(const Settings& s, const std::string& name,
                                               const TargetStudy& study, bool film) {
  std::vector<std::filesystem::path> paths;
  const std::size_t all = study.runs.size();
  for (std::size_t first = 0; first < all; first += 3)
    paths.push_back(draw_slide(s, name + (first == 0 ? "" : join("_", first / 3 + 1)), study, first,
                               std::min<std::size_t>(3, all - first), film));
  for (std::size_t i = 0; i < all && s.common.panels; ++i)
    draw_slide(s, name + "_" + study.runs[i][0].method, study, i, 1, film);
  return paths;
}

}  // namespace

std::vector<std::filesystem::path> draw_ends(const Settings& s,
                                             const std::vector<TargetStudy>& studies) {
  std::vector<std::filesystem::path> paths;
  for (const TargetStudy& study : studies)
    if (paths.empty() || s.common.panels)
      for (const auto& path : draw_slides(s, "moving_particles_" + study.target.name, study, false))
        paths.push_back(path);
  paths.push_back(draw_overview(s, studies));
  return paths;
}

std::vector<std::filesystem::path> draw_film(const Settings& s, const TargetStudy& study) {
  return draw_slides(s, "moving_particles_film", study, true);
}

}  // namespace ladon::example
