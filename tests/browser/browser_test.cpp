// Pages of the studies in a real browser: a reader changes the drawing, by mouse, finger
// and keyboard; all can be read on a screen and on a phone, in light and dark; and what is drawn is
// what the run reports. Nothing of it needs a network.

#include "ladon/tests/browser/browser.h"

#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "ladon/tests/browser/studies.h"
#include "ladon/tests/examples/program.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Screen phone{.width = 390, .height = 844};

class StudyPage : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (const std::string program = Browser::found(); !program.empty())
      browser_ = std::make_unique<Browser>(program);
  }
  static void TearDownTestSuite() { browser_.reset(); }

  void SetUp() override {
    if (!browser_)
      GTEST_SKIP() << "SKIPPED: there is no Chromium in PATH (tests/run --with-browser), nor "
                      "another in LADON_BROWSER";
    file_ = run_of(GetParam()).page;
  }

  /// After each test: nothing went wrong, and nothing but the file was asked for.
  void TearDown() override {
    if (!browser_ || file_.empty()) return;
    for (const std::string& error : browser_->errors()) ADD_FAILURE() << error;
    for (const std::string& address : browser_->requests())
      EXPECT_EQ(address, "file://" + file_.string()) << "asked for";
  }

  void open(const Screen& screen = {}) {
    browser_->open(file_, screen);
    browser_->evaluate(contents(LADON_SOURCE_DIR "/tests/browser/probe.js"));
  }
  static json of_page(const std::string& expression) { return browser_->evaluate(expression); }
  static Point point(const std::string& expression) {
    const json at = of_page(expression);
    return {at.at(0), at.at(1)};
  }
  static std::string call(const std::string& function, std::size_t i) {
    return "probe." + function + "(" + std::to_string(i) + ")";
  }
  static void expect_all(const std::string& list, bool value) {
    const json all = of_page(list);
    EXPECT_FALSE(all.empty());
    for (const json& each : all) EXPECT_EQ(each, value) << list;
  }
  static void expect_none(const std::string& faults) {
    for (const json& fault : of_page(faults)) ADD_FAILURE() << fault.get<std::string>();
  }
  static std::vector<std::string> kinds();
  static void expect_drawing_changes(std::size_t control, const std::string& hand);
  template <class Press, class Drag>
  void expect_all_controls_move(const std::string& hand, const Screen& screen, Press press,
                                Drag drag);

  static std::unique_ptr<Browser> browser_;
  fs::path file_;
};

std::unique_ptr<Browser> StudyPage::browser_;

/// Kinds of the controls, in the order of the page.
std::vector<std::string> StudyPage::kinds() {
  static const std::set<std::string> known = {"slider", "choice", "button",
                                              "list",   "words",  "handle"};
  std::vector<std::string> kinds;
  for (const json& control : of_page("probe.named()")) {
    kinds.push_back(control.at("kind"));
    EXPECT_TRUE(known.contains(kinds.back())) << "unknown to tests/browser: " << kinds.back();
  }
  return kinds;
}

/// After a move that probe.remember() went before. Players and lists take their time.
void StudyPage::expect_drawing_changes(std::size_t control, const std::string& hand) {
  bool changed = of_page("probe.changed()");
  for (int i = 0; i < 100 && !changed; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    changed = of_page("probe.changed()");
  }
  EXPECT_TRUE(changed) << of_page("probe.named()").at(control) << " changes nothing, by " << hand;
  of_page("probe.pause()");
}

/// Moves each control by hands that press and drag.
template <class Press, class Drag>
void StudyPage::expect_all_controls_move(const std::string& hand, const Screen& screen, Press press,
                                         Drag drag) {
  open(screen);
  of_page("probe.commit()");
  const std::vector<std::string> all = kinds();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string word = all[i] == "words" ? of_page(call("word", i)) : json("");
    const Point at = point(call("place", i));
    of_page("probe.remember()");
    if (all[i] == "handle")
      drag(at, point(call("goal", i)));
    else
      press(at);
    if (all[i] == "words") browser_->type(word);
    if (all[i] == "list") {  // it has opened
      browser_->press("ArrowDown");
      browser_->press("Enter");
    }
    expect_drawing_changes(i, hand);
  }
}

TEST_P(StudyPage, IsOneSmallFileWithoutAddresses) {
  const std::string text =
      std::regex_replace(contents(file_), std::regex("http://www\\.w3\\.org/[0-9a-z/]*"), "");
  EXPECT_LT(text.size(), 1000000u);
  for (std::size_t at = text.find("http"); at != text.npos; at = text.find("http", at + 1))
    ADD_FAILURE() << text.substr(at, 60);
}

TEST_P(StudyPage, ComputesWhatTheLibraryComputes) {
  open();
  EXPECT_LE(of_page("check()").get<double>(), 1e-6);
  std::set<std::string> checked;
  for (const json& check : of_page("data.checks ?? []")) checked.insert(check.at("function"));
  for (const json& name : of_page("Object.keys(described.functions ?? {})"))
    EXPECT_TRUE(checked.contains(name)) << name << " is not held against the library";
}

TEST_P(StudyPage, KeyboardCommitsToThePrediction) {
  open();
  expect_all("probe.enabled()", false);
  browser_->press("Tab");
  browser_->press(" ");
  browser_->press("ArrowDown");
  EXPECT_EQ(of_page("document.querySelector('.prediction input:checked')?.value"), "1");
  browser_->press("Tab");
  browser_->press("Enter");
  expect_all("probe.enabled()", true);
}

