// Benchmark of decoding: a language model of GPT-2's architecture with 512 channels, 8 layers and 8
// heads generates text greedily after prompts of 32 tokens, and reads a prompt of 1,024 tokens;
// with its weights as they are, and with packed weights.
//
//   decode [threads]
//
// Prints medians of processor time divided by the number of threads; other programs disturb it less
// than wall-clock time. A step reads all weights once, and makes one multiply-add per weight and
// text. The printed share compares with the slower of the two at the peaks measured in this run:
// memory bandwidth and fused multiply-adds.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/packed_weights.h"
#include "ladon/core/random.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "machine.h"

namespace {

using namespace ladon;

constexpr std::int64_t dim = 512, layers = 8, written = 24;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// GB/s at which a sum reads 256 MB.
double reading_gbytes(int threads) {
  const Tensor x = ones({std::int64_t{1} << 26});
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) {
    const double start = processor_seconds();
    sum(x);
    seconds.push_back((processor_seconds() - start) / threads);
  }
  return 4e-9 * static_cast<double>(x.count()) / median(seconds);
}

struct Peaks {
  double gbytes, gflops;
};

void row(const char* form, std::int64_t vocabulary, std::int64_t batch, std::int64_t tokens,
         double bytes, double weights, double seconds, const Peaks& peaks) {
  const double operations = 2 * weights * static_cast<double>(batch * tokens);
  const double least = std::max(bytes / peaks.gbytes, operations / peaks.gflops) * 1e-9;
  std::printf("%-9s %10lld %6lld %7lld %9.2f %8.1f %8.1f %6.0f%%\n", form,
              static_cast<long long>(vocabulary), static_cast<long long>(batch),
              static_cast<long long>(tokens), 1e3 * seconds, 1e-9 * bytes / seconds,
              1e-9 * operations / seconds, 100 * least / seconds);
}

/// Seconds between tokens of the first text.
double step_seconds(const LanguageModel& model, const Tensor& prompt, int threads) {
  std::vector<double> steps;
  for (int round = 0; round < 3; ++round) {
    Generator rng(1);
    double last = 0;
    GenerateOptions options{.length = written, .temperature = 0};
    options.on_token = [&](std::int64_t text, std::int64_t) {
      const double now = processor_seconds();
      if (text == 0 && last > 0) steps.push_back((now - last) / threads);
      if (text == 0) last = now;
      return true;
    };
    generate(next_token(model), prompt, options, rng);
  }
  return median(steps);
}

double prompt_seconds(const LanguageModel& model, const Tensor& prompt, int threads) {
  std::vector<double> seconds;
  for (int round = 0; round < 3; ++round) {
    DecodingCache cache;
    const double start = processor_seconds();
    next_token(model)(prompt, cache, {});
    seconds.push_back((processor_seconds() - start) / threads);
  }
  return median(seconds);
}

void measure(std::int64_t vocabulary, int threads, const Peaks& peaks) {
  Generator rng(1);
  LanguageModel model(gpt2(vocabulary, layers, dim, 8, 1100), rng);
  model.eval();
  const double body = 12.0 * layers * dim * dim, logits = static_cast<double>(vocabulary * dim);
  const char* names[] = {"plain", "float32", "bfloat16", "int8"};
  for (int form = 0; form < 4; ++form) {
    std::optional<PackedWeights> packed;
    if (form > 0) packed.emplace(model.parameters(), static_cast<WeightForm>(form - 1));
    const auto bytes = [&] {
      return packed ? static_cast<double>(packed->bytes()) : 4 * (body + logits);
    };
    for (const std::int64_t batch : {1, 4, 16}) {
      const Tensor prompt = randint({batch, 32}, rng, 0, vocabulary);
      const double seconds = step_seconds(model, prompt, threads);
      row(names[form], vocabulary, batch, 1, bytes(), body + logits, seconds, peaks);
    }
    const Tensor prompt = randint({1, 1024}, rng, 0, vocabulary);
    row(names[form], vocabulary, 1, 1024, bytes(), body, prompt_seconds(model, prompt, threads),
        peaks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  set_num_threads(threads);
  const NoGrad no_grad;
  const Peaks peaks{reading_gbytes(threads), bench::peak_gflops(threads)};
  std::printf("threads: %d; reading: %.1f GB/s; %s: %.0f GFLOP/s\n", threads, peaks.gbytes,
              bench::vector_level(), peaks.gflops);
  std::printf("%-9s %10s %6s %7s %9s %8s %8s %7s\n", "weights", "vocabulary", "texts", "tokens",
              "ms", "GB/s", "GFLOP/s", "share");
  for (const std::int64_t vocabulary : {256, 50257}) measure(vocabulary, threads, peaks);
}
