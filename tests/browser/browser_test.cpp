// Tests of the studies' interactive pages in a real browser: a reader can change the drawing by
// mouse, finger and keyboard; all text is legible on a screen and on a phone, in light and dark
// colours; and the numbers drawn are those that the run reports. The pages need no network.

#include "ladon/tests/browser/browser.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <regex>
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
  static void TearDownTestSuite() { browser_.reset(); }

  /// One browser serves all tests; after one that it does not survive it is started again.
  void SetUp() override {
    const std::string program = Browser::found();
    if (program.empty())
      GTEST_SKIP() << "there is no Chromium in PATH (tests/run --with-browser), nor "
                      "another in LADON_BROWSER";
    if (!browser_ || browser_->failed()) browser_ = std::make_unique<Browser>(program);
    const fs::path page = run_of(GetParam()).page;
    if (!fs::exists(page))
      GTEST_SKIP() << "there is no " << page << " (cmake --preset wasm && cmake --build "
                   << "--preset wasm, with Emscripten)";
    file_ = page;
  }

  /// After each test: nothing went wrong, and nothing but the file was asked for.
  void TearDown() override {
    if (file_.empty() || browser_->failed()) return;
    for (const std::string& error : browser_->errors()) ADD_FAILURE() << error;
    for (const std::string& address : browser_->requests())
      EXPECT_EQ(address, "file://" + file_.string()) << "asked for";
  }

  void open(const Screen& screen = {}) {
    browser_->open(file_, screen);
    browser_->evaluate("globalThis.started?.then(() => null)");  // of the page that loads a module
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
  static void expect_controls(bool enabled) {
    const json all = of_page("probe.enabled()");
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(all, json(std::vector<bool>(all.size(), enabled)));
  }
  static void expect_none(const std::string& faults) {
    std::string all;
    for (const json& fault : of_page(faults)) all += fault.get<std::string>() + "\n";
    EXPECT_TRUE(all.empty()) << all;
  }
  static std::vector<std::string> kinds();
  static bool changes(bool plays = false);
  static void expect_all_move(
      const std::string& hand,
      const std::function<void(std::size_t, const std::string& kind)>& move);
  template <class Press, class Drag>
  static void move_by(std::size_t control, const std::string& kind, Press press, Drag drag);

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

/// Whether the drawing is another than at probe.remember(): at once; or soon, of a player.
bool StudyPage::changes(bool plays) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(plays ? 1000 : 50);
  bool changed = of_page("probe.changed()");
  while (!changed && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(plays ? 100 : 25));
    changed = of_page("probe.changed()");
  }
  of_page("probe.pause()");
  return changed;
}

/// Each control changes the drawing when move(control, kind) moves it: at once; or after the others
/// were moved, as one that undoes does; or where another choice is made, as one of a single method
/// does. Then each panel that it changed fits into the window beside it.
void StudyPage::expect_all_move(
    const std::string& hand,
    const std::function<void(std::size_t, const std::string& kind)>& move) {
  const std::vector<std::string> all = kinds();
  const json named = of_page("probe.named()");
  const auto moves = [&](std::size_t control) {
    move(control, all[control]);
    if (!changes(named[control].at("name") == "play")) return false;
    EXPECT_EQ(of_page(call("together", control)), true)
        << named[control] << " is out of sight where one sees what it changes";
    return true;
  };
  std::vector<std::size_t> idle;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!moves(i)) idle.push_back(i);
  for (const std::size_t i : idle) {
    bool found = moves(i);
    for (std::size_t c = 0; c < all.size(); ++c) {
      const int choices = all[c] == "choice" && c != i ? of_page(call("choices", c)).get<int>() : 0;
      for (int next = 0; next < choices && !found; ++next) {
        of_page(call("chooseNext", c));
        found = moves(i);
      }
    }
    EXPECT_TRUE(found) << named[i] << " changes nothing, by " << hand;
  }
}

/// Moves a control by a hand that presses and drags.
template <class Press, class Drag>
void StudyPage::move_by(std::size_t control, const std::string& kind, Press press, Drag drag) {
  const json word = kind == "words" ? of_page(call("word", control)) : json();
  const Point at = point(call("place", control)),
              to = kind == "handle" ? point(call("goal", control)) : at;
  of_page("probe.remember()");
  if (kind == "handle")
    drag(at, to);
  else
    press(at);
  if (kind == "words") browser_->type(word);
  if (kind == "list") {  // it has opened
    browser_->press("ArrowDown");
    browser_->press("Enter");
  }
}

