// The study moving_particles as a user runs it: its film, its table, its interactive page.

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::moving_particles_test {
namespace {

using test::contents;

class MovingParticles : public test::Program {
 protected:
  MovingParticles() : Program("moving_particles") {}
};

/// Number of times that `part` stands in the text.
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST_F(MovingParticles, TheFilmShowsEveryFrame) {
  const Run result =
      run("--targets funnel,gaussian --methods svgd,hmc --steps 400 --particles 7 --seeds 1");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("target"), "funnel") << "the first, where there are no two modes";
  const auto &svgd = result.report.at("frames").at("svgd"),
             &hmc = result.report.at("frames").at("hmc");
  ASSERT_EQ(svgd.size(), 41u);
  EXPECT_EQ(svgd.front().at("step"), 0);
  EXPECT_EQ(svgd.back().at("step"), 400);
  EXPECT_EQ(svgd.back().at("places").size(), 7u);
  EXPECT_EQ(svgd.front().at("places"), hmc.front().at("places"))
      << "methods begin at different places";
  EXPECT_NE(svgd.front().at("places"), svgd.back().at("places"));
  const std::string film = contents(pictures() / "moving_particles_film.svg");
  EXPECT_EQ(count(film, "<animate "), 2u + 1) << "a method each, and the clock";
  // Seven dots in each of 41 frames, once more at the end, and where nothing moves.
  EXPECT_EQ(count(film, "h0"), 2u * 7 * (41 + 1 + 1));
  EXPECT_NE(film.find("</svg>\n"), std::string::npos);
}

// Shares from the frames by hand; each column is a step, and the seed shown is one of those run.
TEST_F(MovingParticles, TheTableCountsParticlesAtTheRightMode) {
  const Run result =
      run("--targets gaussian,modes --methods sgld --steps 1000 --particles 9 --seeds 1 --seed 4");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("target"), "modes");
  EXPECT_EQ(result.report.at("seed"), 4);
  const auto& row = result.report.at("rows").at(0);
  for (const std::size_t frame : {4, 8, 16, 28, 40}) {
    const auto& at = result.report.at("frames").at("sgld").at(frame);
    double right = 0;
    for (const auto& place : at.at("places")) right += place.at(0) > 0;
    const std::string column = "step_" + std::to_string(at.at("step").get<int>());
    EXPECT_NEAR(row.at(column).at("mean"), right / 9, 1e-12) << column;
  }
  EXPECT_GT(row.at("step_1000").at("mean"), 0) << "nothing to count";
}

TEST_F(MovingParticles, DrawsWhateverThereIsWithoutGnuplot) {
  const std::string path = std::getenv("PATH");
  for (const std::string& arguments :
       {std::string("--particles 1"), std::string("--targets banana --methods wgd"),
        std::string("--alpha auto"), std::string("--rate 30 --methods none,svgd,hmc")}) {
    std::filesystem::remove_all(pictures());
    setenv("PATH", folder_.path().c_str(), 1);
    const Run result = run(arguments + " --panels --steps 30 --seeds 1");
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    for (const char* name : {"", "_film"})
      EXPECT_NE(
          contents(pictures() / (std::string("moving_particles") + name + ".svg")).find("</svg>"),
          std::string::npos)
          << arguments << ": " << name;
  }
}

TEST_F(MovingParticles, ThePageHoldsTheTargetsAndTheCollapse) {
  const std::filesystem::path file = folder_ / "page.html";
  const Run result = run("--targets ring,modes --methods svgd --steps 10 --particles 8 --seeds 1 " +
                         ("--page " + file.string()));
  ASSERT_EQ(result.status, 0) << result.error;
  const nlohmann::json page = test::page_data(file);
  EXPECT_EQ(page.at("targets").size(), 2u);
  EXPECT_EQ(page.at("kept").at("svgd").size(), page.at("dimensions").size());
  EXPECT_NEAR(page.at("kept").at("svgd").at(4), std::log(11.0) / 10, 1e-3) << "D = 10";
  EXPECT_GE(page.at("checks").size(), 2u * 2 * 5);
}

TEST_F(MovingParticles, AnInterruptLeavesWhatIsFinished) {
  const Run ended = interrupted("--seeds 1 --particles 150 --steps 100000", SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_LT(ended.report.at("rows").size(), 7u);
}

}  // namespace
}  // namespace ladon::moving_particles_test
