// Fuzz target that reads case.json of a golden case (tests/golden), next to valid arrays.

#include "../golden/case.h"
#include "ladon/core/extra/io/npy.h"
#include "ladon/tests/fuzz/target.h"
#include "ladon/tests/support.h"

namespace ladon::fuzz {
namespace {

namespace fs = std::filesystem;

// Asks for an attribute in every way there is.
void ask(const golden::Case& c, const std::string& name) {
  const auto ask = [](auto question) {
    try {
      accepted(question);
    } catch (const nlohmann::json::exception&) {  // of another type than asked for
    }
  };
  ask([&] { c.integer(name, 0); });
  ask([&] { c.axis(name, 0, 2); });
  ask([&] { c.number(name, 0); });
  ask([&] { c.text(name, ""); });
  ask([&] { c.integers(name); });
  ask([&] { c.integers(name, 1); });
  ask([&] { c.numbers(name); });
  ask([&] { c.tensor_value(name); });
}

}  // namespace

// golden_cases reports any std::exception as a failed case; only the reader of JSON has its own.
bool read_golden(std::string_view bytes) {
  static const test::TemporaryFolder folder;
  const std::string& file = file_of(bytes);
  static const bool prepared = [&] {
    fs::create_symlink(file, folder / "case.json");
    for (const char* name : {"input_0.npy", "input_1.npy", "output_0.npy"})
      save_npy(folder / name, ones({2, 3}));
    return true;
  }();
  try {
    return prepared && accepted([&] {
             golden::Case c(folder.path());
             c.load();
             for (const char* name : {"axis", "axes", "alpha", "perm", "value", "to"}) ask(c, name);
           });
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const golden::Skip&) {
    return false;
  }
}

}  // namespace ladon::fuzz
