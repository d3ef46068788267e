#include "ladon/examples/lessons/slides/deck.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/slides/mathml.h"

namespace ladon::lessons {

using example::escaped;

namespace {

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Ladon: the course</title>
<style>
@page { size: 960pt 540pt; margin: 0 }
body { margin: 0; font: 24pt/1.4 sans-serif; color: #222; background: #888 }
section { box-sizing: border-box; width: 960pt; height: 540pt; padding: 36pt 56pt;
  margin: 12pt auto; background: white; overflow: hidden; break-after: page; position: relative }
h1 { font-size: 30pt; line-height: 1.2; margin: 0 0 18pt; color: #0b4f8a }
p { margin: 12pt 0 }
math { font-size: 100% }
math[display] { font-size: 26pt } .long math { font-size: 20pt }
code { font-size: 90%; background: #f2f2f2 }
pre { margin: 0; line-height: 1.25 }
img { display: block; width: 100%; height: 100%; object-fit: contain }
a { color: #0b4f8a; text-decoration: none }
nav { columns: 2; column-gap: 40pt; font-size: 18pt; line-height: 1.25 }
nav p { margin: 0 0 9pt; break-inside: avoid }
.asked { color: #666; font-size: 20pt }
.number { position: absolute; right: 20pt; bottom: 10pt; font-size: 16pt }
@media print { body { background: white } section { margin: 0 } }
</style>
)";

constexpr std::size_t longest = 42;  // largest number of letters of a formula on one line

/// The first group of the first match of a pattern in the text, or an empty text.
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

/// Converts a paragraph of Markdown to HTML: code, emphasis, links (only their text) and formulas.
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
  return "<h1>" + html(title) + "</h1>\n" + content;
}

std::string paragraph(const std::string& markdown, const std::string& style = "") {
  return "<p" + (style.empty() ? "" : " class=\"" + style + "\"") + ">" + html(markdown) + "</p>\n";
}

/// An SVG drawing embedded as an image. It is not inlined, because all drawings use the same ids
/// for their markers, which would collide on one page.
std::string image(const std::string& svg) {
  std::string address;
  for (const char c : svg)
    address += c == '%' ? "%25" : c == '#' ? "%23" : c == '"' ? "%22" : std::string(1, c);
  return "<img alt=\"\" src=\"data:image/svg+xml;charset=utf-8," + address + "\">";
}

/// Index at which the last sentence of a text begins: after a full stop or question mark and a
/// blank, outside of formulas and code; 0 for a single sentence.
std::size_t last_sentence(const std::string& text) {
  static const std::string quotes = "$`";
  std::size_t begin = 0;
  char inside = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (quotes.find(text[i]) != std::string::npos) inside = inside == 0 ? text[i] : 0;
    const bool ends = text[i] == '.' || text[i] == '?' ||
                      (text[i] == '*' && i > 0 && text[i - 1] == '.');  // "*Masks.* A query …"
    if (inside == 0 && ends && std::isspace(static_cast<unsigned char>(text[i + 1]))) begin = i + 2;
  }
  return begin;
}

/// The sentence that introduces a formula: the last one of the paragraph that ends here, with the
/// sentence before it if it is a single word, such as "Hence".
std::string introduction(std::string before) {
  before.erase(before.find_last_not_of(" \n") + 1);
  for (const std::string border : {"\n\n", "\n- ", "$$", "```"})
    if (const std::size_t at = before.rfind(border); at != std::string::npos)
      before.erase(0, at + border.size());
  before = std::regex_replace(before, std::regex("^\\s*(- )?"), "");
  const std::size_t begin = last_sentence(before);
  constexpr std::size_t word = 12;
  return before.size() - begin > word || begin < 2
             ? before.substr(begin)
             : before.substr(last_sentence(before.substr(0, begin - 1)));
}

/// Approximate number of letters of a formula; a command counts as one.
std::size_t width(const std::string& tex) {
  static const std::regex wide(R"(\\qquad)"), command(R"(\\[a-zA-Z]+)"), silent("[{}^_ &]");
  const std::string letters =
      std::regex_replace(std::regex_replace(tex, wide, "mmm"), command, "m");
  return std::regex_replace(letters, silent, "").size();
}

/// Splits a formula into lines that fit, as far as possible: at wide spaces, or else at equalities
/// or conclusions, outside of braces and environments.
std::vector<std::string> lines_of(const std::string& tex) {
  static const std::regex marks(
      R"(\{|\}|\\begin|\\end|\\qquad| = |\n= | \\le |\\quad *\\Rightarrow)");
  const std::string wide = "\\qquad";
  const bool has_wide = tex.find(wide) != tex.npos;
  std::vector<std::string> lines;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    const std::string part = tex.substr(from, to - from);
    if (!lines.empty() && width(lines.back() + part) <= longest)
      lines.back() += part;
    else
      lines.push_back(part.starts_with(wide) ? part.substr(wide.size()) : part);
    from = to;
  };
  int depth = 0;
  for (std::sregex_iterator at(tex.begin(), tex.end(), marks), end; at != end; ++at) {
    const std::string mark = at->str();
    if (mark == "{" || mark == "\\begin")
      ++depth;
    else if (mark == "}" || mark == "\\end")
      --depth;
    else if (depth == 0 && has_wide == (mark == wide))
      add(static_cast<std::size_t>(at->position()));
  }
  add(tex.size());
  return lines;
}

/// Slides of the displayed formulas, as many per slide as fit.
std::vector<std::string> formulas(const std::string& title, const std::string& page) {
  static const std::regex display(R"(\$\$([^$]+)\$\$)");
  constexpr std::size_t room = 11, letters = 75;  // text lines per slide, and letters per line
  std::vector<std::string> all;
  std::string content;
  std::size_t filled = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), display), end; at != end; ++at) {
    const std::string text = introduction(page.substr(0, static_cast<std::size_t>(at->position())));
    const std::vector<std::string> lines = lines_of((*at)[1]);
    const std::size_t takes = (text.size() + letters - 1) / letters + 3 * lines.size();
    if (filled > 0 && filled + takes > room)
      all.push_back(slide(title, std::exchange(content, ""))), filled = 0;
    filled += takes;
    if (!text.empty()) content += paragraph(text);
    for (const std::string& line : lines)
      content += "<p" + std::string(width(line) > longest ? " class=\"long\"" : "") + ">" +
                 mathml(line, true) + "</p>\n";
  }
  if (filled > 0) all.push_back(slide(title, content));
  return all;
}