TEST_P(StudyPage, IsOneFileWithoutAddresses) {
  const std::string text = contents(file_), name = "http://www.w3.org/";  // of SVG, not an address
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 1))
    EXPECT_EQ(text.compare(at - 4, name.size(), name), 0) << text.substr(at - 8, 60);
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
  expect_controls(false);
  browser_->press("Tab");
  browser_->press(" ");
  browser_->press("ArrowDown");
  EXPECT_EQ(of_page("document.querySelector('.prediction input:checked')?.value"), "1");
  browser_->press("Tab");
  browser_->press("Enter");
  expect_controls(true);
}

TEST_P(StudyPage, FingersCommitToThePrediction) {
  open(phone);
  browser_->tap(point("probe.middle('.prediction button')"));
  expect_controls(false);  // nothing was chosen
  browser_->tap(point("probe.middle('.prediction label:last-of-type')"));
  browser_->tap(point("probe.middle('.prediction button')"));
  expect_controls(true);
}

TEST_P(StudyPage, MouseMovesTheDrawing) {
  open();
  of_page("probe.commit()");
  expect_all_move("mouse", [](std::size_t control, const std::string& kind) {
    move_by(
        control, kind, [](Point at) { browser_->click(at); },
        [](Point from, Point to) { browser_->drag_mouse(from, to); });
  });
}

TEST_P(StudyPage, FingersMoveTheDrawing) {
  open(phone);
  of_page("probe.commit()");
  expect_all_move("touch", [](std::size_t control, const std::string& kind) {
    move_by(
        control, kind, [](Point at) { browser_->tap(at); },
        [](Point from, Point to) { browser_->drag_finger(from, to); });
  });
}

TEST_P(StudyPage, KeyboardMovesTheDrawing) {
  open();
  of_page("probe.commit()");
  expect_all_move("keyboard", [](std::size_t control, const std::string& kind) {
    const json key = of_page(call(kind == "words" ? "word" : "key", control));
    for (int tabs = 0; of_page("probe.focused()") != control; ++tabs) {
      ASSERT_LT(tabs, 100) << "Tab does not reach " << of_page("probe.named()").at(control);
      browser_->press("Tab");
    }
    of_page("probe.remember()");
    if (kind == "words")
      browser_->type(key);
    else
      browser_->press(key);
  });
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
  for (Screen screen : {Screen{}, phone}) {
    const std::string width = std::to_string(screen.width);
    SCOPED_TRACE(width);
    open(screen);
    expect_none("probe.faults(" + width + ")");
    of_page("probe.commit()");
    for (const bool dark : {false, true}) {
      screen.dark = dark;
      browser_->show(screen);
      expect_none("probe.contrasts()");
      browser_->save_screenshot(pictures /
                                (GetParam() + "_" + width + (dark ? "_dark" : "_light") + ".png"));
    }
    of_page("probe.turnFar()");
    of_page("probe.openTable()");
    expect_none("probe.faults(" + width + ")");
  }
}

TEST_P(StudyPage, LittleMotionLeavesSteps) {
  open({.little_motion = true});
  const bool plays = of_page("described.controls.some(({play, run}) => play || run)");
  of_page("probe.commit()");
  std::size_t steps = 0;
  const json controls = of_page("probe.named()");
  for (std::size_t i = 0; i < controls.size(); ++i) {
    EXPECT_NE(controls[i].at("name"), "play");
    if (controls[i].at("name") != "step") continue;
    ++steps;
    of_page("probe.remember()");
    browser_->click(point(call("place", i)));
    EXPECT_TRUE(changes()) << "a step";
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

/// Rows of the page of gaussian_outputs alone.
class GaussianOutputsPage : public StudyPage {};

TEST_P(GaussianOutputsPage, DrawsTheKurtosisOfTheReport) {
  open();
  of_page("probe.openTable()");
  std::size_t found = 0;
  for (const json& row : of_page("probe.rows()")) {
    if (row[0] != "Tails against heads" ||
        row[1].get<std::string>().find("of the run") == std::string::npos)
      continue;
    ++found;
    for (const json& reported : run_of("gaussian_outputs").report.at("rows")) {
      if (reported.at("method") != "sqrt, H = " + row[2].get<std::string>()) continue;
      const json& kurtosis = reported.at("kurtosis");
      EXPECT_EQ(row[3], of_page("shown(" + kurtosis.at("mean").dump() + ")"));
      EXPECT_EQ(row[4], of_page("shown(" + kurtosis.at("se").dump() + ")"));
    }
  }
  EXPECT_GE(found, 3u);
}

/// Second moments of networks of a size at two tokens against the limit's, which they have at any
/// width, and fourth moments against those of the law of kurtosis, in standard errors.
constexpr const char* moments = R"js(((heads, width) => {
  cloud({heads, width, more: 0});
  const draws = cloud({heads, width, more: 19700});
  const z = (values, expected) => {
    const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
    const square = values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / values.length;
    return (mean - expected) / Math.sqrt(square / values.length);
  };
  const fourth = 3 + kurtosis(data.covariance, heads, width);
  return [[0, 0], [0, 1], [1, 1]].map(([i, j]) => z(draws.map((each) => each[i] * each[j]), k[i][j]))
    .concat([0, 1].map((i) => z(draws.map((each) => each[i] ** 4), fourth * k[i][i] ** 2)));
}))js";

