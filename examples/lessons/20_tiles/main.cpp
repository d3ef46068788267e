// Lesson 20, an appendix: tiles and the online softmax.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Attention in one pass over tiles of keys, without its map";
constexpr const char* duration = "1 s";
constexpr const char* lesson =
    "A softmax divides by a sum over all keys. With a running maximum and a running sum one pass "
    "over tiles of keys is enough, and its answer is exact for the keys seen so far.";
const std::vector<Trial> trials = {{"20_tiles --seed 2", "difference: rounding, and no more"}};

constexpr std::int64_t tokens = 2048, width = 32, tile = 128;
using Answers = std::vector<std::vector<double>>;  // rows: number of keys seen, one context element

Tensor naive(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor a = matmul(q, transpose(k)) / std::sqrt(width);  // [1, T, T]
  const Tensor e = exp(a - amax(a, -1, keep_dims));
  return matmul(e / sum(e, -1, keep_dims), v);
}

Tensor online(const Tensor& q, const Tensor& k, const Tensor& v, Answers& answers) {
  Tensor most = full({1, tokens, 1}, -HUGE_VAL), total = zeros_like(most), c = zeros_like(q);
  for (std::int64_t begin = 0; begin < tokens; begin += tile) {
    const Slice seen{begin, begin + tile};
    const Tensor a = matmul(q, transpose(slice(k, 1, seen))) / std::sqrt(width);  // [1, T, tile]
    const Tensor before = std::exchange(most, maximum(most, amax(a, -1, keep_dims)));
    const Tensor e = exp(a - most), shrink = exp(before - most);
    total = shrink * total + sum(e, -1, keep_dims);
    c = shrink * c + matmul(e, slice(v, 1, seen));
    answers.push_back({static_cast<double>(begin + tile), at(c / total, {0, 0, 0}).item()});
  }
  return c / total;
}

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const auto draw = [&] { return normal({1, tokens, width}, rng); };
  const Tensor q = draw(), k = draw(), v = draw(), right = naive(q, k, v);
  Table table("version", {{.name = "kept", .meaning = "weights kept at a time", .whole = true},
                          {.name = "difference", .meaning = "largest, to naive", .tiny = true}});
  const auto add = [&](const char* name, double kept, const Tensor& output) {
    table.add({name, {{kept}, {amax(abs(output - right)).item()}}});
  };
  Answers answers, exact;
  add("naive", tokens * tokens, right);
  add("online", tokens * tile, online(q, k, v, answers));
  add("library", 64 * 64, scaled_dot_product_attention(q, k, v));
  print("Three versions of attention of 2048 queries to 2048 keys", table);
  program.write({.tables = {{"versions", table}}});
  for (const auto& answer : answers) {
    const Slice seen{0, static_cast<std::int64_t>(answer[0])};
    const Tensor c = scaled_dot_product_attention(q, slice(k, 1, seen), slice(v, 1, seen));
    exact.push_back({answer[0], at(c, {0, 0, 0}).item()});
  }
  Picture picture(options.out, "20_tiles");
  picture.panel(slide, "",
                join("set xlabel 'keys seen'\nset ylabel 'entry of the output'\nplot ",
                     curve(picture.data("online", answers), "1:2", kind(0), "after each tile"),
                     ", ", picture.data("exact", exact), " with points ", kind(1).points(1.2),
                     " title 'softmax over these keys alone'"));
  picture.draw_slide("After every tile the answer is exact for the keys seen so far",
                     "one query, tiles of 128 keys");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "20_tiles", {summary, duration, lesson, trials}, study);
}
