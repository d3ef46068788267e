// The example char_gpt as a user runs it: its text, its training, the text that it generates, and
// resuming a run.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "ladon/tests/examples/program.h"

namespace ladon::char_gpt_test {
namespace {

class CharGpt : public test::Program {
 protected:
  CharGpt() : Program("char_gpt") {
    // abc repeated, each fifth character an x
    std::ofstream file(folder_ / "text.txt");
    for (int i = 0; i < 3000; ++i) file << (i % 5 == 4 ? 'x' : "abc"[i % 3]);
  }
  std::string small(const std::string& steps = "60", const std::string& heads = "2",
                    const std::string& context = "8", const std::string& prompt = "a") const {
    return " --text " + (folder_ / "text.txt").string() + " --steps " + steps + " --heads " +
           heads + " --context " + context + " --prompt " + prompt +
           " --layers 1 --dim 16 --batch 4 --every 20 --rate 0.01 --dropout 0.1 --sample 40 ";
  }
  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
};

TEST_F(CharGpt, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("killed at any moment"), std::string::npos);
}

// Counted pairs: after x stands a, b or c, each as often; after a letter its successor three times
// of four, or x: .8·(¾·ln 4/3 + ¼·ln 4) + .2·ln 3 = .67 nats. Who sees more than one character
// knows when x comes.
TEST_F(CharGpt, LearnsMoreThanPairs) {
  const Run learned = run(small());
  EXPECT_EQ(learned.status, 0) << learned.error;
  const auto& rows = learned.report.at("rows");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].at("method"), "60");
  EXPECT_LT(figure(rows[2], "validation"), figure(rows[0], "validation"));
  EXPECT_NE(learned.out.find("characters give 0.67"), std::string::npos) << learned.out;
  const std::size_t sample = learned.out.find("It writes:\n") + 11;
  EXPECT_EQ(learned.out.find('\n', sample) - sample,
            41u);  // the prompt, and 40 characters of the text
  EXPECT_EQ(learned.out.find_first_not_of("abcx", sample), sample + 41);
}

TEST_F(CharGpt, ThePageHoldsMapsOfUnseenText) {
  const std::filesystem::path file = folder_ / "page.html";
  const Run with = run(small() + "--page " + file.string()), without = run(small());
  ASSERT_EQ(with.status, 0) << with.error;
  EXPECT_NE(with.out.find("\npage: "), std::string::npos);
  for (const char* loss : {"train", "validation"})
    EXPECT_EQ(figure(with.report.at("rows")[2], loss), figure(without.report.at("rows")[2], loss));
  for (const auto& text : test::page_data(file).at("texts")) {
    const auto& layer = text.at("layers").at(0);
    EXPECT_EQ(text.at("predicted").size(), layer.at("queries").size());
    ASSERT_EQ(layer.at("maps").size(), 2u);
    for (const auto& map : layer.at("maps"))
      for (std::size_t i = 0; i < map.size(); ++i) {
        const std::vector<int> row = map[i];
        EXPECT_LE(row.size(), i + 1) << "it sees what comes";
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0), 1000, 8);
      }
  }
}

TEST_F(CharGpt, IsTheSameEveryTimeAndGoesOnFromItsFile) {
  const Run one = run(small() + "--threads 1"), two = run(small() + "--threads 2");
  const auto losses = [](const Run& run) {
    std::vector<double> all;
    for (const auto& row : run.report.at("rows")) {
      all.push_back(figure(row, "train"));
      all.push_back(figure(row, "validation"));
    }
    return all;
  };
  EXPECT_EQ(losses(one), losses(two));
  std::string file = one.out.substr(one.out.find("run: ") + 5);
  file.resize(file.find('\n'));
  ASSERT_TRUE(std::filesystem::exists(file)) << file;
  const Run again = run(small() + "--resume " + file);
  EXPECT_EQ(losses(again), losses(one));
  const auto sample = [](const Run& run) {
    return run.out.substr(run.out.find("It writes:")).substr(0, 60);
  };
  EXPECT_EQ(sample(again), sample(one));
  EXPECT_EQ(losses(run(small("80") + "--resume " + file)).size(), 8u);
}

TEST_F(CharGpt, HeadsMayRepelEachOther) {
  const Run alone = run(small("20")), repelled = run(small("20") + "--particles svgd");
  EXPECT_EQ(repelled.status, 0) << repelled.error;
  EXPECT_NE(figure(alone.report.at("rows")[0], "validation"),
            figure(repelled.report.at("rows")[0], "validation"));
}

TEST_F(CharGpt, MisuseIsAnError) {
  const Run wrong = run(small("60", "3"));
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.error.find("3 heads do not divide dim"), std::string::npos) << wrong.error;
  EXPECT_NE(run(small("60", "2", "500")).error.find("give at least 10000"), std::string::npos);
  EXPECT_NE(run(small("60", "2", "8", "y")).error.find("not"), std::string::npos);
  EXPECT_EQ(run(small() + "--particles wgd").status, 2);
}

}  // namespace
}  // namespace ladon::char_gpt_test
