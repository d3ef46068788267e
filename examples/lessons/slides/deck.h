#pragma once
// The course as slides: one HTML file, without a network, which prints to PDF.

#include <string>
#include <vector>

namespace ladon::lessons {

/// A lesson as it stands in its folder.
struct Lesson {
  std::string name;     ///< Of the folder, as 03_one_head.
  std::string page;     ///< README.md
  std::string picture;  ///< SVG
};

/// Insides of a lesson's slides, in order: the prediction; the formulas that stand in lines of
/// their own, each below the sentence that leads to it; the picture; the program's tables, beside
/// which the prediction is to be held; every question of "Change it", and after each its answer;
/// the belief that ends.
std::vector<std::string> slides_of(const Lesson& lesson);

/// HTML of a first slide, whose titles lead to the lessons, and of all lessons' slides, numbered.
std::string deck(const std::vector<Lesson>& lessons, const std::string& style = "");

}  // namespace ladon::lessons
