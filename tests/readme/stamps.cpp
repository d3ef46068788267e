#include "ladon/tests/readme/stamps.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "ladon/core/io/file.h"
#include "ladon/core/kernels/fingerprint.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test {
namespace fs = std::filesystem;

std::string printed_by(const std::string& command) {
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;) text.append(part, n);
  return pclose(pipe) == 0 ? text : std::string();
}

std::optional<std::uint64_t> fingerprint_of_program(const fs::path& program) {
  const TemporaryFolder folder;
  const std::string loaded = (folder / "loaded").string(), name = "'" + program.string() + "'";
  const std::string command = "objcopy -O binary -R .note.gnu.build-id -R " +
                              std::string(section_of_commit) + " " + name + " " + loaded +
                              " 2>/dev/null";
  if (std::system(command.c_str()) != 0) return std::nullopt;
  std::uint64_t all = detail::fingerprint(read_file(loaded));
  // As "libz.so.1 => /lib/libz.so.1 (0x00007f…)".
  std::istringstream libraries(printed_by("ldd " + name));
  bool any = false;
  for (std::string word; libraries >> word;)
    if (word.starts_with('/') && fs::exists(word)) {
      all = detail::fingerprint(read_file(word), all);
      any = true;
    }
  return any ? std::optional(all) : std::nullopt;
}

fs::path Stamps::folder() {
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value == nullptr ? "" : value);
  };
  fs::path cache = named("LADON_CACHE");
  if (cache.empty()) cache = named("XDG_CACHE_HOME");
  if (cache.empty() && !named("HOME").empty()) cache = named("HOME") / ".cache";
  return cache.empty() ? cache : cache / "ladon" / "printed";
}

namespace {

std::string digits(std::uint64_t fingerprint) {
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << fingerprint;
  return text.str();
}

}  // namespace

fs::path Stamps::file(std::uint64_t fingerprint) const { return folder_ / digits(fingerprint); }

bool Stamps::has(std::uint64_t fingerprint) const {
  return !folder_.empty() && fs::exists(file(fingerprint));
}

void Stamps::add(std::uint64_t fingerprint, const std::string& what) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  std::ofstream(file(fingerprint)) << what << '\n';
}

Record::Record(fs::path file) : file_(std::move(file)) {
  std::ifstream lines(file_);
  std::string name;
  for (std::uint64_t fingerprint; lines >> std::hex >> fingerprint >> name;)
    before_[name] = fingerprint;
}

bool Record::has(const std::string& name, std::uint64_t fingerprint) const {
  const auto found = before_.find(name);
  return found != before_.end() && found->second == fingerprint;
}

void Record::write() const {
  std::string text;
  for (const auto& [name, fingerprint] : passed_) text += digits(fingerprint) + " " + name + "\n";
  write_atomically(file_.string(), text);
}

}  // namespace ladon::test
