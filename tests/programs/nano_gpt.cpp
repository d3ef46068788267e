// A GPT that writes Shakespeare letter by letter: trained, saved, loaded, and read with and without
// its cache.

#include <cmath>
#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

int main(int, char** argv) {
  const std::string text = read_text(data_file(argv, "tinyshakespeare/input.txt"));
  const CharacterVocabulary characters(text);
  const TokenSequence all = characters.encode(text);
  const auto unseen = all.begin() + static_cast<std::ptrdiff_t>(all.size() * 9 / 10);

  Generator rng(1);
  constexpr std::int64_t context = 64;
  LanguageModelOptions options =
      gpt2(characters.size(), /*layers=*/2, /*dim=*/96, /*heads=*/4, context);
  options.layer.dropout = 0;
  LanguageModel model(options, rng);
  AdamW adam(decay_except(model), {.lr = 4e-3, .weight_decay = 0.1});
  adam.set_schedule(schedule::cosine({.steps = 600, .warmup = 50, .floor = 0.1}));
  auto train = window_loader({all.begin(), unseen}, context, context, {.batch_size = 16}, rng);
  while (adam.steps() < 600) {
    const WindowBatch batch = train.next();
    adam.zero_grad();
    backward(cross_entropy(model(batch.inputs), batch.targets));
    clip_grad_norm(model.parameters(), 1);
    adam.step();
  }

  model.eval();
  const NoGrad no_grad;
  // 26 batches of as many windows: the mean over batches is that over characters.
  auto test = window_loader({unseen, all.end()}, context, context,
                            {.batch_size = 67, .shuffle = false}, rng);
  double nats = 0, in_bytes = 0;
  while (test.position().epoch == 0) {
    const WindowBatch batch = test.next();
    const auto loss = [&] {
      return cross_entropy(model(batch.inputs), batch.targets).item() / double(test.size());
    };
    nats += loss();
    const PackedWeights packed(model.parameters(), WeightForm::int8);
    in_bytes += loss();
  }
  std::cout << "perplexity by 8-bit weights: " << std::exp(in_bytes - nats) << " of itself\n";
  expect(std::abs(in_bytes - nats) < 1e-3, "8-bit weights move its perplexity by more than .1%");
  std::cout << "unseen text: " << nats
            << " nats a character (before: 2.138; by counted pairs: 2.484)\n";

  model.save("nano_gpt.safetensors");
  LanguageModel loaded(options, rng);
  loaded.load("nano_gpt.safetensors");
  loaded.eval();
  const Tensor prompt = from_vector(characters.encode("ROMEO:"), {1, 6});
  Generator one(2), two(2);  // of one seed: both texts are drawn alike
  const auto cached =
      generate(next_token(loaded), prompt, {.length = context - 6, .temperature = 0.8}, one);
  const auto whole = generate(next_token(model), prompt,
                              {.length = context - 6, .temperature = 0.8, .cached = false}, two);
  std::cout << "ROMEO:" << characters.decode(cached[0].tokens) << '\n';
  expect(cached[0].tokens == whole[0].tokens, "loaded and cached it writes another text");
  expect(nats < 2.138, "it learned less than the first of its kind");
}
