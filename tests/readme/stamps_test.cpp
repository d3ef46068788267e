// The fingerprint of a program does not change with a comment, with functions that it does not use,
// or with the commit, but changes with a constant.

#include "ladon/tests/readme/stamps.h"

#include <cstdlib>
#include <fstream>

#include "ladon/core/io/file.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

const std::string program = R"(
[[gnu::section(".ladon_commit")]] extern const char commit[128] = "v1";
int unused() { return 1; }
int used(int x) { return 3 * x; }
int main(int count, char**) { return used(count) + commit[count]; }
)";

class Programs : public testing::Test {
 protected:
  /// Of the program above with `to` in place of `from`, compiled as Ladon is.
  std::optional<std::uint64_t> fingerprint(const std::string& from = "",
                                           const std::string& to = "") const {
    std::string text = program;
    text.replace(text.find(from), from.size(), to);
    const std::string source = (folder_ / "main.cpp").string(), file = (folder_ / "main").string();
    std::ofstream(source) << text;
    const std::string command = std::string(LADON_COMPILER) +
                                " -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections " +
                                source + " -o " + file;
    EXPECT_EQ(std::system(command.c_str()), 0) << text;
    return fingerprint_of_program(file);
  }
  TemporaryFolder folder_;
};

TEST_F(Programs, AreKnownAgain) {
  const auto before = fingerprint();
  if (!before) GTEST_SKIP() << "needs objcopy (of binutils) and ldd";
  EXPECT_EQ(fingerprint(), before);
  EXPECT_EQ(fingerprint("int used", "// Three times.\n\n\nint used"), before) << "a comment";
  EXPECT_EQ(fingerprint("return 1", "return 12345678"), before) << "what it does not use";
  EXPECT_EQ(fingerprint("int unused() { return 1; }", ""), before) << "what it does not use";
  EXPECT_EQ(fingerprint("v1", "v1-12-g0123456789ab-dirty"), before) << "its commit";
  EXPECT_NE(fingerprint("return 3", "return 5"), before) << "a constant";
  EXPECT_NE(fingerprint("return 3 * x", "return 3 * x + 1"), before) << "a formula";
}

TEST_F(Programs, ThatAreMissingHaveNoFingerprint) {
  EXPECT_FALSE(fingerprint_of_program(folder_ / "missing"));
  std::ofstream(folder_ / "text") << "no program";
  EXPECT_FALSE(fingerprint_of_program(folder_ / "text"));
}

TEST(Stamps, AreKeptInAFolder) {
  const TemporaryFolder folder;
  const Stamps stamps(folder / "new/printed");
  EXPECT_FALSE(stamps.has(0x123));
  stamps.add(0x123, "a page");
  EXPECT_TRUE(stamps.has(0x123));
  EXPECT_FALSE(stamps.has(0x1230));
  EXPECT_TRUE(Stamps(folder / "new/printed").has(0x123));
  EXPECT_TRUE(std::filesystem::exists(folder / "new/printed/0000000000000123"));
  EXPECT_FALSE(Stamps("").has(0x123)) << "nowhere";
}

TEST(Record, KnowsWhatPassedLast) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "passed.txt";
  Record first(file);
  EXPECT_FALSE(first.has("a page", 0));
  first.set("one/README.md", 0x123);
  first.set("two/README.md", 0xfedcba9876543210);
  first.write();
  EXPECT_EQ(read_file(file.string()),
            "0000000000000123 one/README.md\nfedcba9876543210 two/README.md\n");
  Record second(file);
  EXPECT_TRUE(second.has("two/README.md", 0xfedcba9876543210));
  EXPECT_FALSE(second.has("one/README.md", 0xfedcba9876543210)) << "another page's";
  second.set("one/README.md", 0x124);
  second.write();
  EXPECT_TRUE(Record(file).has("one/README.md", 0x124));
  EXPECT_FALSE(Record(file).has("two/README.md", 0xfedcba9876543210)) << "a page that is gone";
}

}  // namespace
}  // namespace ladon::test
