#include "ladon/examples/common/plot.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "ladon/core/io/file.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Runs gnuplot on a script in its folder and waits for it. Returns its exit status, 127 if it is
/// not installed, or −1. The script is read as UTF-8, whatever the user's locale.
int run_gnuplot(std::string script, const std::filesystem::path& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::string env = "env", locale = "LC_ALL=C.UTF-8", gnuplot = "gnuplot";
  char* arguments[] = {env.data(), locale.data(), gnuplot.data(), script.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, env.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// `text` with every occurrence of `old` replaced by `by`.
std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

/// Writes title and settings into the <title> and <desc> of the SVG, which screen readers read.
void describe(const std::filesystem::path& svg, const std::string& title,
              const std::string& settings) {
  std::string text = read_file(svg.string());
  const auto put = [&text](const std::string& tag, std::string words) {
    const std::string open = "<" + tag + ">", close = "</" + tag + ">";
    const std::size_t from = text.find(open), to = text.find(close);
    if (from == std::string::npos || to == std::string::npos) return;
    const std::size_t start = from + open.size(), length = to - start;
    words = replaced(replaced(words, "&", "&amp;"), "<", "&lt;");
    if (tag == "desc") words += ". " + text.substr(start, length);  // "Produced by GNUPLOT …"
    text.replace(start, length, words);
  };
  put("title", title);
  put("desc", settings);
  write_atomically(svg, text);
}

// gnuplot erases a disc around a point with error bars, and everything behind it; pointintervalbox
// makes that disc small (0 would mean the default size).
constexpr const char* house_style = R"(set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror scale 0.6
set grid lc rgb '#e4e4e4' lw 1 dt 1
set key samplen 2.5 spacing 1.1
set bars 0.7
set pointintervalbox 0.01
unset colorbox
set title offset 0,-0.6
set xlabel offset 0,0.4
set ylabel offset 1.2,0
)";

/// The text without blanks and without gnuplot's markup for subscripts, superscripts and sizes.
std::string letters(const std::string& text) {
  static const std::regex marks(R"(\{/\*[0-9.]+ |[\\_^{} ])");
  return std::regex_replace(text, marks, "");
}

/// Number of occurrences of each text in a drawing. Vertical text that extends beyond the left edge
/// is clipped there and does not count; letters are taken to be 0.8 font sizes high.
std::map<std::string, int> texts_of(const std::string& svg) {
  static const std::regex tag("<[^>]*>"), place(R"(translate\(([-0-9.]+))"),
      size(R"(font-size="([0-9.]+))");
  std::map<std::string, int> times;
  std::istringstream lines(svg);
  std::string group;
  std::smatch x, high;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("<g transform") != std::string::npos) group = line;
    if (line.find("<text") == std::string::npos) continue;
    if (group.find("rotate") != std::string::npos && std::regex_search(group, x, place)) {
      if (std::regex_search(group, high, size) && std::stod(x[1]) < 0.8 * std::stod(high[1]))
        continue;
    }
    std::string words = std::regex_replace(line.substr(line.find("<text")), tag, "");
    for (const auto& [written, is] : {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&amp;", "&"}})
      words = replaced(words, written, is);
    ++times[letters(words)];
  }
  return times;
}

/// Part of a plot command that sets the title of a curve in the legend.
std::string named(const std::string& title) {
  return title.empty() ? " notitle" : " title " + quoted(title);
}

}  // namespace

std::string Style::line(double width) const {
  return join("lc rgb '", colour, "' dt ", dash, " lw ", width);
}

std::string Style::points(double size) const {
  return join("lc rgb '", colour, "' pt ", marker, " ps ", size);
}

Style kind(std::size_t i) {
  static const Style kinds[] = {{"#0072b2", 1, 7},  {"#d55e00", 2, 5},  {"#00805f", 4, 9},
                                {"#a3528a", 5, 13}, {"#8a6d00", 3, 11}, {"#333333", 6, 4}};
  return kinds[i % std::size(kinds)];
}

