#pragma once
// One style for all pictures: whoever has read one can read the others, on paper, from the last
// row, and without seeing colours. gnuplot draws them, called as a program.

#include <filesystem>
#include <string>
#include <vector>

namespace ladon::example {

/// Style of one kind of thing. Colour, dash and marker say the same; any one suffices.
struct Style {
  std::string colour;
  int dash = 1, marker = 7;  ///< Gnuplot's dt and pt.

  std::string line(double width = 2.5) const;   ///< "lc rgb '…' dt … lw …"
  std::string points(double size = 0.9) const;  ///< "lc rgb '…' pt … ps …"
};

/// Of kinds without an order: hues that stay apart for colour-blind readers (after Okabe and Ito
/// 2008), each with a contrast of at least 3 : 1 to white. Repeats after six.
Style kind(std::size_t i);
/// Of what is ordered, as 1, 4, 64 heads: step i of n, one hue from light to dark, of the same
/// contrast at least.
Style step(std::size_t i, std::size_t n);

constexpr const char* grey = "#767676";  ///< Of what is compared with: laws, chance, zero.

/// In gnuplot's quotes, every character as it is.
std::string quoted(const std::string& text);

/// Labels, titles and legend texts that a script sets and its drawing lacks, each as often as it
/// lacks it. gnuplot leaves out in silence an upright label that would begin left of the canvas,
/// and names in a legend that has no room for them.
std::vector<std::string> missing_labels(const std::string& script, const std::string& svg);

/// Place of a panel's axes, in pixels from the picture's upper left corner. Labels and title of
/// the panel are outside of it.
struct Box {
  int left, top, width, height;
};

/// The one panel of a slide of 960 × 540, with room for labels at all sides.
constexpr Box slide{120, 100, 800, 350};
/// The same below titles of panels.
constexpr Box titled{slide.left, slide.top + 30, slide.width, slide.height - 30};
/// Panel i of n side by side in a box.
Box column(std::size_t i, std::size_t n, int gap = 25, const Box& in = titled);
/// The square in the middle of a box, at its top.
Box square(const Box& box);

/// A picture of panels. A panel is a gnuplot script; the picture sets grid, border and letters.
class Picture {
 public:
  /// Files in `folder` are name.gp, name.svg, and name_….dat with the panels' numbers; with `each`
  /// also name_1.svg …, every panel as a slide of its own.
  Picture(std::filesystem::path folder, std::string name, bool each = false);

  /// Writes rows of numbers for a panel, and returns the file's name in quotes, as gnuplot wants
  /// it.
  std::string data(const std::string& of, const std::vector<std::vector<double>>& rows);

  void panel(const Box& box, const std::string& title, const std::string& script);
  /// A panel that is drawn as a slide of its own alone.
  void further(const std::string& title, const std::string& script);
  /// Of all panels: commands for the y axis, which the first panel shows, and the name of a colour
  /// bar, which the last one shows. A panel by itself shows both.
  void shared(const std::string& y_axis, const std::string& bar = "");
  /// A row of names below all panels: parts of a plot command without data.
  void legend(const std::string& parts);

  /// Top of the first row's titles of panels, below title and settings.
  static constexpr int top = 80;

  /// Draws it, by default in the size of a slide, under a title and a line of settings, which also
  /// goes into the SVG's description; a line on stderr for each label that the drawing lacks.
  /// Returns the picture's path, or an empty path, after one line on stderr, when gnuplot is not
  /// there or fails: data and script stay for later.
  std::filesystem::path draw(const std::string& title, const std::string& settings, int width = 960,
                             int height = 540);
  /// The same, and prints where the picture is.
  void draw_slide(const std::string& title, const std::string& settings);

 private:
  struct Panel {
    Box box;
    std::string title, script;
  };
  /// The panel's script with what it shows of the shared commands.
  std::string complete(const Panel& panel, bool first, bool last) const;
  std::filesystem::path draw_as(const std::string& name, std::vector<Panel> panels,
                                const std::string& title, const std::string& settings, int width,
                                int height) const;

  std::filesystem::path folder_;
  std::string name_;
  bool each_;
  std::vector<Panel> panels_, further_;
  std::string y_axis_, bar_, legend_;
};

// --- parts of a plot command; `file` is what data() returned ---

/// A line through columns x and y.
std::string curve(const std::string& file, const std::string& columns, const Style& style,
                  const std::string& title, double width = 2.5);
/// Points with bars of ± one standard error: columns x, y, se. Bars that leave a logarithmic axis
/// are cut at it.
std::string with_errors(const std::string& file, const std::string& columns, const Style& style,
                        const std::string& title);
/// Dots on a horizontal axis with intervals: columns x, y, x's low end, x's high end.
std::string with_intervals(const std::string& file, const std::string& columns, const Style& style,
                           const std::string& title, double size = 0.9);

/// Places on an axis with names instead of numbers: ('plain' 0, 'svgd' 1).
std::string named_places(const std::vector<std::string>& names);

/// A panel's script for a matrix of numbers from 0 to `most`, as shades of one hue; rows and
/// columns are counted from 1. Picture::shared names its colour bar.
std::string heat_map(const std::string& file, std::size_t rows, std::size_t columns,
                     double most = 1);

}  // namespace ladon::example
