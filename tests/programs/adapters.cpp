// A Llama model from a folder learns one sentence by low-rank adapters of only its queries and
// values (LoRA), as in the paper; then the adapters are merged, and the model is saved with the
// names of parameters in Llama files.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

int main() {
  Generator rng(1);
  LanguageModelOptions form = llama(/*vocabulary=*/64, 3, /*dim=*/64, 8, 4, /*hidden=*/172);
  form.init_std = 0.3;  // logits as far apart as trained ones are
  save_safetensors("base.safetensors", to_names(LanguageModel(form, rng)));

  LanguageModel model(form, rng);
  from_names(model, load_safetensors("base.safetensors"));
  model.freeze();
  const LowRankUpdate update(model.choose("*.query") | model.choose("*.value"),
                             {.rank = 4, .alpha = 4}, rng);
  const ParameterSet& adapters = update.adapters;

  const Tensor text = randint({1, 25}, rng, 0, 64), x = slice(text, 1, {.stop = 24}),
               y = slice(text, 1, {.start = 1});
  const auto loss = [&] { return cross_entropy(model(x), y); };
  AdamW adam(adapters, {.lr = 0.02, .weight_decay = 0});
  const double before = loss().item(), base = ParameterSet(model).norm();
  for (int step = 0; step < 150; ++step) {
    adam.zero_grad();
    backward(functional_call(model, update.set, update.values(), loss));
    adam.step();
  }
  for (const Tensor& w : model.parameters()) expect(!w.grad().defined(), "the base got a gradient");
  expect(ParameterSet(model).norm() == base, "the base moved");
  adapters.save("adapters.safetensors");

  const double apart = functional_call(model, update.set, update.values(), loss).item();
  update.merge();
  save_safetensors("merged.safetensors", to_names(model));
  LanguageModel again(form, rng);
  from_names(again, load_safetensors("merged.safetensors"));
  const double loaded = cross_entropy(again(x), y).item();
  std::cout << adapters.count() << " of " << model.parameter_count() << " trained, loss " << before
            << " -> " << apart << ", merged and loaded " << loaded << '\n';
  expect(apart < before / 3 && std::abs(loaded - apart) < 1e-5, "they did not learn, or merge");
}