Style step(std::size_t i, std::size_t n) {
  constexpr int light[] = {0x4a, 0x90, 0xc4}, dark[] = {0x06, 0x29, 0x5e};
  constexpr int markers[] = {7, 5, 9, 13, 11, 4};
  const double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 1;
  char colour[8];
  const auto mix = [share](int a, int b) { return static_cast<unsigned>(a + share * (b - a)); };
  std::snprintf(colour, sizeof colour, "#%02x%02x%02x", mix(light[0], dark[0]) & 0xffu,
                mix(light[1], dark[1]) & 0xffu, mix(light[2], dark[2]) & 0xffu);
  return {colour, static_cast<int>(i % 5) + 1, markers[i % std::size(markers)]};
}

std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (std::string("_^{}@&~\\").find(c) != std::string::npos) safe += "\\";
    safe += c == '\'' ? "''" : std::string(1, c);
  }
  return "'" + safe + "'";
}

std::vector<std::string> missing_labels(const std::string& script, const std::string& svg) {
  static const std::regex set(
      R"re((?:set [a-z0-9]*label(?: [0-9]+)?|\btitle) ('(?:[^']|'')+'|"[^"]+"))re");
  std::map<std::string, int> times = texts_of(svg);
  std::vector<std::string> missing;
  for (std::sregex_iterator it(script.begin(), script.end(), set), end; it != end; ++it) {
    const std::string text = (*it)[1];
    std::istringstream lines(
        replaced(replaced(text.substr(1, text.size() - 2), "''", "'"), "\\n", "\n"));
    for (std::string line; std::getline(lines, line);)
      if (!letters(line).empty() && times[letters(line)]-- <= 0) missing.push_back(line);
  }
  return missing;
}

Box column(std::size_t i, std::size_t n, int gap, const Box& in) {
  const int at = static_cast<int>(i), count = static_cast<int>(n);
  const int width = (in.width - (count - 1) * gap) / count;
  return {in.left + at * (width + gap), in.top, width, in.height};
}

Box square(const Box& box) {
  const int side = std::min(box.width, box.height);
  return {box.left + (box.width - side) / 2, box.top, side, side};
}

Picture::Picture(std::filesystem::path folder, std::string name, bool each)
    : folder_(std::move(folder)), name_(std::move(name)), each_(each) {}

std::string Picture::data(const std::string& of, const std::vector<std::vector<double>>& rows) {
  std::string text;
  char number[32];
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::snprintf(number, sizeof number, i == 0 ? "%.7g" : " %.7g", row[i]);
      text += number;
    }
    text += '\n';
  }
  const std::string file = name_ + "_" + of + ".dat";
  write_atomically(folder_ / file, text);
  return "'" + file + "'";
}

void Picture::panel(const Box& box, const std::string& title, const std::string& script) {
  panels_.push_back({box, title, script});
}

void Picture::further(const std::string& title, const std::string& script) {
  further_.push_back({slide, title, script});
}

void Picture::shared(const std::string& y_axis, const std::string& bar) {
  y_axis_ = y_axis;
  bar_ = bar;
}

void Picture::legend(const std::string& parts) { legend_ = parts; }

std::string Picture::complete(const Panel& panel, bool first, bool last) const {
  return (first || y_axis_.empty() ? y_axis_ : "set format y ''\n") +
         (last && !bar_.empty() ? "set colorbox\nset cblabel " + quoted(bar_) + "\n" : "") +
         panel.script;
}

std::filesystem::path Picture::draw(const std::string& title, const std::string& settings,
                                    int width, int height) {
  std::vector<Panel> whole = panels_;
  for (Panel& panel : whole)
    panel.script = complete(panel, &panel == &whole.front(), &panel == &whole.back());
  const std::filesystem::path drawn = draw_as(name_, whole, title, settings, width, height);
  std::vector<Panel> all = panels_;
  all.insert(all.end(), further_.begin(), further_.end());
  if (drawn.empty() || !each_ || all.size() == 1) return drawn;
  const Box first = panels_.empty() ? slide : panels_[0].box;
  const int left = std::max(slide.left, first.left),  // leaves room for tic names
      right = slide.left + slide.width - (bar_.empty() ? 0 : 100);
  const Box wide{left, slide.top, right - left, slide.height};
  for (std::size_t i = 0; i < all.size(); ++i)
    draw_as(join(name_, "_", i + 1),
            {{first.width == first.height ? square(wide) : wide, "", complete(all[i], true, true)}},
            all[i].title.empty() ? title : all[i].title, settings, 960, 540);
  return drawn;
}

