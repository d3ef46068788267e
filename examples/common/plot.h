#pragma once
// One style for all pictures, legible in print, from the last row of a lecture room, and without
// colour vision. Pictures are drawn by the program gnuplot.

#include <filesystem>
#include <string>
#include <vector>

namespace ladon::example {

/// Style of one kind of data. Colour, dash and marker are redundant: any one identifies the kind.
struct Style {
  std::string colour;
  int dash = 1, marker = 7;  ///< gnuplot's dt and pt

  std::string line(double width = 2.5) const;   ///< "lc rgb '…' dt … lw …"
  std::string points(double size = 0.9) const;  ///< "lc rgb '…' pt … ps …"
};

/// Style i for kinds without an order: hues that colour-blind readers can distinguish (after Okabe
/// and Ito 2008), each with a contrast of at least 3 : 1 to white. Repeats after six styles.
Style kind(std::size_t i);
/// Style for ordered kinds, such as 1, 4, 64 heads: step i of n, in one hue from light to dark,
/// with a contrast of at least 3 : 1 to white.
Style step(std::size_t i, std::size_t n);

constexpr const char* grey = "#767676";  ///< Colour of reference values: theory, chance, zero.

/// The text in gnuplot's quotes, with every character taken literally.
std::string quoted(const std::string& text);

/// Labels, titles and legend texts that a script sets but its drawing lacks; a text that is missing
/// twice is listed twice. gnuplot silently omits a vertical label that would begin left of the
/// canvas, and names for which a legend has no room.
std::vector<std::string> missing_labels(const std::string& script, const std::string& svg);

/// Position of a panel's axes, in pixels from the picture's upper left corner. Labels and title of
/// the panel are outside of the box.
struct Box {
  int left, top, width, height;
};

/// Box of the only panel of a slide of 960 × 540 pixels, with room for labels on all sides.
constexpr Box slide{120, 100, 800, 350};
/// The box `slide`, with room for titles of panels.
constexpr Box titled{slide.left, slide.top + 30, slide.width, slide.height - 30};
/// Box of panel i of n, side by side in `in`.
Box column(std::size_t i, std::size_t n, int gap = 25, const Box& in = titled);
/// Largest square in a box, centred horizontally, at the top of the box.
Box square(const Box& box);

/// A picture that consists of panels. A panel is a gnuplot script; the picture sets grid, border
/// and font.
class Picture {
 public:
  /// Writes name.gp, name.svg and name_….dat (data of the panels) to `folder`; with `each` also
  /// name_1.svg …, every panel as a separate slide.
  Picture(std::filesystem::path folder, std::string name, bool each = false);

  /// Writes rows of numbers for a panel to the file name_OF.dat, where OF is `of`. Returns the name
  /// of the file in quotes, as gnuplot expects it.
  std::string data(const std::string& of, const std::vector<std::vector<double>>& rows);

  void panel(const Box& box, const std::string& title, const std::string& script);
  /// Adds a panel that is drawn only as a separate slide.
  void further(const std::string& title, const std::string& script);
  /// Sets what all panels share: commands for the y axis, applied to the first panel, and the name
  /// of a colour bar, drawn beside the last. A panel drawn as a separate slide has both.
  void shared(const std::string& y_axis, const std::string& bar = "");
  /// A shared legend below all panels. `parts` are curves of a plot command, without data:
  /// "NaN with lines title 'svgd', …".
  void legend(const std::string& parts);

  /// Top of the titles of the first row of panels, in pixels from the picture's upper edge; the
  /// picture's title and its line of settings are above.
  static constexpr int top = 80;

  /// Draws the picture, by default in the size of a slide, under a title and a line of settings,
  /// which also become the SVG's title and description. Prints a line to stderr for each label that
  /// the drawing lacks. Returns the picture's path. If gnuplot is missing or fails, prints one line
  /// to stderr and returns an empty path; the files of data and script remain.
  std::filesystem::path draw(const std::string& title, const std::string& settings, int width = 960,
                             int height = 540);
  /// Draws the picture as draw() does, and prints its path to stdout.
  void draw_slide(const std::string& title, const std::string& settings);

 private:
  struct Panel {
    Box box;
    std::string title, script;
  };
  /// The panel's script together with the shared commands that apply to it.
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

// --- parts of a gnuplot plot command; `file` is a result of data() ---

/// A line through points; `columns` are the numbers of the columns of x and y: "1:2".
std::string curve(const std::string& file, const std::string& columns, const Style& style,
                  const std::string& title, double width = 2.5);
/// Points with bars of ± one standard error: columns x, y, se. On a logarithmic axis, bars are cut
/// at its lower end.
std::string with_errors(const std::string& file, const std::string& columns, const Style& style,
                        const std::string& title);
/// Dots with horizontal intervals: columns x, y, low end of x, high end of x.
std::string with_intervals(const std::string& file, const std::string& columns, const Style& style,
                           const std::string& title, double size = 0.9);

/// List of axis tics with names instead of numbers: ('plain' 0, 'svgd' 1).
std::string named_places(const std::vector<std::string>& names);

/// Script of a panel for a matrix of numbers from 0 to `most`, as shades of one hue; rows and
/// columns are counted from 1. Set the name of its colour bar by Picture::shared.
std::string heat_map(const std::string& file, std::size_t rows, std::size_t columns,
                     double most = 1);

}  // namespace ladon::example
