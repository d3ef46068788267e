#pragma once
// Search of the headers for classes and functions of each kind (layers, optimizers, readers, …),
// and of the other tests for the rows that test them. A row is a call, or an entry of a test's
// table; comments do not count.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "ladon/tests/declared_functions.h"
#include "ladon/tests/sources.h"

namespace ladon::test {

namespace fs = std::filesystem;
inline const fs::path source = source_folder();

// --- classes and functions in the headers ---

struct Found {
  std::string header;
  /// Names by which rows may refer to it: its name, or the name of a function that makes it.
  std::vector<std::string> spelled;
};
using Names = std::map<std::string, Found>;

/// Text of a source file without comments and without namespace detail.
inline std::string text_of_file(const fs::path& path) {
  std::ifstream in(path);
  std::string text;
  bool internal = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "namespace detail {") internal = true;
    if (!internal) text += line.substr(0, line.find("//")) + '\n';
    if (line == "}  // namespace detail") internal = false;
  }
  return text;
}

/// Texts of the library's headers, by path.
inline const std::map<std::string, std::string>& headers() {
  static const auto all = [] {
    std::map<std::string, std::string> texts;
    for (const auto& [path, text] : sources())
      if (path.ends_with(".h")) texts[path] = text_of_file(source / path);
    return texts;
  }();
  return all;
}

struct Class {
  std::string header, body;
  std::vector<std::string> bases;
};

/// Classes of the headers by name; classes in different namespaces may have the same name.
inline const std::multimap<std::string, Class>& classes() {
  static const auto all = [] {
    std::multimap<std::string, Class> found;
    const std::regex head("\\n *(?:class|struct) (\\w+)(?: final)?\\s*(?::\\s*([^{};]+))?\\{");
    for (const auto& [header, text] : headers())
      for (std::sregex_iterator i(text.begin(), text.end(), head), end; i != end; ++i) {
        Class c{.header = header, .body = {}, .bases = {}};
        const auto from = static_cast<std::size_t>(i->position() + i->length());
        c.body = text.substr(from, text.find("\n};", from) - from);
        std::istringstream bases((*i)[2].str());
        for (std::string base; std::getline(bases, base, ',');) {
          base = base.substr(0, base.find('<'));
          const auto names = matches(base, "(\\w+)");
          if (!names.empty()) c.bases.push_back(names.back());
        }
        found.emplace((*i)[1], c);
      }
    return found;
  }();
  return all;
}

inline bool derives(const Class& c, const std::string& base);
inline bool derives(const std::string& name, const std::string& base) {
  const auto [begin, end] = classes().equal_range(name);
  return std::any_of(begin, end, [&base](const auto& each) { return derives(each.second, base); });
}
inline bool derives(const Class& c, const std::string& base) {
  return std::any_of(c.bases.begin(), c.bases.end(),
                     [&](const std::string& b) { return b == base || derives(b, base); });
}

/// Classes derived from `base`, without those listed in `bases`, which are themselves only base
/// classes.
inline Names derived(const std::string& base, const std::set<std::string>& bases = {}) {
  Names names;
  for (const auto& [name, c] : classes())
    if (derives(c, base) && !bases.contains(name)) names[name] = {c.header, {name}};
  for (const std::string& each : bases)
    EXPECT_TRUE(derives(each, base)) << each << " is no base of a " << base << " any more";
  return names;
}

/// Whether a header is in a folder ("optim/samplers/") or in the corresponding folder of extra/
/// ("optim/extra/samplers/").
inline bool stands_in(const std::string& header, const std::string& folder) {
  const std::size_t floor = folder.find('/') + 1;
  return header.starts_with(folder) ||
         header.starts_with(folder.substr(0, floor) + "extra/" + folder.substr(floor));
}

/// Functions with this return type that headers below `folder` declare.
inline Names returning(const std::string& type, const std::string& folder) {
  Names names;
  for (const auto& [header, text] : headers())
    if (stands_in(header, folder))
      for (const std::string& name : matches(text, "\\n(?:" + type + ") (\\w+)\\("))
        names[name] = {header, {name}};
  return names;
}

/// Headers that users include: those that the umbrella headers list.
inline std::set<std::string> offered() {
  std::set<std::string> paths;
  for (const char* umbrella :
       {"optim/ladon.h", "optim/optim.h", "layers/layers.h", "optim/extra/extra.h"})
    for (const std::string& path : matches(headers().at(umbrella), "#include \"ladon/([^\"]+)\""))
      paths.insert(path);
  return paths;
}

/// Functions that read files: read_… and load_… by a path, parse_… of bytes; Class::load and
/// ::parse.
inline Names readers() {
  Names names;
  for (const std::string& header : offered()) {
    for (const std::string& name : declared_functions(source / header))
      if (matches(name, "^((?:read|parse|load)_)").size() == 1) names[name] = {header, {name}};
    for (const std::string& name :
         matches(headers().at(header), "\\n  static (\\w+ (?:load|parse))\\(")) {
      const std::size_t space = name.find(' ');
      const std::string member = name.substr(0, space) + "::" + name.substr(space + 1);
      names[member] = {header, {member}};
    }
  }
  names.erase("read_file");  // returns the bytes without parsing them
  return names;
}

