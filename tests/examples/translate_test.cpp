// The example translate as a user runs it: its grammar, files, training, resuming a run, and the
// translation of a sentence.

#include <filesystem>
#include <fstream>

#include "ladon/tests/examples/program.h"

namespace ladon::translate_test {
namespace {

namespace fs = std::filesystem;

class Translate : public test::Program {
 protected:
  Translate() : Program("translate") {}

  /// The grammar, learned in part.
  static std::string small(const std::string& steps = "40") {
    return " --pairs 100 --layers 1 --dim 32 --batch 16 --every 20 --rate 0.005 --beams 2 --steps " +
           steps + " ";
  }
  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
  /// A row of the report, of either table.
  static const nlohmann::json& row_of(const Run& run, const std::string& name) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == name) return row;
    static const nlohmann::json none;
    return none;
  }
  fs::path file(const std::string& name, const std::string& lines) const {
    std::ofstream(folder_ / name) << lines;
    return folder_ / name;
  }
  fs::path run_file() const { return pictures() / "translate.safetensors"; }
};

TEST_F(Translate, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("killed at any moment"), std::string::npos);
}

// On 500 sentences that it has not seen: nearly all right, where words alone give no order.
TEST_F(Translate, LearnsOrderAndAgreement) {
  const Run learned = run("--beams 0 --steps 400 --every 200");
  ASSERT_EQ(learned.status, 0) << learned.error;
  const auto& words = row_of(learned, "word for word");
  const auto& model = row_of(learned, "greedy");
  EXPECT_GT(figure(words, "words"), 0.7);
  EXPECT_LT(figure(words, "BLEU"), 25);
  EXPECT_GT(figure(model, "BLEU"), 95);
  EXPECT_GT(figure(model, "exact"), 0.85);
  EXPECT_GT(learned.report.at("tokens_per_second").at(0).get<double>(), 0);
  // Verb second after an adverb, and the article of a masculine object; all words are known.
  const Run said = run_bare("--resume " + run_file().string() +
                            " --translate 'today the woman sees the old king'");
  EXPECT_EQ(said.out, "heute sieht die Frau den alten König\n") << said.error;
}

TEST_F(Translate, IsTheSameEveryTimeAndGoesOnFromItsFile) {
  const auto looks = [](const Run& run) {
    std::vector<double> all;
    for (const auto& row : run.report.at("rows"))
      for (const char* name : {"train", "validation", "BLEU", "exact"})
        if (row.contains(name)) all.push_back(figure(row, name));
    return all;
  };
  const Run one = run(small() + "--threads 1"), two = run(small() + "--threads 2");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(looks(one), looks(two));
  const std::string resume = "--resume " + run_file().string() + " ";
  EXPECT_EQ(looks(run(small() + resume)), looks(one));
  const Run more = run(small("60") + resume);
  EXPECT_EQ(looks(more).size(), looks(one).size() + 3) << more.error;
}

// Digits, and the same from the last to the first: files of one's own, which need no grammar.
TEST_F(Translate, ReadsFilesAndCutsOffWhatItIsJudgedOn) {
  std::string numbers, reversed;
  for (int i = 0; i < 200; ++i) {
    const std::string digits = std::to_string(1000 + i * 37 % 1000);
    std::string line;
    for (const char c : digits) line += std::string(line.empty() ? "" : " ") + c;
    numbers += line + '\n';
    reversed += std::string(line.rbegin(), line.rend()) + '\n';
  }
  const std::string pair = "--source " + file("a", numbers).string() + " --target " +
                           file("b", reversed).string() + " --beams 0 --tokens 259 ";
  const Run own = run(small("20") + pair);
  EXPECT_EQ(own.status, 2) << "a grammar's pairs and files exclude each other";
  const std::string options = "--layers 1 --dim 16 --batch 16 --steps 20 --every 20 ";
  const Run cut = run(options + pair);
  ASSERT_EQ(cut.status, 0) << cut.error;
  EXPECT_NE(cut.out.find("a: 181 pairs, 9 for validation, 10 for the test; 259 tokens"),
            std::string::npos)
      << cut.out;
  const std::string both = (folder_ / "a").string() + " " + (folder_ / "b").string() + " ";
  const Run given = run(options + pair + "--test " + both + "--validation " + both);
  EXPECT_NE(given.out.find("a: 200 pairs, 200 for validation, 200 for the test"), std::string::npos)
      << given.out << given.error;
  const Run uneven = run(options + "--source " + (folder_ / "a").string() + " --target " +
                         file("c", "1\n").string());
  EXPECT_EQ(uneven.status, 1);
  EXPECT_NE(uneven.error.find("lines"), std::string::npos) << uneven.error;
}

TEST_F(Translate, MisuseIsAnError) {
  const Run half = run("--source a");
  test::expect_bad_usage(half.status, half.error, "--target");
  EXPECT_EQ(run("--translate 'a dog'").status, 2) << "by which run?";
  EXPECT_EQ(run("--tokens 258").status, 2);
  const Run wrong = run(small() + "--heads 3");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.error.find("3 heads do not divide dim"), std::string::npos) << wrong.error;
  const std::string other = file("other", "no run").string();
  EXPECT_EQ(run("--resume " + other + " --translate 'a dog'").status, 1);
  ASSERT_EQ(run(small("20")).status, 0);
  const Run wider =
      run("--pairs 100 --layers 1 --dim 64 --batch 16 --steps 40 --resume " + run_file().string());
  EXPECT_EQ(wider.status, 1);
  EXPECT_NE(wider.error.find("[596, 32], expected"), std::string::npos) << wider.error;
  EXPECT_NE(run(small("10") + "--resume " + run_file().string()).error.find("raise --steps"),
            std::string::npos);
}

// The first pairs of real ones; how far it gets in an hour is in the example's card.
TEST_F(Translate, ReadsPairsOfRealData) {
  const fs::path data = test::shared_data() / "multi30k";
  if (!fs::exists(data)) GTEST_SKIP() << "no real data at " << data;
  const auto at = [&](const char* name) { return (data / name).string() + " "; };
  const Run real = run("--source " + at("val.en.gz") + "--target " + at("val.de.gz") +
                       "--tokens 400 --layers 1 --dim 16 --steps 4 --every 4 --beams 0");
  ASSERT_EQ(real.status, 0) << real.error;
  EXPECT_NE(real.out.find("val.en.gz: 916 pairs, 48 for validation, 50 for the test; 400 tokens"),
            std::string::npos)
      << real.out;
  EXPECT_GT(figure(row_of(real, "word for word"), "BLEU"), 2);
}

}  // namespace
}  // namespace ladon::translate_test