TEST_P(GaussianOutputsPage, DrawsNetworksByTheirLaw) {
  open();
  for (const char* size : {"(1, 4)", "(8, 2)", "(2, 64)"}) {
    const json z = of_page(std::string(moments) + size);
    ASSERT_EQ(z.size(), 5u);
    for (const json& each : z) EXPECT_LT(std::abs(each.get<double>()), 4) << size << ": " << z;
  }
}

INSTANTIATE_TEST_SUITE_P(Studies, GaussianOutputsPage, testing::Values("gaussian_outputs"));

/// The page of posterior alone.
class PosteriorPage : public StudyPage {};

/// Given other targets than the run's, of each number of heads: the mean square of f around its
/// exact mean, summed over places, by the page over that by draws of the prior, weighed; and the
/// standard error of this ratio. The page's draws are led to the targets 20 times, by other random
/// numbers, in four groups that never meet: these tell the error.
constexpr const char* moved_targets = R"js(data.draws.map((draws) => {
  const y = [0.8, 0.6, -0.5, -0.6, 0.5, 0.6, 0.2, -0.4], normal = normals(5), times = 20;
  const prior = Array.from({length: 24000 / draws.heads}, () => drawOf(draws.latents[0].map(normal)));
  const logs = prior.map(({l}) => logDensity(l, y)), most = logs.reduce((a, b) => Math.max(a, b));
  const weights = logs.map((log) => Math.exp(log - most));
  const sum = weights.reduce((a, b) => a + b), shares = weights.map((each) => each / sum);
  const exact = mixture(prior, shares, y), total = dot(exact.sd, exact.sd);
  const square = ({mean, sd}) => dot(sd, sd) + mean.reduce((sum, m, p) => sum + (m - exact.mean[p]) ** 2, 0);
  const away = prior.reduce((sum, draw, i) =>
    sum + (shares[i] * (square(mixture([draw], [1], y)) / total - 1)) ** 2, 0);
  const parts = Array.from({length: groups}, () => 0);
  let ratio = 0;
  for (let time = 0; time < times; time++) {
    const all = {...stored(draws), uniform: uniforms(100 + time), normal: normals(200 + time)};
    ratio += square(belief(all, y)) / total / times;
    const now = weigh(all, y);
    for (const group of parts.keys()) {
      const of = [...now.keys()].filter((i) => i % groups === group);
      parts[group] += square(mixture(of.map((i) => all.draws[i]), of.map((i) => now[i]), y)) / total / times;
    }
  }
  const middle = parts.reduce((a, b) => a + b) / groups;
  const own = parts.reduce((sum, part) => sum + (part - middle) ** 2, 0) / groups / (groups - 1);
  return [ratio, Math.sqrt(own + away)];
}))js";

TEST_P(PosteriorPage, FollowsMovedTargets) {
  open();
  const json all = of_page(moved_targets);
  ASSERT_EQ(all.size(), 3u);
  for (const json& heads : all) {
    const double ratio = heads[0], error = heads[1];
    EXPECT_LT(std::abs(ratio - 1) / error, 4) << all;
    EXPECT_LT(error, 0.05) << all << ": so large that a bias of a fifth would pass";
  }
}

INSTANTIATE_TEST_SUITE_P(Studies, PosteriorPage, testing::Values("posterior"));

}  // namespace
}  // namespace ladon::test
