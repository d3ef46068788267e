// The library compiled for a browser: numbers that its page computes there equal those of this
// build.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "ladon/core/error.h"
#include "ladon/examples/live/live_layer.h"
#include "ladon/tests/browser/browser.h"
#include "ladon/tests/browser/studies.h"

namespace ladon::test {
namespace {

using example::LiveBand;
using example::LiveLayer;
using nlohmann::json;
using Numbers = std::vector<double>;

/// A call as JavaScript, of `layer` and targets `y`, and natively.
struct Call {
  const char* script;
  std::function<Numbers(LiveLayer&)> native;
};

const Numbers y = {0.1, 0.2, 0.5, 0.4, -0.6, 0.3, 0.35, 0.45};

Numbers joined(const LiveBand& band) {
  Numbers all = band.mean;
  all.insert(all.end(), band.sd.begin(), band.sd.end());
  return all;
}

const std::vector<Call> calls = {
    {"layer.training()", &LiveLayer::training},
    {"layer.places()", &LiveLayer::places},
    {"layer.targets()", &LiveLayer::targets},
    {"layer.limit()", &LiveLayer::limit},
    {"layer.networks(0, 0, 50, 10, 30, 1)",
     [](LiveLayer& layer) { return layer.networks(0, 0, 50, 10, 30, 1); }},
    {"layer.networks(4, 0, 50, 10, 30, 2)",
     [](LiveLayer& layer) { return layer.networks(4, 0, 50, 10, 30, 2); }},
    {"layer.networks(1, 1, 50, 10, 30, 3)",
     [](LiveLayer& layer) { return layer.networks(1, 1, 50, 10, 30, 3); }},
    {"layer.networks(64, 16, 50, 10, 30, 4)",
     [](LiveLayer& layer) { return layer.networks(64, 16, 50, 10, 30, 4); }},
    {"joined(layer.posterior(0, y, 0, 1))",
     [](LiveLayer& layer) { return joined(layer.posterior(0, y, 0, 1)); }},
    {"joined(layer.posterior(1, y, 60, 1))",
     [](LiveLayer& layer) { return joined(layer.posterior(1, y, 60, 1)); }},
    {"joined(layer.posterior(64, y, 16, 2))",
     [](LiveLayer& layer) { return joined(layer.posterior(64, y, 16, 2)); }},
    {"(layer.begin(4, 20, 1), layer.step('svgd', 1, y, 40))",
     [](LiveLayer& layer) {
       layer.begin(4, 20, 1);
       return layer.step("svgd", 1, y, 40);
     }},
    {"(layer.begin(64, 20, 2), layer.step('wgd', -1, y, 4))",
     [](LiveLayer& layer) {
       layer.begin(64, 20, 2);
       return layer.step("wgd", -1, y, 4);
     }},
};

/// Largest difference, relative to numbers above 1.
double difference(const Numbers& ours, const Numbers& theirs) {
  if (ours.size() != theirs.size() || ours.empty()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double away = std::abs(ours[i] - theirs[i]) / std::max(1.0, std::abs(theirs[i]));
    largest = std::isnan(away) ? INFINITY : std::max(largest, away);
  }
  return largest;
}

/// The page in a browser.
class LivePage : public testing::Test {
 protected:
  void SetUp() override {
    const auto page = run_of("live").page;
    if (Browser::found().empty() || !exists(page))
      GTEST_SKIP() << "there is no Chromium, or no " << page;
    browser_ = std::make_unique<Browser>(Browser::found());
    browser_->open(page);
  }
  json with_module(const std::string& body) {
    return browser_->evaluate("started.then((module) => {" + body + "})");
  }

  std::unique_ptr<Browser> browser_;
};

TEST_F(LivePage, GivesTheNumbersOfThisBuild) {
  std::string body = "const joined = ({mean, sd}) => [...mean, ...sd], y = " + json(y).dump();
  body += ", layer = new module.LiveLayer(); return [";
  for (const Call& call : calls) body += std::string(call.script) + ", ";
  const json answers = with_module(body + "];");
  LiveLayer layer;
  ASSERT_EQ(answers.size(), calls.size());
  std::printf("%-56s %10s\n", "", "difference");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const double away = difference(answers[i].get<Numbers>(), calls[i].native(layer));
    EXPECT_LE(away, 1e-12) << calls[i].script;
    std::printf("%-56s %10.1e\n", calls[i].script, away);
  }
}

/// Tools of the next test in the page.
constexpr const char* tools = R"js(
  document.querySelector(".prediction input").click();
  document.querySelector(".prediction button").click();
  window.choose = (heads) => { document.querySelector(`input[name=heads][value="${heads}"]`).click(); };
  window.handles = [...document.querySelectorAll(".handle")];
  window.up = (i) => { handles[i].dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp"})); };
  window.step = () => { [...document.querySelectorAll("button")].find((each) => each.textContent === "step").click(); };
  window.means = () => described.drawn[0].series[1].points.map(([, y]) => y);
  window.movesTheBand = (i) => {
    const before = means();
    up(i);
    return means().some((y, place) => y !== before[place]);
  };)js";

TEST_F(LivePage, DrawsAnewWithEveryTarget) {
  with_module(tools);
  const double start = browser_->processor_seconds();
  const auto milliseconds = [&](const std::string& script) {
    double least = INFINITY;
    for (int i = 0; i < 5; ++i) {
      const double before = browser_->processor_seconds();
      browser_->evaluate(script);
      least = std::min(least, 1000 * (browser_->processor_seconds() - before));
    }
    return least;
  };
  std::printf("processor time in ms: start %.0f\n", 1000 * start);
  for (const std::string heads : {"1", "2", "4", "64", "infinite"}) {
    browser_->evaluate("choose('" + heads + "')");
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(browser_->evaluate("movesTheBand(" + std::to_string(i) + ")"), true)
          << heads << " heads, target " << i;
    std::printf("%s heads: target moved %.0f, step of the particles %.0f\n", heads.c_str(),
                milliseconds("up(0)"), milliseconds("step()"));
  }
}

TEST_F(LivePage, SaysTheLibrarysErrors) {
  std::string said;
  try {
    LiveLayer().posterior(-1, y, 10, 1);
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("heads"), said.npos) << said;
  const std::string call = "new module.LiveLayer().posterior(-1, " + json(y).dump() + ", 10, 1)";
  EXPECT_EQ(with_module("try { " + call + "; } catch (error) { return error.message; }"), said);
}

}  // namespace
}  // namespace ladon::test
