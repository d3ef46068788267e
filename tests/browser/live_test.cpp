// The library in a browser: what its page computes there is what this build computes here.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
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
      GTEST_SKIP() << "SKIPPED: there is no Chromium, or no " << page;
    browser_ = std::make_unique<Browser>(Browser::found());
    browser_->open(page);
  }
  json with_module(const std::string& body) {
    return browser_->evaluate("started.then((module) => {" + body + "})");
  }

  std::unique_ptr<Browser> browser_;
};

/// The shortest of three calls, in milliseconds.
constexpr const char* timed = R"js(
  const joined = ({mean, sd}) => [...mean, ...sd];
  const timed = (call) => {
    let value, least = Infinity;
    for (let i = 0; i < 3; i++) {
      const began = performance.now();
      value = call();
      least = Math.min(least, performance.now() - began);
    }
    return {value, least};
  };)js";

double milliseconds(const std::function<void()>& call) {
  double least = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    least = std::min(least, took.count());
  }
  return least;
}

TEST_F(LivePage, GivesTheNumbersOfThisBuild) {
  const std::string targets = json(y).dump();
  std::string body = timed;
  body += "const layer = new module.LiveLayer(), y = " + targets + "; return [";
  for (const Call& call : calls) body += "timed(() => " + std::string(call.script) + "), ";
  const json answers = with_module(body + "];");
  LiveLayer layer;
  ASSERT_EQ(answers.size(), calls.size());
  std::printf("%-56s %10s %8s %8s\n", "", "difference", "ms here", "there");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Numbers here;
    const double took = milliseconds([&] { here = calls[i].native(layer); });
    const double away = difference(answers[i].at("value").get<Numbers>(), here);
    EXPECT_LE(away, 1e-12) << calls[i].script;
    std::printf("%-56s %10.1e %8.2f %8.2f\n", calls[i].script, away, took,
                answers[i].at("least").get<double>());
  }
  const json start = browser_->evaluate("performance.getEntriesByName('started')[0].startTime");
  std::printf("page of %.1f MB, there after %.0f ms\n",
              static_cast<double>(file_size(run_of("live").page)) / 1e6, start.get<double>());
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
