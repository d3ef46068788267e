#include "ladon/examples/particles/film.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/io/file.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/look.h"

namespace ladon::example {
namespace {

constexpr int page = 1200, gap = 20, top = 80, heading = 34, across = 3;
constexpr int wide = (page - (across + 1) * gap) / across, high = wide * 68 / 84;
constexpr double seconds = 12, still = 2;  ///< A round, and how long its end stands.

/// Within a panel, in pixels; where a particle is far outside, just outside.
Point seen(const Point& p, const Window& w) {
  const auto pixel = [](double share, int size) {
    return std::round(std::clamp(share, -1.0, 2.0) * size);
  };
  return {pixel((p.x - w.left) / (w.right - w.left), wide),
          pixel((w.top - p.y) / (w.top - w.bottom), high)};
}

/// Strokes of no length, whose round ends are dots. Paths of one structure blend into each other.
std::string dots(const Tensor& places, const Window& w) {
  std::string path;
  for (const Point& point : points_of(places)) {
    const Point p = seen(point, w);
    path += join("M", p.x, " ", p.y, "h0");
  }
  return path;
}

std::string lines(const std::vector<Line>& all, const Window& w) {
  std::string path;
  for (const Line& line : all)
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Point p = seen(line[i], w);
      path += join(i == 0 ? "M" : "L", p.x, " ", p.y);
    }
  return path;
}

std::string text(double x, double y, int size, const std::string& anchor,
                 const std::string& words) {
  return join("<text x='", x, "' y='", y, "' font-size='", size, "' text-anchor='", anchor, "'>",
              words, "</text>\n");
}

/// For every frame and, once more, the end.
template <class F>
std::string of_frames(const F& f) {
  std::string all;
  for (std::size_t frame = 0; frame <= last_frame; ++frame) all += f(frame) + ";";
  return all + f(last_frame);
}

/// What an attribute is at each frame.
std::string animated(const std::string& attribute, const std::string& values) {
  const std::string times = of_frames([](std::size_t frame) {
    const double share = static_cast<double>(frame) / last_frame * (1 - still / seconds);
    return join(std::round(1e4 * share) / 1e4);
  });
  return join("<animate attributeName='", attribute, "' dur='", seconds,
              "s' repeatCount='indefinite' keyTimes='", times.substr(0, times.rfind(';')),
              ";1' values='", values, "'/>");
}

std::string panel(const Outcome& o, const TargetStudy& study, std::size_t index) {
  const int column = static_cast<int>(index) % across, row = static_cast<int>(index) / across;
  const int x = gap + column * (wide + gap), y = top + row * (high + heading + gap);
  const Window& w = study.target.shown;
  const std::string colour = method_style(o.method).colour;
  std::string svg = text(x, y + heading - 10, 20, "start",
                         join("<tspan fill='", colour, "' font-weight='bold'>", o.method,
                              "</tspan>: ", method_words(o.method)));
  svg += join("<svg x='", x, "' y='", y + heading, "' width='", wide, "' height='", high,
              "'><use href='#target'/>");
  const bool diverged = o.diverged_at != 0;
  if (!diverged)
    svg +=
        join("<path fill='none' stroke='", colour,
             "' stroke-width='7' stroke-linecap='round' stroke-opacity='0.8' d='",
             dots(o.frames[last_frame].places, w), "'>",
             animated("d", of_frames([&](std::size_t f) { return dots(o.frames[f].places, w); })),
             "</path>\n");
  const std::string said =
      diverged ? "diverged" : "at the end: " + corner(o.frames[last_frame].places, study);
  // Letters are drawn over a white edge of their own: lines pass behind them.
  return svg + "<g stroke='white' stroke-width='5' paint-order='stroke'>" +
         text(wide - 10, high - 12, 18, "end", said) + "</g></svg>\n";
}

/// How far the film is: frames are evenly spaced in time, and grow in steps.
std::string clock(const Settings& s, int y) {
  const int from = 200, to = page - 200;
  std::string svg = join("<path stroke='", contour_colour, "' stroke-width='2' d='M", from, " ", y,
                         "H", to, "'/>\n");
  const auto at = [=](double frame) { return from + (to - from) * frame / last_frame; };
  for (const std::int64_t frame : {0, 10, 20, 30, 40})
    svg += text(at(static_cast<double>(frame)), y + 28, 16, "middle",
                join(frame == 0 ? "step " : "", step_of(frame, s)));
  return svg + join("<circle r='8' cy='", y, "' cx='", to, "' fill='", letters_colour, "'>",
                    animated("cx", of_frames([&](std::size_t frame) {
                               return join(std::round(at(static_cast<double>(frame))));
                             })),
                    "</circle>\n");
}

}  // namespace

std::filesystem::path write_film(const Settings& s, const TargetStudy& study) {
  const std::vector<Outcome> outcomes = typical_runs(study);
  const std::string settings = settings_line(s) + seed_words(s, outcomes);
  const int rows = (static_cast<int>(outcomes.size()) + across - 1) / across;
  const int below = top + rows * (high + heading + gap), all = below + 70;
  const std::string title = join("Where do they go? ", study.target.title);
  const Point start = seen(study.target.start, study.target.shown);
  std::string svg = join(
      "<svg xmlns='http://www.w3.org/2000/svg' width='", page, "' height='", all, "' viewBox='0 0 ",
      page, " ", all, "' font-family='sans-serif' fill='", letters_colour, "'>\n<title>", title,
      "</title>\n<desc>", settings, "</desc>\n<defs><g id='target' fill='none'><rect width='", wide,
      "' height='", high, "' stroke='#bbbbbb' stroke-width='2'/><path stroke='", contour_colour,
      "' stroke-width='1.5' d='", lines(contours_of(study), study.target.shown),
      "'/><path stroke='", letters_colour, "' d='M", start.x - 6, " ", start.y,
      "h12m-6 -6v12'/></g></defs>\n<rect width='", page, "' height='", all, "' fill='white'/>\n",
      text(page / 2.0, 34, 24, "middle", title), text(page / 2.0, 66, 18, "middle", settings));
  for (std::size_t i = 0; i < outcomes.size(); ++i) svg += panel(outcomes[i], study, i);
  svg += clock(s, below + 20) + "</svg>\n";
  const std::filesystem::path path = s.common.out / "particles_film.svg";
  write_atomically(path, svg);
  return path;
}

}  // namespace ladon::example
