// A Llama model in the file format of Hugging Face: eight query heads that share four key heads,
// rotary positions, RMSNorm, SwiGLU. Its weights are random, since there is no small model with a
// free licence.

#include <cmath>
#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// A checkpoint with Hugging Face's names of parameters, in bf16.
void write_checkpoint(const std::string& path) {
  Generator rng(1);
  const auto drawn = [&](const Shape& shape) {
    return cast(normal(shape, rng, 0, 2 / std::sqrt(double(shape[1]))), bf16);
  };
  StateDict state = {{"model.embed_tokens.weight", drawn({96, 64})},
                     {"model.norm.weight", ones({64}, bf16)},
                     {"lm_head.weight", drawn({96, 64})}};
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      state[layer + norm + ".weight"] = ones({64}, bf16);
    for (const char* wide : {"self_attn.q_proj", "self_attn.o_proj"})
      state[layer + wide + ".weight"] = drawn({64, 64});
    for (const char* shared : {"self_attn.k_proj", "self_attn.v_proj"})
      state[layer + shared + ".weight"] = drawn({32, 64});
    for (const char* up : {"mlp.gate_proj", "mlp.up_proj"})
      state[layer + up + ".weight"] = drawn({172, 64});
    state[layer + "mlp.down_proj.weight"] = drawn({64, 172});
  }
  save_safetensors(path, state);
}

int main() {
  write_checkpoint("llama.safetensors");
  Generator rng(2);
  LanguageModel model(
      llama(96, /*layers=*/2, /*dim=*/64, /*heads=*/8, /*kv_heads=*/4, /*hidden=*/172), rng);
  from_names(model, load_safetensors("llama.safetensors"));
  model.eval();

  const Tensor prompts = randint({5, 8}, rng, 0, 96);
  const GenerateOptions greedy{.length = 52, .temperature = 0};
  int equal_tokens = 0;
  double nats = 0;
  const std::vector<Generated> texts = generate(next_token(model), prompts, greedy, rng);
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::vector<std::int64_t>& text = texts[std::size_t(i)].tokens;
    nats -= texts[std::size_t(i)].log_probability / 260;
    // In one pass over all of it the model says the same at each place.
    const Tensor all = concat({at(prompts, {Slice{i, i + 1}}), from_vector(text, {1, 52})}, 1);
    const Tensor said = argmax(at(model(all), {0, Slice{7, 59}}), -1);
    equal_tokens += int(sum(cast(equal(said, from_vector(text, {52})), i64)).item());
  }
  std::cout << equal_tokens << " of 260 greedy tokens, " << nats << " nats each\n";
  expect(equal_tokens == 260, "the cache says otherwise than one pass");
}
