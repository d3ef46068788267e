// A pretrained model of another library: the program loads its folder and continues a text. (It
// first makes a small such folder.)
#include <filesystem>
#include <fstream>

#include "expect.h"
#include "ladon/ladon.h"

using namespace ladon;

void make_folder(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const auto tokenizer = BytePairTokenizer::train({"once upon a time, once upon a hill"});
  Generator rng(1);
  const LanguageModel model(llama(tokenizer.size(), 1, 16, 4, 2, 24), rng);
  save_safetensors(folder + "/model.safetensors", to_names(model));
  tokenizer.save(folder + "/tokenizer.json");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 1,
             "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24,
             "rms_norm_eps": 1e-5, "vocab_size": )"
      << tokenizer.size() << "}";
}

std::string continued(const std::string& folder, const std::string& text) {
  const LanguageModel model = load_language_model(folder);
  const auto tokenizer = BytePairTokenizer::load(folder + "/tokenizer.json");
  const auto tokens = tokenizer.encode(text);
  const Tensor prompt = from_vector(tokens, {1, std::ssize(tokens)});
  Generator rng(1);
  const auto texts = generate(next_token(model), prompt, {.length = 20, .top_p = 0.9}, rng);
  return tokenizer.decode(texts[0].tokens);
}

int main() {
  make_folder("pretrained");
  const std::string text = continued("pretrained", "once upon");
  expect_near("a text that differs", continued("pretrained", "once upon") == text, 1, 0);
  expect_error("config.json: cannot open", [] { continued("nowhere", "once"); });
}
