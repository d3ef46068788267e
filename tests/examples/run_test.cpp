// The scripts tests/run, examples/run and .ci/run as a user runs them, in an environment of fake
// programs: every program that they call is a small script in a folder of the test, so nothing is
// installed or built.

#include <sys/wait.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "ladon/examples/common/text.h"
#include "ladon/tests/examples/program.h"

namespace ladon::run_test {
namespace {

using test::contents;
namespace fs = std::filesystem;

class Scripts : public testing::Test {
 protected:
  struct Run {
    int status;
    std::string text;   ///< stdout and stderr
    std::string calls;  ///< Of the stand-ins, a line each.
  };

  void SetUp() override {
    fs::create_directories(bin());
    for (const char* name :
         {"bash", "env", "sed", "grep", "tail", "readlink", "realpath", "dirname", "basename",
          "mktemp", "mkdir", "rm", "cat", "tr", "tee", "mv"})
      fs::create_symlink(fs::path("/usr/bin") / name, bin() / name);
    stand_in("id", "echo 0");
    stand_in("nproc", "echo 2");
    stand_in("dpkg-query", R"(grep -qx -- "${!#}" $HERE/installed && echo "install ok installed")");
    stand_in("cmake", "echo cmake $LADON_WARNINGS_AS_ERRORS $* >>$HERE/calls");
    stand_in("ctest", "echo ctest $* >>$HERE/calls");
    stand_in("apt-get", R"(echo apt-get $* >>$HERE/calls
echo "debconf: delaying package configuration" >&2
case "$*" in
  *--assume-no*) echo "0 upgraded, 58 newly installed, 0 to remove."
    echo "Need to get 97.2 MB of archives."
    echo "After this operation, 420 MB of additional disk space will be used."
    exit 1 ;;
  install*) for word in "$@"; do echo $word >>$HERE/installed; done ;;
esac)");
    fs::create_directories(build() / "examples");
    write(build() / "examples" / "repulsive_heads", "#!/usr/bin/env bash\necho ran it $*\n");
    installed("");
  }

  fs::path bin() const { return folder_ / "bin"; }
  fs::path build() const { return folder_ / "build" / "release"; }

  static void write(const fs::path& path, const std::string& script) {
    std::ofstream(path) << script;
    fs::permissions(path, fs::perms::owner_all);
  }
  void stand_in(const std::string& name, const std::string& script) {
    fs::remove(bin() / name);
    write(bin() / name, "#!/usr/bin/env bash\n" + script + "\n");
  }
  void installed(const std::string& packages) {
    std::ofstream all(folder_ / "installed");
    std::istringstream words(packages);
    for (std::string word; words >> word;) all << word << '\n';
  }

