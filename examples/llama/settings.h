#pragma once
// Settings of a run.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string model;  ///< Folder to load; empty: models are trained, and one is loaded.
  // For generating text:
  std::string prompt = "const Tensor";
  bool ids = false;  ///< Prompt and output are token numbers.
  std::int64_t length = 100;
  double temperature = 0.8, top_p = 0.95;
  std::int64_t top_k = 50;
  std::int64_t again = 100;  ///< Tokens to generate again without the cache.
  // For training:
  std::string text;                                   ///< A text file; empty: Ladon's own sources.
  std::int64_t tokens = 512;                          ///< Vocabulary size of the tokenizer.
  std::vector<std::int64_t> kv_heads = {1, 2, 4, 8};  ///< Numbers of key heads; a model for each.
  std::int64_t heads = 8, layers = 2, dim = 128;
  std::int64_t context = 128, batch = 8;
  std::int64_t steps = 250, runs = 1;
  double rate = 3e-3;  ///< Highest learning rate.
};

}  // namespace ladon::example