// --- rows of other tests ---

/// A place in which a row is searched: a file, or all source files of a folder. `part` limits the
/// search to the function or table that begins with this text. `row` is a regular expression for
/// the row, in which NAME stands for the name.
struct Place {
  std::string path, part, row;
  std::string with = {};  ///< For a folder: only files with this text are searched.
};

struct Row {
  std::string what;
  std::vector<Place> places;           ///< A row in one of these places is enough.
  std::set<std::string> excused = {};  ///< Names that need no row.
};

struct Kind {
  std::string name;  ///< As in README.md of folders: "| samplers | `Sgld`, … |".
  Names found;
  std::vector<Row> rows;
};

/// Folder of the tests of extra/: "tests/optim/extra/posterior" for "tests/optim/posterior".
inline std::string with_extra(const std::string& folder) {
  return std::regex_replace(folder, std::regex("^(tests/[^/]+)/"), "$1/extra/");
}

inline const std::string& text_of(const Place& place) {
  static std::map<std::pair<std::string, std::string>, std::string> known;
  const auto [entry, fresh] = known.try_emplace({place.path, place.with});
  std::string& text = entry->second;
  if (!fresh) return text;
  const fs::path path = source / place.path;
  if (!fs::is_directory(path)) return text = text_of_file(path);
  const fs::path beside = source / with_extra(place.path);
  for (const fs::path& folder : {path, beside}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& each : fs::recursive_directory_iterator(folder)) {
      if (each.path().extension() != ".cpp") continue;
      const std::string file = text_of_file(each.path());
      if (file.find(place.with) != file.npos) text += file;
    }
  }
  return text;
}

inline std::string part_of(const Place& place) {
  const std::string& text = text_of(place);
  const std::size_t begin = place.part.empty() ? 0 : text.find(place.part);
  EXPECT_FALSE(text.empty() || begin == text.npos)
      << place.path << " has no `" << place.part
      << "` any more: tell registry_test.cpp where its rows are";
  if (begin == text.npos || place.part.empty()) return text;
  return text.substr(begin, text.find("\n}", begin) - begin);
}

inline std::string pattern(const Place& place, const std::string& name) {
  return std::regex_replace(place.row, std::regex("NAME"), name);
}

inline bool has_row(const Place& place, const std::string& name) {
  const std::string text = part_of(place);
  const std::regex row(pattern(place, name));
  // Searches only around each occurrence of the name, since std::regex fails on long texts.
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t begin = at < 250 ? 0 : at - 250;
    const std::string around = text.substr(begin, at + name.size() + 80 - begin);
    if (std::regex_search(around, row)) return true;
  }
  return false;
}

/// Path of the card of a header: the README.md of its folder, or of the nearest folder above that
/// has one. For a header in extra/ it is that of the folder with the same name outside of extra/.
inline fs::path card_of(const std::string& header) {
  fs::path folder = fs::path(std::regex_replace(header, std::regex("/extra/"), "/")).parent_path();
  while (!fs::exists(source / folder / "README.md")) folder = folder.parent_path();
  return folder / "README.md";
}

/// Names that a card (README.md) lists in the row of a kind.
inline std::vector<std::string> listed(const fs::path& card, const std::string& kind) {
  std::ifstream in(source / card);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("| " + kind + " |")) return matches(line, "`([\\w:]+)`");
  return {};
}

inline void expect_rows(const Kind& kind) {
  EXPECT_FALSE(kind.found.empty()) << "the walk does not find the " << kind.name;
  std::set<fs::path> cards;
  for (const auto& [name, found] : kind.found) {
    const std::string who = "`" + name + "` (" + found.header + "), of the " + kind.name + ", ";
    for (const Row& row : kind.rows) {
      bool has = row.excused.contains(name);
      std::string where;
      for (const Place& place : row.places) {
        for (const std::string& spelled : found.spelled) has = has || has_row(place, spelled);
        where += "\n  " + place.path + (place.part.empty() ? "" : ", " + place.part) + ": " +
                 pattern(place, name);
      }
      if (!has)
        ADD_FAILURE() << who << "has no " << row.what << ". Add one where this is looked for"
                      << (row.places.size() > 1 ? " (one is enough):" : ":") << where;
    }
    const fs::path card = card_of(found.header);
    cards.insert(card);
    const auto names = listed(card, kind.name);
    if (!std::count(names.begin(), names.end(), name))
      ADD_FAILURE() << who << "is not in the card of its room. Add it in " << card.string()
                    << " to the line \"| " << kind.name << " | … |\"";
  }
  for (const fs::path& card : cards)
    for (const std::string& name : listed(card, kind.name))
      EXPECT_TRUE(kind.found.contains(name)) << card << " lists `" << name << "` among the "
                                             << kind.name << ": there is none any more";
}

}  // namespace ladon::test