  /// Runs a script of the checkout with the stand-ins alone on the path.
  Run run(const std::string& command, const std::string& variables = "") {
    fs::remove(folder_ / "calls");
    const std::string here = fs::path(folder_ / "bin").parent_path().string();
    const int status =
        std::system(("cd " + here + " && env -u LADON_WARNINGS_AS_ERRORS HERE=" + here +
                     " PATH=" + bin().string() + " LADON_BUILD_DIR=" + here + "/build " +
                     variables + " " LADON_SOURCE_DIR "/" + command + " >text 2>&1")
                        .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder_ / "text"),
            contents(folder_ / "calls")};
  }

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  const std::string needed =
      "g++ cmake ninja-build libopenblas-dev libtbb-dev nlohmann-json3-dev libcli11-dev zlib1g-dev";
  test::TemporaryFolder folder_;
};

TEST_F(Scripts, AnUnknownExampleIsAnsweredWithTheList) {
  for (const char* name :
       {"gp-classify", "Repulsive_heads", "common", "quickstart", "../examples/gp_classify"}) {
    const Run answer = run(std::string("examples/run ") + name + " --threads 1");
    EXPECT_EQ(answer.status, 2) << name;
    EXPECT_TRUE(has(answer.text, std::string("there is no example ") + name)) << answer.text;
    EXPECT_TRUE(has(answer.text, "\n  nngp_compare ")) << answer.text;
    EXPECT_EQ(answer.calls, "") << "something was installed or built";
  }
}

TEST_F(Scripts, ListSaysWhatHelpSays) {
  const Run list = run("examples/run --list");
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(list.calls, "");
  std::istringstream lines(list.text);
  std::size_t examples = 0;
  for (std::string name, text; lines >> name && std::getline(lines, text); ++examples) {
    if (name == "tour") break;
    const std::size_t start = text.find_first_not_of(' '), end = text.find(';'),
                      second = text.find(';', end + 1);
    const std::string lesson = text.substr(start, end - start),
                      duration = text.substr(end + 2, second - end - 2);
    EXPECT_GT(duration.size(), 2u) << text;
    const fs::path help = folder_ / "help";
    std::system((LADON_EXAMPLES_DIR "/" + name + " --help >" + help.string()).c_str());
    std::istringstream help_lines(contents(help));
    std::string flat;  // as it was before lines were broken
    for (std::string line; std::getline(help_lines, line); flat += line + ' ')
      EXPECT_LE(example::width(line), 100u) << line;
    flat = std::regex_replace(flat, std::regex(" +"), " ");
    EXPECT_TRUE(has(flat, ". Try examples/run " + name)) << flat;
    EXPECT_TRUE(has(flat, " --version ")) << flat;
    EXPECT_TRUE(has(flat, duration)) << flat;
    EXPECT_TRUE(has(flat, lesson)) << lesson << '\n' << flat;
  }
  std::size_t programs = 0;
  for (const char* folder : {"/examples", "/examples/lessons"})
    for (const auto& entry : fs::directory_iterator(std::string(LADON_SOURCE_DIR) + folder))
      programs += fs::exists(entry.path() / "main.cpp") &&
                  entry.path().filename() != "quickstart";  // a project to copy
  EXPECT_EQ(examples, programs);
}

TEST_F(Scripts, HelpIsGivenWithoutABuild) {
  const Run help = run("examples/run --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.calls, "");
  EXPECT_TRUE(has(help.text, "examples/run --list") && has(help.text, "\n  gp_classify "))
      << help.text;
}

TEST_F(Scripts, TheTourShowsEveryExampleOnOnePage) {
  const std::vector<std::string> names = test::studies();
  EXPECT_FALSE(names.empty());
  std::string targets = "--target";
  for (const std::string& name : names) {
    targets += ' ' + name;
    write(build() / "examples" / name, "#!/usr/bin/env bash\necho \"" + name +
                                           ": 1 < 2 & $*\"\necho '<svg/>' >$2/picture.svg\n");
  }
  const Run all = run("examples/run tour --threads 1");
  ASSERT_EQ(all.status, 0) << all.text;
  EXPECT_TRUE(has(all.calls, targets)) << all.calls;
  EXPECT_TRUE(has(all.text, "page: tour.out/index.html")) << all.text;
  const std::string page = contents(folder_ / "tour.out" / "index.html");
  for (const std::string& name : names) {
    EXPECT_TRUE(has(page, "<h2>" + name + "</h2>")) << page;
    EXPECT_TRUE(has(page, "<img src=\"" + name + "/picture.svg\"")) << page;
    EXPECT_TRUE(has(page, name + ": 1 &lt; 2 &amp; --out tour.out/" + name + " --threads 1"))
        << page;
  }
  EXPECT_EQ(run("examples/run tour").status, 0) << "again";
  write(build() / "examples" / "nngp_compare", "#!/usr/bin/env bash\nexit 3\n");
  EXPECT_NE(run("examples/run tour").status, 0) << "a failure was not told";
}

TEST_F(Scripts, NameABuildFolderOfAnotherCheckout) {
  write(build() / "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else\n");
  const Run moved = run("examples/run --epochs 2");
  EXPECT_NE(moved.status, 0);
  EXPECT_TRUE(has(moved.text, "was made for /somewhere/else")) << moved.text;
}

TEST_F(Scripts, SayWhatTheyInstallAndHowLongItTakes) {
  const Run first = run("examples/run --epochs 2");
  EXPECT_EQ(first.status, 0) << first.text;
  EXPECT_TRUE(has(first.text, "installs " + needed + " ccache gnuplot-nox (58 packages"))
      << first.text;
  EXPECT_TRUE(has(first.text, "97.2 MB to fetch, 420 MB on disk; about a minute")) << first.text;
  EXPECT_TRUE(has(first.text, "runs repulsive_heads: about ")) << first.text;
  EXPECT_TRUE(has(first.text, "ran it --epochs 2\n")) << first.text;
  EXPECT_FALSE(has(first.text, "debconf")) << first.text;
  EXPECT_LT(first.text.find("runs repulsive_heads"), first.text.find("ran it"));
  EXPECT_TRUE(has(run("examples/run gp_classify").text, "/build/release: about 6 min on 2 cores"));
  write(build() / "libladon_extra.a", "");
  const Run second = run("examples/run");
  EXPECT_TRUE(has(second.text, "builds what has changed")) << second.text;
  EXPECT_FALSE(has(second.calls, "apt-get")) << second.calls;
}

TEST_F(Scripts, WithoutRootOnlyWhatIsNeededIsAskedFor) {
  stand_in("id", "echo 1000");
  installed("cmake g++");
  const Run stopped = run("examples/run");
  EXPECT_EQ(stopped.status, 1);
  EXPECT_TRUE(has(stopped.text,
                  "\n  sudo apt-get install --no-install-recommends ninja-build libopenblas-dev "
                  "libtbb-dev nlohmann-json3-dev libcli11-dev zlib1g-dev\n"))
      << stopped.text;
  EXPECT_FALSE(has(stopped.text, "ccache")) << stopped.text;
  EXPECT_EQ(stopped.calls, "");
  stand_in("sudo", "exit 1");
  EXPECT_EQ(run("examples/run").text, stopped.text);
  installed(needed);
  const Run built = run("examples/run");
  EXPECT_EQ(built.status, 0) << built.text;
  EXPECT_TRUE(has(built.text, "goes on without ccache gnuplot-nox: of use, but not needed"))
      << built.text;
  EXPECT_TRUE(has(built.text, "ran it")) << built.text;
}

// apt-get install g++ ends well without lists: it takes the name for a regular expression.
TEST_F(Scripts, WithoutPackageListsTheCauseIsNamed) {
  stand_in("apt-get", R"(case "$*" in
  update*) echo "E: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease" >&2; exit 100 ;;
esac)");
  installed("cmake ninja-build libopenblas-dev libtbb-dev nlohmann-json3-dev");
  const Run failed = run("examples/run");
  EXPECT_EQ(failed.status, 1);
  EXPECT_TRUE(
      has(failed.text, "apt-get update failed (no network?): E: Failed to fetch http://deb"))
      << failed.text;
  EXPECT_TRUE(has(failed.text, "--no-install-recommends g++ libcli11-dev zlib1g-dev\n"))
      << failed.text;
  EXPECT_FALSE(has(failed.calls, "cmake"));
}

TEST_F(Scripts, BuildWhereTheyAreTold) {
  installed(needed + " libgtest-dev");
  const std::string place = build().string();
  const Run tests = run("tests/run -R core");
  EXPECT_EQ(tests.status, 0) << tests.text;
  EXPECT_TRUE(has(tests.calls, "--preset release -B " + place)) << tests.calls;
  EXPECT_TRUE(has(tests.calls, "--build " + place)) << tests.calls;
  EXPECT_TRUE(has(tests.calls, "ctest --test-dir " + place)) << tests.calls;
  EXPECT_TRUE(has(tests.calls, " -R core")) << tests.calls;
  const Run refused = run("examples/run", "LADON_BUILD_DIR=/proc/build");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(has(refused.text,
                  "cannot write to /proc/build/release; name another place: LADON_BUILD_DIR="))
      << refused.text;
  EXPECT_EQ(refused.calls, "");
}

TEST_F(Scripts, CiAsksClangAndUsersNeedNone) {
  const Run ci = run(".ci/run");
  EXPECT_EQ(ci.status, 0) << ci.text;
  EXPECT_TRUE(has(ci.calls, "--no-install-recommends clang clang-tidy pandoc doxygen\n"))
      << ci.calls;
  EXPECT_TRUE(has(ci.text, "SKIPPED: there is no clang++")) << ci.text;
  EXPECT_TRUE(has(ci.text, "SKIPPED: there is no clang-tidy")) << ci.text;
  EXPECT_FALSE(has(run("tests/run").calls, "clang-tidy\n"));
}

TEST_F(Scripts, WarningsAreErrorsInCiAlone) {
  installed(needed + " libgtest-dev");
  EXPECT_TRUE(has(run(".ci/run").calls, "cmake ON --preset release"));
  EXPECT_TRUE(has(run("tests/run").calls, "cmake --preset release"));
  const auto presets = nlohmann::json::parse(contents(LADON_SOURCE_DIR "/CMakePresets.json"));
  for (const auto& preset : presets.at("configurePresets")) {
    const auto& variables = preset.at("cacheVariables");
    const std::string name = "LADON_WARNINGS_AS_ERRORS";
    if (variables.contains(name)) {
      EXPECT_EQ(variables.at(name), "$env{" + name + "}") << preset;
    }
  }
}

// Output of ctest for the test `golden` where there are no cases, and after its summary.
TEST_F(Scripts, GoldenSaysWhyItIsSkipped) {
  const std::string golden = LADON_SOURCE_DIR "/tests/golden/", folder = folder_ / "cases";
  const auto said = [&](const std::string& script) {
    const std::string text = folder_ / "text";
    EXPECT_EQ(std::system(("cmake -DARCHIVE=/nowhere/cases.tar.gz -DFOLDER=" + folder + " -P " +
                           golden + script + " >" + text + " 2>&1")
                              .c_str()),
              0);
    return contents(text);
  };
  const std::string skip = said("run.cmake"), summary = said("skips.cmake");
  EXPECT_EQ(skip.find("SKIPPED: there is no /nowhere/cases.tar.gz"), 0u) << skip;
  for (const std::string& text : {skip, summary})
    EXPECT_TRUE(has(text, "github.com/onnx/onnx") && has(text, "-DLADON_GOLDEN_CASES=")) << text;
  EXPECT_EQ(said("skips.cmake"), "") << "said of a run that had no golden test";
}

}  // namespace
}  // namespace ladon::run_test
