// Models in several safetensors files, with an index file.

#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/tests/core/io/safetensors_files.h"

namespace ladon::safetensors_shards_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::Metadata;
using test::TemporaryFolder;
using test::Tensors;
using test::write;

class Shards : public ::testing::Test {
 protected:
  Shards() {
    save_safetensors(folder / "one.safetensors", {{"a", ones({2})}, {"b", zeros({1}, bf16)}},
                     {{"format", "pt"}, {"part", "1"}});
    save_safetensors(folder / "two.safetensors", {{"c", scalar(3, i64)}}, {{"part", "2"}});
  }
  std::string index(const std::string& text,
                    const std::string& name = "model.safetensors.index.json") {
    return write(folder, text, name);
  }
  void refuse(const std::string& text, const std::string& fragment) {
    expect_error([&] { load_safetensors(index(text)); }, fragment);
  }
  const TemporaryFolder folder;
  const std::string map =
      R"({"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors"})";
};

TEST_F(Shards, AreReadAsOne) {
  const std::string text =
      R"({"metadata": {"total_size": 18, "x": [[1], {"y": null}]}, "weight_map": )";
  const std::string path = index(text + map + "}");
  for (const std::string& from : {path, std::string(folder / "")}) {
    Metadata metadata = {{"old", "x"}};
    const Tensors all = load_safetensors(from, &metadata);
    ASSERT_EQ(all.size(), 3u);
    expect_same(all.at("a"), ones({2}));
    expect_same(all.at("b"), zeros({1}, bf16));
    expect_same(all.at("c"), scalar(3, i64));
    EXPECT_EQ(metadata, test::as_saved({{"format", "pt"}, {"part", "1"}}));
  }
  const std::string other = index("{\"weight_map\": " + map + "}", "other.json");
  EXPECT_EQ(load_safetensors(other).size(), 3u);
}

TEST_F(Shards, AFolderWithoutAnIndexHasOneFile) {
  expect_error([&] { load_safetensors(folder / ""); }, "model.safetensors: cannot open");
  save_safetensors(folder / "model.safetensors", {{"d", scalar(1)}});
  EXPECT_EQ(load_safetensors(folder / "").count("d"), 1u);
}

TEST_F(Shards, HoldJustWhatTheIndexSays) {
  refuse(R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})",
         "one.safetensors: tensor 'b' is not listed for this file in ");
  refuse(R"({"weight_map": {"a": "one.safetensors"}})", "tensor 'b' is not listed for this file");
  refuse(R"({"weight_map": {"c": "two.safetensors", "d": "two.safetensors"}})",
         "tensor 'd' is said to be in two.safetensors, which does not have it");
  refuse(R"({"weight_map": {"c": "three.safetensors"}})", "three.safetensors: cannot open");
  EXPECT_TRUE(load_safetensors(index(R"({"weight_map": {}})")).empty());
}

TEST_F(Shards, LieBesideTheIndex) {
  for (const char* name :
       {"../one.safetensors", "/etc/passwd", "..", ".", "", "a/b", "a\\\\b", "one\\u0000"})
    refuse(std::string("{\"weight_map\": {\"a\": \"") + name + "\"}}",
           "the index must name files of its own folder, but has the tensor 'a' in '");
}

TEST_F(Shards, RefuseAnotherIndex) {
  const std::string form = "must be {\"weight_map\": {\"tensor\": \"file\", …}, …}";
  refuse("", "the index is not JSON");
  refuse("{} x", "the index is not JSON");
  refuse("{}", "the index has no 'weight_map'");
  refuse("[]", form);
  refuse("3", form);
  refuse(R"({"weight_map": 3})", form);
  refuse(R"({"weight_map": ["a"]})", form);
  refuse(R"({"weight_map": {"a": 3}})", form);
  refuse(R"({"weight_map": {"a": ["one.safetensors"]}})", form);
  refuse(R"({"weight_map": {"a": {}}})", form);
  refuse("{\"weight_map\": " + map + ", \"weight_map\": {}}", "has 'weight_map' twice");
  refuse(R"({"weight_map": {"c": "two.safetensors", "c": "two.safetensors"}})",
         "has the tensor 'c' twice");
  refuse("{\"x\": " + std::string(100'000, '['), "nests deeper than 16 levels");
}

}  // namespace
}  // namespace ladon::safetensors_shards_test
