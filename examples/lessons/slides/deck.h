#pragma once
// The course as slides: one HTML file, which needs no network and prints to PDF.

#include <string>
#include <vector>

namespace ladon::lessons {

/// A lesson, as read from its folder.
struct Lesson {
  std::string name;     ///< Name of the folder, such as 03_one_head.
  std::string page;     ///< README.md
  std::string picture;  ///< SVG
};

/// HTML of each slide of a lesson, without its <section> element. In order: the question to
/// predict; the displayed formulas, each below the sentence that introduces it; the picture; the
/// tables that the program prints, to compare with the prediction; every question of the section
/// "Change it", followed by its answer; the paragraph "The belief that ends here".
std::vector<std::string> slides_of(const Lesson& lesson);

/// HTML of a title slide, with links to the lessons, and of the slides of all lessons, numbered.
std::string deck(const std::vector<Lesson>& lessons, const std::string& style = "");

}  // namespace ladon::lessons
