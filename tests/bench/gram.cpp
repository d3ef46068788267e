// Benchmark of Gram matrices of infinite networks: of 4,000 vectors and three ReLU layers; and of
// 64 sequences of 64 tokens and attention, including the T × T blocks of kernels between tokens.
//
// Counted are the operations of the matrix products that the result needs, for a symmetric matrix
// of the pairs on and above the diagonal. Not counted are other computations of a tile (its
// self-covariances, one half of a diagonal tile), dual activations and affine maps. %dgemm is the
// speed as a percentage of that of dgemm on as many threads. Dual activations have their own rows.

#include "ladon/layers/infinite/gram/gram.h"

#include <functional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "measure.h"
#include "networks.h"

namespace {

using namespace ladon;
using infinite::Inputs;

constexpr std::int64_t vectors = 4000, pixels = 784;
constexpr std::int64_t sequences = 64, tokens = 64, channels = 64;

double pairs(std::int64_t n, bool symmetric) {
  const auto count = static_cast<double>(n);
  return symmetric ? count * (count + 1) / 2 : count * count;
}

/// x·x'ᵀ of every pair.
double dense_flops(bool symmetric) { return 2.0 * pixels * pairs(vectors, symmetric); }
/// Of every pair x·x'ᵀ of all tokens, and A·k·A'ᵀ for NNGP and NTK.
double attention_flops(bool symmetric) {
  return 2.0 * tokens * tokens * (channels + 4.0 * tokens) * pairs(sequences, symmetric);
}

void measure(benchmark::State& state, int threads, double flops,
             const std::function<void()>& work) {
  const std::vector<double> seconds = bench::times(
      state, threads, [] {}, work);
  const double percent = 100 * flops * 1e-9 / bench::dgemm_gflops(threads);
  state.counters["GFLOP"] = flops * 1e-9;
  state.counters["%dgemm"] = percent / seconds[seconds.size() / 2];
  state.counters["%dgemm_best"] = percent / seconds.front();
}

/// Tiled and symmetric, tiled and not, and by operations on whole matrices: what tiles gain.
void register_model(const std::string& name, const Layer& model, const Inputs& x,
                    double (*flops)(bool symmetric)) {
  bench::for_threads(name + "/symmetric", [&, flops](benchmark::State& state, int threads) {
    measure(state, threads, flops(true), [&] { gram(infinite::limit(model), x); });
  });
  bench::for_threads(name + "/two blocks", [&, flops](benchmark::State& state, int threads) {
    measure(state, threads, flops(false), [&] { gram(infinite::limit(model), x, x); });
  });
  bench::for_threads(name + "/whole matrices", [&, flops](benchmark::State& state, int threads) {
    measure(state, threads, flops(true), [&] {
      const NoGrad off;
      infinite::limit(model)(x);
    });
  });
}

/// A dual activation, NNGP and NTK, of a tile's pairs.
void register_dual(Nonlinearity f) {
  bench::for_threads(
      "dual/" + std::string(to_string(f)), [f](benchmark::State& state, int threads) {
        Generator rng(1);
        infinite::Kernel k = infinite::input_kernel(normal({256, 32}, rng, 0, 1, f64));
        k.law = infinite::Law::random_linear();
        const Activation layer(f);
        const NoGrad off;
        const auto seconds = bench::times(
            state, threads, [] {}, [&] { infinite::limit(layer)(k); });
        const double count = static_cast<double>(k.nngp.count());
        state.counters["ns each"] = seconds[seconds.size() / 2] / count * 1e9;
        state.counters["ns each_best"] = seconds.front() / count * 1e9;
      });
}

}  // namespace

int main(int argc, char** argv) {
  Generator rng(2);
  const Sequential net = bench::relu_net(pixels);
  const MultiHeadAttention softmax_layer = bench::attention_layer(channels, Weighting::softmax);
  const MultiHeadAttention identity_layer = bench::attention_layer(channels, Weighting::identity);
  const Inputs x = normal({vectors, pixels}, rng, 0, 1, f64);
  const Inputs sentences = normal({sequences, tokens, channels}, rng, 0, 1, f64);
  register_model("dense 4000", net, x, dense_flops);
  register_model("attention 64 × 64/softmax", softmax_layer, sentences, attention_flops);
  register_model("attention 64 × 64/identity", identity_layer, sentences, attention_flops);
  for (const auto f : {Nonlinearity::relu, Nonlinearity::gelu, Nonlinearity::tanh})
    register_dual(f);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
