// Benchmark of attention: batch 4, 1024 positions, 512 channels in 8 heads.
//
// Operations are counted as the algorithm needs them: two products of 2·B·H·Tq·Tk·d forward, five
// backward (2.5 times), half of all that for causal attention; exponentials are not counted.

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "measure.h"

namespace {

using namespace ladon;

constexpr std::int64_t batch = 4, time = 1024, heads = 8, width = 64;

/// [batch, heads, time, width], contiguous, or the heads of [batch, time, heads·width].
Tensor draw(std::uint64_t seed, bool split_channels) {
  Generator rng(seed);
  if (!split_channels) return normal({batch, heads, time, width}, rng);
  return permute(normal({batch, time, heads, width}, rng), {0, 2, 1, 3});
}

void attention(benchmark::State& state, int threads, bool causal, bool with_backward,
               bool split_channels) {
  const Tensor c = draw(4, split_channels);
  Tensor q = draw(1, split_channels), k = draw(2, split_channels), v = draw(3, split_channels);
  const double forward = 4.0 * batch * heads * time * time * width / (causal ? 2 : 1);
  if (!with_backward)
    return bench::measure(state, threads, forward,
                          [&] { scaled_dot_product_attention(q, k, v, {.causal = causal}); });
  for (Tensor* x : {&q, &k, &v}) x->set_requires_grad();
  bench::measure(state, threads, 3.5 * forward, [&] {
    grad({scaled_dot_product_attention(q, k, v, {.causal = causal})}, {q, k, v},
         {.cotangents = {c}});
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const bool split_channels : {false, true})
    for (const bool with_backward : {false, true})
      for (const bool causal : {false, true})
        ladon::bench::for_threads(
            std::string(with_backward ? "forward+backward" : "forward") +
                (causal ? "/causal" : "/full") + (split_channels ? "/split channels" : ""),
            [=](benchmark::State& state, int threads) {
              attention(state, threads, causal, with_backward, split_channels);
            });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