std::string title_of(const Lesson& lesson) { return found(lesson.page, "^# (Lesson [^\n]*)"); }

/// Slide of the program's output without the command and the picture's path, in the largest letters
/// that fit; none if the page has no output.
std::vector<std::string> tables(const std::string& page) {
  constexpr double high = 400, wide = 848, largest = 20;  // points
  constexpr double line = 1.25, letter = 0.61;            // in units of the font size
  const std::string begin = "```console\n$ ";
  const std::size_t at = page.find(begin);
  if (at == page.npos) return {};
  std::istringstream printed(page.substr(at, page.find("\n```", at) + 1 - at));
  std::string text, row;
  std::size_t rows = 0, columns = 1;  // longest row in bytes, at least its number of letters
  for (int skipped = 0; std::getline(printed, row);) {
    if (skipped++ < 2 || row.starts_with("picture: ") || (rows == 0 && row.empty())) continue;
    text += row + '\n', ++rows, columns = std::max(columns, row.size());
  }
  text.erase(text.find_last_not_of('\n') + 1);
  const double size = std::min({largest, high / (line * static_cast<double>(rows)),
                                wide / (letter * static_cast<double>(columns))});
  return {
      slide("The prediction, and what the program prints",
            detail::join("<pre style=\"font-size: ", size, "pt\">", escaped(text), "</pre>\n"))};
}

/// Slides with each question of "Change it", followed by one with its answer.
std::vector<std::string> questions(const std::string& page) {
  static const std::regex item("- ([^<]*)<details><summary>Answer</summary>\\s*([^<]*)</details>");
  const std::string part = section_of(page, "Change it");
  std::vector<std::string> all;
  for (std::sregex_iterator at(part.begin(), part.end(), item), end; at != end; ++at) {
    all.push_back(slide("Change it", paragraph((*at)[1])));
    all.push_back(slide("Change it", paragraph((*at)[1], "asked") + paragraph((*at)[2])));
  }
  return all;
}

}  // namespace

std::vector<std::string> slides_of(const Lesson& lesson) {
  const std::string page =  // without HTML comments, which name the table rows behind numbers
      std::regex_replace(lesson.page, std::regex("<!--[^>]*-->\n?"), "");
  const std::string title = title_of(lesson);
  const auto rest_after = [&](const std::string& words) {
    return found(page, "\n" + std::regex_replace(words, std::regex("\\*"), "\\*") +
                           " ([^\n]*(?:\n[^\n]+)*)");
  };
  std::vector<std::string> all = {
      slide(title, paragraph("You will be able to " + rest_after("*You will be able to*")) +
                       "<p><b>Predict.</b></p>" + paragraph(section_of(page, "Predict")))};
  const auto add = [&all](const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(formulas(title, page));
  add({image(lesson.picture.substr(lesson.picture.find("<svg")))});
  add(tables(page));
  add(questions(page));
  add({slide("The belief that ends here",
             paragraph(rest_after("**The belief that ends here:**")))});
  return all;
}

std::string deck(const std::vector<Lesson>& lessons, const std::string& style) {
  std::string contents, rest;
  int number = 2;
  const auto section = [&number](const std::string& content, const std::string& name = "") {
    const std::string anchor = name.empty() ? "" : " id=\"" + name + "\"";
    return detail::join("<section", anchor, ">", content, "<a class=\"number\" href=\"#contents\">",
                        number++, "</a></section>\n");
  };
  for (const Lesson& lesson : lessons) {
    contents += detail::join("<p><a href=\"#", lesson.name, "\">", html(title_of(lesson)),
                             "</a> &nbsp;", number, "</p>\n");
    std::string name = lesson.name;
    for (const std::string& content : slides_of(lesson))
      rest += section(content, std::exchange(name, ""));
  }
  number = 1;
  return head + ("<style>\n" + style + "</style>\n") +
         section(slide("The course", "<nav>" + contents + "</nav>"), "contents") + rest +
         "</html>\n";
}

}  // namespace ladon::lessons
