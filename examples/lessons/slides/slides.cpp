// The course as slides: one HTML file, without a network, which prints to PDF. Of each lesson the
// prediction, the formulas, the figure, the first question and its answer, taken from its page.
//   slides LESSONS FILE    # the folder of the lessons, the file to write

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <regex>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/lessons/slides/mathml.h"

namespace ladon::lessons {
namespace {

namespace fs = std::filesystem;

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Ladon: the course</title>
<style>
@page { size: 960pt 540pt; margin: 0 }
body { margin: 0; font: 24pt/1.4 sans-serif; color: #222; background: #888 }
section { box-sizing: border-box; width: 960pt; height: 540pt; padding: 36pt 56pt; margin: 12pt auto;
  background: white; overflow: hidden; break-after: page }
h1 { font-size: 30pt; margin: 0 0 20pt; color: #0b4f8a }
math { font-size: 100%; font-family: "Cambria Math", "STIX Two Math", "Latin Modern Math",
  "DejaVu Math TeX Gyre", math }
math[display] { font-size: 26pt } .long math { font-size: 20pt }
code { font-size: 90%; background: #f2f2f2 }
img { width: 100%; height: 100%; object-fit: contain }
small { color: #767676; font-size: 18pt }
@media print { body { background: white } section { margin: 0 } }
</style>
)";

/// The first match's group, or nothing.
std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match.str(1) : "";
}

/// The part of a page below a heading.
std::string section_of(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return "";
  const std::size_t text = page.find('\n', begin + 1) + 1;
  return page.substr(text, page.find("\n## ", text) - text);
}

/// A paragraph of Markdown as HTML: code, emphasis, links (their text alone) and formulas.
std::string html(const std::string& markdown) {
  static const std::regex inline_parts(
      R"(`([^`]+)`|\$([^$]+)\$|\*\*([^*]+)\*\*|\*([^*]+)\*|!?\[([^\]]*)\]\([^)]*\))");
  std::string all;
  auto from = markdown.cbegin();
  for (std::sregex_iterator at(markdown.begin(), markdown.end(), inline_parts), end; at != end;
       ++at) {
    const std::smatch& part = *at;
    all += escaped(std::string(from, part[0].first));
    from = part[0].second;
    if (part[1].matched) all += "<code>" + escaped(part[1]) + "</code>";
    if (part[2].matched) all += mathml(part[2], false);
    if (part[3].matched) all += "<b>" + html(part[3]) + "</b>";
    if (part[4].matched) all += "<em>" + html(part[4]) + "</em>";
    if (part[5].matched) all += html(part[5]);
  }
  return all + escaped(std::string(from, markdown.cend()));
}

std::string slide(const std::string& title, const std::string& content) {
  return "<section><h1>" + html(title) + "</h1>\n" + content + "</section>\n";
}

std::string paragraph(const std::string& markdown) { return "<p>" + html(markdown) + "</p>\n"; }

/// A drawing as an image that stands in the page itself: its marks' names are those of other
/// drawings, too, so that one page cannot hold two of them as they are.
std::string image(const std::string& svg) {
  std::string address;
  for (const char c : svg)
    address += c == '%' ? "%25" : c == '#' ? "%23" : c == '"' ? "%22" : std::string(1, c);
  return "<img alt=\"\" src=\"data:image/svg+xml;charset=utf-8," + address + "\">";
}

/// A formula in a line of its own; of a long one each part between wide spaces.
std::string lines_of(const std::string& tex) {
  constexpr std::size_t longest = 120;  // characters of TeX that fit
  const std::string wide = "\\qquad";
  const std::size_t first = tex.size() > longest ? tex.find(wide) : tex.npos;
  const std::string line = tex.substr(0, first), style = line.size() > longest ? "long" : "";
  return "<p class=\"" + style + "\">" + mathml(line, true) + "</p>\n" +
         (first == tex.npos ? "" : lines_of(tex.substr(first + wide.size())));
}

/// Up to three formulas a slide: those that stand in lines of their own.
std::string formulas(const std::string& title, const std::string& page) {
  static const std::regex display(R"(\$\$([^$]+)\$\$)");
  std::string all, content;
  int count = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), display), end; at != end; ++at) {
    content += lines_of((*at)[1]);
    if (++count % 3 == 0) all += slide(title, content), content = "";
  }
  return content.empty() ? all : all + slide(title, content);
}

std::string slides_of(const fs::path& lesson) {
  const std::string page = read_file((lesson / "README.md").string());
  const std::string title = found(page, "^# (Lesson [^\n]*)"),
                    changes = section_of(page, "Change it");
  const std::string picture = read_file((lesson / (lesson.filename().string() + ".svg")).string());
  const std::string question = found(changes, "- ([^<]*)<details>"),
                    answer = found(changes, "<summary>Answer</summary>\\s*([^<]*)</details>");
  return slide(title, paragraph("You will be able to " +
                                found(page, "\n\\*You will be able to\\* ([^\n]*(?:\n[^\n]+)*)")) +
                          "<p><b>Predict.</b></p>" + paragraph(section_of(page, "Predict"))) +
         formulas(title, page) + "<section>" + image(picture.substr(picture.find("<svg"))) +
         "</section>\n" + slide("Question", paragraph(question)) +
         slide("Answer",
               paragraph(answer) + paragraph("**The belief that ends here:** " +
                                             found(page,
                                                   "\\*\\*The belief that ends here:\\*\\* "
                                                   "([^\n]*(?:\n[^\n]+)*)")));
}

void write_slides(const fs::path& lessons, const fs::path& file) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(lessons))
    if (fs::exists(entry.path() / "main.cpp")) all.push_back(entry.path());
  std::ranges::sort(all);
  std::string text = head;
  for (const fs::path& lesson : all) text += slides_of(lesson);
  write_atomically(file, text + "</html>\n");
  std::cout << "slides: " << file.string() << '\n';
}

}  // namespace
}  // namespace ladon::lessons

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw ladon::Error("slides: usage: slides LESSONS FILE");
    ladon::lessons::write_slides(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return argc == 3 ? 1 : 2;
  }
}
