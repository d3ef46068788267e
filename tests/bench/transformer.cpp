// Benchmark of a training step of an encoder block: batch 4, 1024 positions, 512 channels in 8
// heads.
//
// Operations are counted as the algorithm needs them: forward, backward by the weights and backward
// by the inputs of every matrix product, 3·2·(4 + 8)·D² a token, and attention's 7 products of
// 2·B·H·T²·d. Layer norm, activations, exponentials and the optimizer are not counted.

#include "ladon/layers/transformer/transformer.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/optim/adam.h"
#include "measure.h"

namespace {

using namespace ladon;

constexpr std::int64_t batch = 4, time = 1024, dim = 512, heads = 8;

void training_step(benchmark::State& state, int threads) {
  Generator rng(1);
  TransformerEncoderLayer block({.dim = dim, .heads = heads, .dropout = 0}, rng);
  Adam adam(block.parameters());
  const Tensor x = normal({batch, time, dim}, rng), y = normal({batch, time, dim}, rng);
  const double products = 72.0 * dim * dim * batch * time;
  const double attention = 14.0 * batch * time * time * dim;
  bench::measure(state, threads, products + attention, [&] {
    adam.zero_grad();
    backward(mse_loss(block(x), y));
    adam.step();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::for_threads("encoder block, training step", training_step, 6);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
