// German into English by an encoder–decoder Transformer, learned from 2,000 captions of Multi30k.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

struct Translator : Module {
  Embedding german, english;
  Transformer transformer;

  Translator(std::int64_t from, std::int64_t to, Generator& rng)
      : german({.count = from, .dim = 96, .stddev = 0.1}, rng),
        english({.count = to, .dim = 96, .stddev = 0.1}, rng),
        transformer({.layer = {.dim = 96,
                               .heads = 4,
                               .hidden = 192,
                               .attention = {.hook = RotaryPositions()}},
                     .encoder_layers = 2,
                     .decoder_layers = 2},
                    rng) {}
  Tensor logits(const Tensor& x) const { return linear(x, english.weight); }  // tied
  Tensor loss(const PairBatch& batch) const {
    const Tensor x = transformer(german(batch.source), english(batch.target_in), batch.source_mask);
    return cross_entropy(logits(x), batch.target_out, {.ignore_index = Vocabulary::pad});
  }
  std::vector<Generated> translate(const PaddedSequences& source, std::int64_t bos,
                                   std::int64_t eos, Generator& rng) const {
    const Tensor memory = transformer.encoder(german(source.tokens), source.mask);
    const NextToken next = [&](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
      return logits(transformer.decoder(english(tokens), cache, mask));
    };
    return generate(next, full({source.tokens.size(0), 1}, double(bos), i64),
                    {.length = 30, .temperature = 0, .stop = {eos}}, rng, {},
                    transformer.decoder.remember(memory, source.mask));
  }
  void visit(Visitor& v) override {
    v("german", german);
    v("english", english);
    v("transformer", transformer);
  }
  std::string describe() const override { return "Translator"; }
};

int main(int, char** argv) {
  ParallelText pairs = read_parallel(data_file(argv, "multi30k/train.de.gz"),
                                     data_file(argv, "multi30k/train.en.gz"));
  const std::vector<std::string> unseen(pairs.sources.begin() + 2000, pairs.sources.begin() + 2100),
      references(pairs.targets.begin() + 2000, pairs.targets.begin() + 2100);
  pairs.sources.resize(2000);
  pairs.targets.resize(2000);
  const Vocabulary de = Vocabulary::from_texts(pairs.sources, {.min_count = 2}),
                   en = Vocabulary::from_texts(pairs.targets, {.min_count = 2, .ends = true});
  const PairTokens ends{.bos = en.at(Vocabulary::bos), .eos = en.at(Vocabulary::eos)};

  Generator rng(1);
  Translator model(de.size(), en.size(), rng);
  auto train = pair_loader(encode_all(de, pairs.sources), encode_all(en, pairs.targets), ends,
                           {.batch_size = 32, .by_length = true}, rng);
  AdamW adam(decay_except(model), {.lr = 2e-3});
  adam.set_schedule(schedule::one_cycle({.steps = 6 * train.size()}));
  double mean = 0;  // of the losses of an epoch
  while (train.position().epoch < 6) {
    if (train.position().batch == 0) mean = 0;
    adam.zero_grad();
    const Tensor loss = model.loss(train.next());
    backward(loss);
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    mean += loss.item() / double(train.size());
  }

  model.eval();
  std::vector<std::string> written;
  const PaddedSequences sources = pad_sequences(encode_all(de, unseen));
  for (const Generated& text : model.translate(sources, ends.bos, ends.eos, rng))
    written.push_back(en.decode(text.tokens));
  const double bleu = metrics::bleu(written, references).score;
  std::cout << "loss " << mean << " (before: 3.32), BLEU on unseen captions " << bleu << '\n'
            << "  " << unseen[0] << "\n  " << written[0] << '\n';
  expect(mean < 3.32, "it learned too little");
  expect(bleu > 2, "it does not translate");
}
