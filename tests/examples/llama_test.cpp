// The example llama as a user runs it: models whose heads share keys, a folder that is written and
// loaded, and folders of other origin that it refuses.

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ladon/tests/examples/program.h"

namespace ladon::llama_test {
namespace {

class Llama : public test::Program {
 protected:
  Llama() : Program("llama") {
    // abcab… with an x at each fifth place, in words
    std::ofstream file(folder_ / "text.txt");
    for (int i = 0; i < 4000; ++i) file << (i % 5 == 4 ? " x" : std::string(1, "abc"[i % 3]));
  }
  std::string small(const std::string& kv_heads = "1,2,4", const std::string& more = "",
                    const std::string& form = "--heads 4 --dim 16 --steps 30") const {
    return " --text " + (folder_ / "text.txt").string() + " --kv-heads " + kv_heads +
           " --layers 2 --tokens 260 --context 24 --batch 4 --rate 0.01 --prompt 'ab x' --length "
           "12 --seed 2 " +
           form + " " + more + " ";
  }
  std::string folder() const { return (pictures() / "model").string(); }
  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
};

TEST_F(Llama, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("share one head"), std::string::npos);
}

// Keys and values of 4 channels and 4 bytes each, in 2 layers: 64 bytes per key head.
TEST_F(Llama, TellsWhatSharedKeysCostAndSave) {
  const Run learned = run(small("1,2,4", "--runs 2"));
  ASSERT_EQ(learned.status, 0) << learned.error;
  const auto& rows = learned.report.at("rows");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_EQ(figure(row, "cache_bytes"), 64 * std::stod(row.at("method").get<std::string>()));
    EXPECT_LT(figure(row, "validation"), 2.5) << "it learned nothing of 260 tokens";
    EXPECT_GT(row.at("validation").at("se").get<double>(), 0);
  }
  EXPECT_EQ(figure(rows[2], "weights") - figure(rows[1], "weights"), 2 * 2 * 2 * 4 * 16);
}

TEST_F(Llama, WhatItLoadsIsWhatItTrained) {
  const Run trained = run(small());
  ASSERT_EQ(trained.status, 0) << trained.error;
  EXPECT_NE(trained.out.find("of the model that was trained: 0\n"), std::string::npos)
      << trained.out;
  EXPECT_TRUE(trained.report.at("same_without_cache").get<bool>());
  const auto config = nlohmann::json::parse(test::contents(folder() + "/config.json"));
  EXPECT_EQ(config.at("num_key_value_heads"), 2) << "the middle one";
  // The folder alone says the same.
  const std::string kept = (folder_ / "kept").string();
  std::filesystem::rename(folder(), kept);
  const std::string load = "--prompt 'ab x' --length 12 --seed 2 --model " + kept;
  const Run loaded = run(load);
  ASSERT_EQ(loaded.status, 0) << loaded.error;
  EXPECT_EQ(loaded.report.at("written"), trained.report.at("written"));
  EXPECT_TRUE(loaded.report.at("rows").empty());
  const Run again = run(load + " --threads 1");
  EXPECT_EQ(again.report.at("written"), loaded.report.at("written"));
  // Numbers in place of texts: a is token 64 of GPT-2's order.
  const Run ids = run("--ids --prompt '64 65' --length 3 --model " + kept);
  EXPECT_EQ(ids.status, 0) << ids.error;
  EXPECT_NE(ids.out.find("It writes:\n64 65 "), std::string::npos) << ids.out;
}

TEST_F(Llama, MisuseIsAnError) {
  const auto refuse = [&](const std::string& arguments, const char* fragment) {
    const Run wrong = run(arguments);
    EXPECT_EQ(wrong.status, 1) << arguments;
    EXPECT_NE(wrong.error.find(fragment), std::string::npos) << wrong.error;
  };
  refuse(small("3"), "heads");
  refuse("--model " + (folder_ / "nowhere").string(), "config.json: cannot open");
  const Run made = run(small("1", "", "--heads 4 --dim 16 --steps 1"));
  ASSERT_EQ(made.status, 0) << made.error;
  const std::string load = "--model " + folder() + " ";
  refuse(load + "--prompt a --length 24", "the model's context of 24");
  refuse(load + "--ids --prompt a --length 2", "a list of token numbers, but is 'a'");
  std::filesystem::remove(folder() + "/tokenizer.json");
  refuse(load + "--prompt a --length 2", "but has none; with --ids");
  std::ofstream(folder() + "/config.json") << R"({"model_type": "mamba"})";
  refuse(load, "model_type is 'mamba'");
  EXPECT_EQ(run("--kv-heads 2,2").status, 2);
  EXPECT_EQ(run("--top-p 2").status, 2);
}

TEST_F(Llama, AnInterruptLeavesWhatIsFinished) {
  const Run cut =
      interrupted(small("1,2,4,8,16,32", "", "--heads 32 --dim 64 --steps 600"), SIGINT);
  EXPECT_EQ(cut.status, 130) << cut.error;
  EXPECT_TRUE(cut.report.at("interrupted").get<bool>());
  EXPECT_GE(cut.report.at("rows").size(), 1u);
  EXPECT_LE(cut.report.at("rows").size(), 5u);
}

}  // namespace
}  // namespace ladon::llama_test
