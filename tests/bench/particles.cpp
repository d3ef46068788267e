// One step of SVGD over heads: 8, 16 and 64 of them, of 32,768 numbers for each of q, k and v.
//
// Operations are counted as the algorithm needs them: for each of q, k and v the distances between
// M particles, 3·M²·D/2, and K·G and the repulsion, 2·M²·D and 3·M²·D.

#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"
#include "measure.h"

namespace {

using namespace ladon;

constexpr std::int64_t dim = 32768;

void svgd_step(benchmark::State& state, int threads, std::int64_t heads) {
  Generator rng(1);
  std::vector<Tensor> parts;
  std::vector<ParticleBlock> blocks;
  for (const char* name : {"query", "key", "value"}) {
    parts.push_back(parameter(normal({heads, dim}, rng)));
    blocks.push_back(ParticleBlock::stacked(name, {parts.back()}));
  }
  Svgd svgd{Particles(std::move(blocks))};
  const Tensor gradient = normal({heads, dim}, rng);
  bench::measure(
      state, threads, 3 * 6.5 * double(heads * heads * dim),
      [&] {
        for (Tensor& part : parts) part.set_grad(clone(gradient));
      },
      [&] { svgd.apply(); });
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::int64_t heads : {8, 16, 64})
    bench::for_threads(
        "SVGD step, " + std::to_string(heads) + " heads of 3 x 32768",
        [=](benchmark::State& state, int threads) { svgd_step(state, threads, heads); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
