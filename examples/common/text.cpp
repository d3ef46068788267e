#include "ladon/examples/common/text.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace ladon::example {

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) all += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return all;
}

std::string signed_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.4f", x);
  return text;
}

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  std::istringstream words(text);
  std::string lines;
  std::size_t used = indent;  // columns used on the current line
  bool fresh = true;
  for (std::string word; words >> word; fresh = false, used += width(word)) {
    if (!fresh && used + 1 + width(word) > columns) {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!fresh) {
      lines += ' ';
      ++used;
    }
    lines += word;
  }
  return lines;
}

}  // namespace ladon::example
