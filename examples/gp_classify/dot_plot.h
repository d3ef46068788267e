#pragma once
// A figure of several models, each in several forms, as dots with intervals on a free axis.

#include <string>
#include <vector>

#include "ladon/examples/common/plot.h"

namespace ladon::example {

/// A model in one of its forms.
struct Dot {
  std::size_t model, form;
  double value, low, high;  ///< The value is NaN where training diverged.
};

/// What the models are compared with: a line.
struct Reference {
  std::string name;
  double at;
};

struct DotPlot {
  std::string name, axis;                  ///< Of the data's file; of the horizontal axis.
  std::vector<std::string> models, forms;  ///< Models stand below each other, forms within them.
  std::vector<Dot> dots;
  std::vector<Reference> references;
  double most;  ///< The axis ends here at the latest; a value beyond is told in numbers.

  /// In pixels, of the panel.
  int height() const;
  /// Adds the panel with its upper left corner at left, top; `named` writes the models' names
  /// beside it.
  void add_to(Picture& picture, int left, int top, int width, bool named) const;

 private:
  std::pair<double, double> range() const;
  std::string line(const Reference& reference, double label_at) const;
  std::string beyond(const Dot& dot) const;
  double place(const Dot& dot) const;
};

/// Of a model, in all panels and all pictures; of a form, filled where the width is infinite.
Style model_style(const std::string& model);
int form_marker(std::size_t form);

}  // namespace ladon::example