std::filesystem::path Picture::draw_as(const std::string& name, std::vector<Panel> panels,
                                       const std::string& title, const std::string& settings,
                                       int width, int height) const {
  std::string script = join("set terminal svg size ", width, ",", height,
                            " font 'sans-serif,18' background 'white'\nset output '", name,
                            ".svg'\nset encoding utf8\nset multiplot\n");
  const auto heading = [&](const std::string& text, int size, int y) {
    script += join("set label ", y, " ", quoted(text), " at screen 0.5,screen ",
                   1 - static_cast<double>(y) / height, " center font ',", size, "'\n");
  };
  heading(title, 24, 26);
  heading(settings, 18, 58);
  script +=
      "set size 1,1\nset origin 0,0\nunset border\nunset tics\nunset key\n"
      "plot [0:1] [0:1] NaN\n";
  const auto across = [width](int x) { return static_cast<double>(x) / width; };
  const auto up = [height](int y) { return 1 - static_cast<double>(y) / height; };
  if (!legend_.empty())
    panels.push_back({{0, height - 24, width, 24},
                      "",
                      "unset border\nunset tics\nunset grid\nset key center center horizontal Left "
                      "reverse samplen 1.5 width -1 maxrows 1\nplot [0:1] [0:1] " +
                          legend_});
  for (const auto& [box, of, commands] : panels)
    script +=
        join("reset\n", house_style, "set lmargin at screen ", across(box.left),
             "\nset rmargin at screen ", across(box.left + box.width), "\nset tmargin at screen ",
             up(box.top), "\nset bmargin at screen ", up(box.top + box.height), "\nset title ",
             quoted(of), " font ',20'\n", commands, "\n");
  write_atomically(folder_ / (name + ".gp"), script + "unset multiplot\n");
  const int status = run_gnuplot(name + ".gp", folder_);
  if (status == 0) {
    const std::filesystem::path svg = folder_ / (name + ".svg");
    for (const std::string& label : missing_labels(script, read_file(svg.string())))
      std::cerr << svg.string() << " lacks the label \"" << label
                << "\", or cuts it: its panel needs a wider margin\n";
    describe(svg, title, settings);
    return svg;
  }
  std::cerr << (status == -1 || status == 127 ? "gnuplot is not installed" : "gnuplot failed")
            << ": the picture's data and script are in " << (folder_ / (name + ".gp")).string()
            << '\n';
  return {};
}

void Picture::draw_slide(const std::string& title, const std::string& settings) {
  const std::filesystem::path picture = draw(title, settings);
  if (!picture.empty()) std::cout << "\npicture: " << picture.string() << '\n';
}

std::string curve(const std::string& file, const std::string& columns, const Style& style,
                  const std::string& title, double width) {
  return join(file, " using ", columns, " with lines ", style.line(width), named(title));
}

std::string with_errors(const std::string& file, const std::string& columns, const Style& style,
                        const std::string& title) {
  return join(file, " using ", columns, " with yerrorbars lw 1.8 ", style.points(), named(title));
}

std::string with_intervals(const std::string& file, const std::string& columns, const Style& style,
                           const std::string& title, double size) {
  return join(file, " using ", columns, " with xerrorbars lw 2.2 ", style.points(size),
              named(title));
}

std::string named_places(const std::vector<std::string>& names) {
  std::string places;
  for (std::size_t i = 0; i < names.size(); ++i)
    places += join(i ? ", " : "", quoted(names[i]), " ", i);
  return "(" + places + ")";
}

std::string heat_map(const std::string& file, std::size_t rows, std::size_t columns, double most) {
  return join("set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')\nset cbrange [0:",
              most, "]\nset border 0\nunset grid\nset tics scale 0\n", "set xrange [0.5:", columns,
              ".5]\nset yrange [", rows, ".5:0.5]\nplot ", file,
              " matrix using ($1+1):($2+1):3 with image pixels notitle");
}

}  // namespace ladon::example
