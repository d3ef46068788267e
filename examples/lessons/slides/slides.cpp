// Writes the course, or some of its lessons, as slides made from the lessons' pages.
//   slides LESSONS FILE.html           # the folder of the lessons, the file to write
//   slides LESSONS FILE.html 3 4       # lessons 3 and 4 alone

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/lessons/slides/deck.h"

namespace ladon::lessons {
namespace {

namespace fs = std::filesystem;

/// The lessons' folders, in order.
std::vector<fs::path> folders_in(const fs::path& lessons) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(lessons))
    if (fs::exists(entry.path() / "main.cpp")) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

/// The folder named by 3, 03 or 03_one_head.
fs::path folder_named(const std::string& name, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const std::string whole = folder.filename(), number = whole.substr(0, whole.find('_'));
    if (name == whole || name == number || "0" + name == number) return folder;
  }
  throw Error("[slides] there is no lesson " + name + "; the lessons are the folders of LESSONS");
}

Lesson read_lesson(const fs::path& folder) {
  const std::string name = folder.filename();
  return {name, read_file(folder / "README.md"), read_file(folder / (name + ".svg"))};
}

void write_slides(const fs::path& lessons, const fs::path& file,
                  const std::vector<std::string>& names) {
  if (file.extension() != ".html")
    throw Error("[slides] the file to write must end with .html, but is " + file.string());
  const std::vector<fs::path> folders = folders_in(lessons);
  std::vector<Lesson> all;
  for (const std::string& name : names) all.push_back(read_lesson(folder_named(name, folders)));
  if (names.empty())
    for (const fs::path& folder : folders) all.push_back(read_lesson(folder));
  // Formulas use the site's font.
  write_atomically(file, deck(all, read_file(lessons / "../common/page/math.css")));
  std::cout << "slides: " << file.string() << '\n';
}

}  // namespace
}  // namespace ladon::lessons

int main(int argc, char** argv) {
  try {
    if (argc < 3)
      throw ladon::Error("[slides] needs two arguments; usage: slides LESSONS FILE.html [LESSON…]");
    ladon::lessons::write_slides(argv[1], argv[2], {argv + 3, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return argc < 3 ? 2 : 1;
  }
}