TEST_P(StudyPage, FingersCommitToThePrediction) {
  open(phone);
  browser_->tap(point("probe.middle('.prediction button')"));
  expect_all("probe.enabled()", false);  // nothing was chosen
  browser_->tap(point("probe.middle('.prediction label:last-of-type')"));
  browser_->tap(point("probe.middle('.prediction button')"));
  expect_all("probe.enabled()", true);
}

TEST_P(StudyPage, MouseMovesTheDrawing) {
  expect_all_controls_move(
      "mouse", {}, [](Point at) { browser_->click(at); },
      [](Point from, Point to) { browser_->drag_mouse(from, to); });
}

TEST_P(StudyPage, FingersMoveTheDrawing) {
  expect_all_controls_move(
      "touch", phone, [](Point at) { browser_->tap(at); },
      [](Point from, Point to) { browser_->drag_finger(from, to); });
}

TEST_P(StudyPage, KeyboardMovesTheDrawing) {
  open();
  of_page("probe.commit()");
  const std::vector<std::string> all = kinds();
  std::set<std::size_t> reached;
  for (std::size_t tabs = 0; tabs < 2 * all.size() + 20 && reached.size() < all.size(); ++tabs) {
    browser_->press("Tab");
    const int focused = of_page("probe.focused()");
    const auto i = static_cast<std::size_t>(focused);
    if (focused < 0 || !reached.insert(i).second) continue;
    const std::string word = of_page(call(all[i] == "words" ? "word" : "key", i));
    of_page("probe.remember()");
    if (all[i] == "words")
      browser_->type(word);
    else
      browser_->press(word);
    expect_drawing_changes(i, "keyboard");
  }
  EXPECT_EQ(reached.size(), all.size()) << "controls that Tab does not reach";
}

TEST_P(StudyPage, PointerReadsExactValues) {
  open();
  const int panels = of_page("described.drawn.length");
  for (std::size_t i = 0; i < static_cast<std::size_t>(panels); ++i) {
    if (of_page(call("drawn", i)).is_null()) continue;
    browser_->move_mouse(point(call("drawn", i)));
    const std::string panel = "described.drawn[" + std::to_string(i) + "].";
    EXPECT_TRUE(std::regex_search(of_page(panel + "readout.textContent").get<std::string>(),
                                  std::regex("[0-9∞–]")))
        << of_page(panel + "title");
  }
}

TEST_P(StudyPage, CanBeReadOnEveryScreen) {
  const fs::path pictures = LADON_BROWSER_SCREENSHOTS;
  fs::create_directories(pictures);
  for (Screen screen : {Screen{}, phone})
    for (const bool dark : {false, true}) {
      const std::string name =
          std::to_string(screen.width) + (dark ? std::string("_dark") : "_light");
      SCOPED_TRACE(name);
      screen.dark = dark;
      open(screen);
      const std::string faults = "probe.faults(" + std::to_string(screen.width) + ")";
      expect_none(faults);
      of_page("probe.commit()");
      browser_->save_screenshot(pictures / (GetParam() + "_" + name + ".png"));
      of_page("probe.turnFar()");
      of_page("probe.openTable()");
      expect_none(faults);
    }
}

TEST_P(StudyPage, LittleMotionLeavesSteps) {
  open();
  const bool plays =
      of_page("[...document.querySelectorAll('button')].some(b => b.textContent === 'play')");
  open({.little_motion = true});
  of_page("probe.commit()");
  std::size_t steps = 0;
  const json controls = of_page("probe.named()");
  for (std::size_t i = 0; i < controls.size(); ++i) {
    EXPECT_NE(controls[i].at("name"), "play");
    if (controls[i].at("name") != "step") continue;
    ++steps;
    of_page("probe.remember()");
    browser_->click(point(call("place", i)));
    expect_drawing_changes(i, "mouse");
  }
  EXPECT_TRUE(!plays || steps > 0) << "plays, but does not step";
}

TEST_P(StudyPage, TableHoldsWhatIsDrawn) {
  open();
  of_page("probe.commit()");
  of_page("probe.openTable()");
  EXPECT_FALSE(of_page("probe.rows()").empty());
  expect_none("probe.tableFaults()");
  of_page("probe.turnFar()");
  expect_none("probe.tableFaults()");
}

INSTANTIATE_TEST_SUITE_P(Studies, StudyPage, testing::ValuesIn(studies_with_pages()),
                         [](const auto& study) { return study.param; });

/// Rows of the page of nngp_compare alone.
class NngpComparePage : public StudyPage {};

TEST_P(NngpComparePage, DrawsTheKurtosisOfTheReport) {
  open();
  of_page("probe.openTable()");
  std::size_t found = 0;
  for (const json& row : of_page("probe.rows()")) {
    if (row[0] != "Tails against heads" ||
        row[1].get<std::string>().find("of the run") == std::string::npos)
      continue;
    ++found;
    for (const json& reported : run_of("nngp_compare").report.at("rows")) {
      if (reported.at("method") != "sqrt, H = " + row[2].get<std::string>()) continue;
      const json& kurtosis = reported.at("kurtosis");
      EXPECT_EQ(row[3], of_page("shown(" + kurtosis.at("mean").dump() + ")"));
      EXPECT_EQ(row[4], of_page("shown(" + kurtosis.at("se").dump() + ")"));
    }
  }
  EXPECT_GE(found, 3u);
}

INSTANTIATE_TEST_SUITE_P(Studies, NngpComparePage, testing::Values("nngp_compare"));

}  // namespace
}  // namespace ladon::test
