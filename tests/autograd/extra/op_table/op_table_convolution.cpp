// Rows of autograd/ops/convolution.h.

#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/tests/autograd/op_table/op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;

/// Windows in plain numbers, one per axis.
struct Plain {
  Shape size, stride, before, dilation, counts;

  std::int64_t place(int a, std::int64_t i, std::int64_t tap) const {
    return i * stride[a] - before[a] + tap * dilation[a];
  }
};

Shape joined(std::int64_t n, const Shape& middle, std::int64_t last) {
  Shape shape = middle;
  shape.insert(0, n);
  shape.append(last);
  return shape;
}

/// Calls see(window, tap, position) for what the windows see inside `positions`.
void each_seen(
    const Plain& w, const Shape& positions,
    const std::function<void(const Shape& window, const Shape& tap, const Shape& at)>& see) {
  for_each_index(w.counts, [&](const Shape& window) {
    for_each_index(w.size, [&](const Shape& tap) {
      Shape at = tap;
      bool inside = true;
      for (int a = 0; a < at.rank(); ++a) {
        at[a] = w.place(a, window[a], tap[a]);
        inside = inside && at[a] >= 0 && at[a] < positions[a];
      }
      if (inside) see(window, tap, at);
    });
  });
}

std::int64_t last(const Dense& x) { return x.shape[x.shape.rank() - 1]; }

/// Terms y[n, window, o] += x[n, at, c]·w[o, tap, c mod C/groups] of the form ⟨g, x ∗ w⟩.
void each_term(const Plain& w, std::int64_t groups, const Shape& x, const Shape& weight,
               const std::function<void(const Shape& xi, const Shape& wi, const Shape& yi)>& term) {
  const std::int64_t out = weight[0], in = weight[weight.rank() - 1];
  each_seen(w, x.sub(1, x.rank() - 1), [&](const Shape& window, const Shape& tap, const Shape& at) {
    for (std::int64_t n = 0; n < x[0]; ++n)
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t c = 0; c < in; ++c)
          term(joined(n, at, o / (out / groups) * in + c), joined(o, tap, c), joined(n, window, o));
  });
}

Reference convolved(const Plain& w, std::int64_t groups = 1) {
  return [=](const std::vector<Dense>& in) {
    Dense y(joined(in[0].shape[0], w.counts, in[1].shape[0]));
    each_term(
        w, groups, in[0].shape, in[1].shape,
        [&](const Shape& xi, const Shape& wi, const Shape& yi) { y(yi) += in[0](xi) * in[1](wi); });
    if (in.size() > 2)
      for (std::size_t i = 0; i < y.values.size(); ++i)
        y.values[i] += in[2].values[i % in[2].values.size()];
    return y;
  };
}

/// The adjoint: x here has the shape of a convolution's output.
Reference transposed(const Plain& w, const Shape& positions, std::int64_t groups = 1) {
  return [=](const std::vector<Dense>& in) {
    Dense y(joined(in[0].shape[0], positions, last(in[1]) * groups));
    each_term(
        w, groups, y.shape, in[1].shape,
        [&](const Shape& yi, const Shape& wi, const Shape& xi) { y(yi) += in[0](xi) * in[1](wi); });
    if (in.size() > 2)
      for (std::size_t i = 0; i < y.values.size(); ++i)
        y.values[i] += in[2].values[i % in[2].values.size()];
    return y;
  };
}

/// Places of x[n, at, c] in patches: calls same(patches index, x index).
void each_copy(const Plain& w, const Shape& x,
               const std::function<void(const Shape& patch, const Shape& at)>& same) {
  const std::int64_t channels = x[x.rank() - 1];
  each_seen(w, x.sub(1, x.rank() - 1), [&](const Shape& window, const Shape& tap, const Shape& at) {
    std::int64_t row = 0;
    for (int a = 0; a < tap.rank(); ++a) row = row * w.size[a] + tap[a];
    for (std::int64_t n = 0; n < x[0]; ++n)
      for (std::int64_t c = 0; c < channels; ++c)
        same(joined(n, window, row * channels + c), joined(n, at, c));
  });
}

Reference unfolded(const Plain& w) {
  return [=](const std::vector<Dense>& in) {
    Dense y(joined(in[0].shape[0], w.counts, w.size.count() * last(in[0])));
    each_copy(w, in[0].shape, [&](const Shape& patch, const Shape& at) { y(patch) = in[0](at); });
    return y;
  };
}

Reference folded(const Plain& w, const Shape& positions) {
  return [=](const std::vector<Dense>& in) {
    Dense y(joined(in[0].shape[0], positions, last(in[0]) / w.size.count()));
    each_copy(w, y.shape, [&](const Shape& patch, const Shape& at) { y(at) += in[0](patch); });
    return y;
  };
}

OpSample convolution_sample(const std::string& note, Inputs inputs, const ConvolutionOptions& o,
                            const Plain& w) {
  return {.note = note,
          .inputs = std::move(inputs),
          .apply =
              [o](const Inputs& in) {
                return convolution(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), o);
              },
          .reference = convolved(w, o.groups)};
}

void add_convolution(OpTable& t) {
  const auto sample = convolution_sample;
  t.add(
      {.name = "convolution",
       .samples =
           {sample("one axis, bias", {t.random({2, 5, 3}), t.random({4, 2, 3}), t.random({4})}, {},
                   {{2}, {1}, {0}, {1}, {4}}),
            // rows (4 + 2 + 0 − 3)/2 + 1 = 2, columns 5 + 1 + 2 − 2·1 − 1 + 1 = 6
            sample("two axes, uneven padding, stride and dilation",
                   {t.random({2, 4, 5, 2}), t.random({3, 3, 2, 2})},
                   {.stride = {2, 1}, .before = {2, 1}, .after = {0, 2}, .dilation = {1, 2}},
                   {{3, 2}, {2, 1}, {2, 1}, {1, 2}, {2, 6}}),
            sample("groups, bias", {t.random({2, 5, 4}), t.random({6, 3, 2}), t.random({6})},
                   {.before = {1}, .groups = 2}, {{3}, {1}, {1}, {1}, {5}}),
            sample("each channel alone", {t.random({1, 3, 3, 3}), t.random({3, 2, 2, 1})},
                   {.groups = 3}, {{2, 2}, {1, 1}, {0, 0}, {1, 1}, {2, 2}}),
            sample("one tap", {t.random({2, 3, 2, 3}), t.random({4, 1, 1, 3}), t.random({4})},
                   {}, {{1, 1}, {1, 1}, {0, 0}, {1, 1}, {3, 2}}),
            sample("one tap, groups", {t.random({2, 3, 4}), t.random({2, 1, 2})}, {.groups = 2},
                   {{1}, {1}, {0}, {1}, {3}}),
            sample("three axes", {t.random({1, 2, 3, 2, 1}), t.random({2, 2, 2, 2, 1})},
                   {.before = {0, 1, 0}}, {{2, 2, 2}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}, {1, 4, 1}}),
            sample("windows that see nothing, between positions and before them",
                   {t.random({1, 1, 2}), t.random({2, 2, 2})}, {.before = {5}, .dilation = {2}},
                   {{2}, {1}, {5}, {2}, {9}})},
       .empty = {sample("no images", {t.random({0, 5, 3}), t.random({4, 2, 3}), t.random({4})}, {},
                        {{2}, {1}, {0}, {1}, {4}}),
                 sample("no outputs", {t.random({2, 5, 3}), t.random({0, 2, 3})}, {},
                        {{2}, {1}, {0}, {1}, {4}}),
                 sample("no positions", {t.random({2, 0, 3}), t.random({4, 2, 3})}, {.before = {1}},
                        {{2}, {1}, {1}, {1}, {1}})},
       .errors = {
           {"[out, window.., channels]", [] { convolution(ones({2, 5}), ones({3, 2})); }},
           {"with 1 axes of positions", [] { convolution(ones({2, 5, 5, 3}), ones({4, 2, 3})); }},
           {"the input has 2 channels", [] { convolution(ones({2, 5, 2}), ones({4, 2, 3})); }},
           {"the bias has shape [3], not [4]",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 3}), ones({3})); }},
           {"a window of 6 does not fit on 5 positions",
            [] { convolution(ones({2, 5, 3}), ones({4, 6, 3})); }},
           {"groups = 3 must be positive and divide 4",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 1}), {}, {.groups = 3}); }},
           {"groups = 0 must be positive",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 1}), {}, {.groups = 0}); }},
           {"stride [1, 1] has 2 numbers",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 3}), {}, {.stride = {1, 1}}); }},
           {"dilation [0] must have numbers from 1",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 3}), {}, {.dilation = {0}}); }},
           {"before [-1]",
            [] { convolution(ones({2, 5, 3}), ones({4, 2, 3}), {}, {.before = {-1}}); }},
           {"must not be empty", [] { convolution(ones({2, 5, 0}), ones({4, 2, 0})); }},
           {"i64", [] {
              convolution(ones({2, 5, 3}, i64), ones({4, 2, 3}, i64));
            }}}});
}

OpSample transposed_sample(const std::string& note, Inputs inputs,
                           const TransposedConvolutionOptions& o, const Plain& w,
                           const Shape& positions) {
  return {.note = note,
          .inputs = std::move(inputs),
          .apply =
              [o](const Inputs& in) {
                return transposed_convolution(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), o);
              },
          .reference = transposed(w, positions, o.groups)};
}

void add_transposed(OpTable& t) {
  const auto sample = transposed_sample;
  t.add({.name = "transposed_convolution",
         .samples =
             {sample("one axis, bias", {t.random({2, 4, 3}), t.random({3, 2, 2}), t.random({2})},
                     {}, {{2}, {1}, {0}, {1}, {4}}, {5}),
              // rows (3 − 1)·2 − 1 − 1 + 3 + 1 = 6, columns (2 − 1)·1 − 1 − 0 + 2·1 + 1 = 3
              sample("two axes", {t.random({2, 3, 2, 2}), t.random({2, 3, 2, 3})},
                     {.stride = {2, 1},
                      .before = {1, 1},
                      .after = {1, 0},
                      .dilation = {1, 2},
                      .output_padding = {1, 0}},
                     {{3, 2}, {2, 1}, {1, 1}, {1, 2}, {3, 2}}, {6, 3}),
              sample("groups", {t.random({2, 3, 4}), t.random({4, 2, 3}), t.random({6})},
                     {.stride = {3}, .groups = 2}, {{2}, {3}, {0}, {1}, {3}}, {8})},
         .empty = {sample("no images", {t.random({0, 4, 3}), t.random({3, 2, 2})}, {},
                          {{2}, {1}, {0}, {1}, {4}}, {5}),
                   sample("nothing remains", {t.random({1, 1, 3}), t.random({3, 2, 2})},
                          {.before = {1}}, {{2}, {1}, {1}, {1}, {1}}, {0})},
         .errors = {
             {"the input has 2 channels",
              [] { transposed_convolution(ones({2, 5, 2}), ones({3, 2, 4})); }},
             {"the bias has shape [3], not [4]",
              [] { transposed_convolution(ones({2, 5, 3}), ones({3, 2, 4}), ones({3})); }},
             {"output_padding [2] must be smaller",
              [] {
                transposed_convolution(ones({2, 5, 3}), ones({3, 2, 4}), {},
                                       {.stride = {2}, .output_padding = {2}});
              }},
             {"would have size -1",
              [] {
                transposed_convolution(ones({2, 1, 3}), ones({3, 1, 4}), {}, {.before = {1}});
              }},
             {"groups = 2 must be positive and divide 3", [] {
                transposed_convolution(ones({2, 5, 3}), ones({3, 2, 4}), {}, {.groups = 2});
              }}}});
}

void add_patches(OpTable& t) {
  const WindowOptions strided{
      .stride = {2, 1}, .before = {1, 0}, .after = {0, 2}, .dilation = {1, 2}};
  const Plain plain{{2, 2}, {2, 1}, {1, 0}, {1, 2}, {3, 5}};  // (5 + 1 − 2)/2 + 1, 5 + 2 − 3 + 1
  t.add({.name = "unfold",
         .samples = {{.note = "one axis",
                      .inputs = {t.random({2, 5, 2})},
                      .apply = [](const Inputs& in) { return unfold(in[0], {3}); },
                      .reference = unfolded({{3}, {1}, {0}, {1}, {3}})},
                     {.note = "two axes",
                      .inputs = {t.random({2, 5, 5, 2})},
                      .apply =
                          [=](const Inputs& in) {
                            return unfold(in[0], {2, 2}, strided);
                          },
                      .reference = unfolded(plain)}},
         .empty = {{.note = "no channels",
                    .inputs = {t.random({2, 5, 0})},
                    .apply = [](const Inputs& in) { return unfold(in[0], {3}); },
                    .reference = unfolded({{3}, {1}, {0}, {1}, {3}})}},
         .errors = {{"expects [N, positions.., channels]",
                     [] {
                       unfold(ones({2, 5}), {1});
                     }},
                    {"have 2 axes, but the positions are [5]",
                     [] {
                       unfold(ones({2, 5, 1}), {1, 1});
                     }},
                    {"i64", [] {
                       unfold(ones({2, 5, 1}, i64), {1});
                     }}}});
  t.add({.name = "fold",
         .samples = {{.note = "one axis",
                      .inputs = {t.random({2, 3, 6})},
                      .apply = [](const Inputs& in) { return fold(in[0], {5}, {3}); },
                      .reference = folded({{3}, {1}, {0}, {1}, {3}}, {5})},
                     {.note = "two axes",
                      .inputs = {t.random({1, 3, 5, 8})},
                      .apply =
                          [=](const Inputs& in) {
                            return fold(in[0], {5, 5}, {2, 2}, strided);
                          },
                      .reference = folded(plain, {5, 5})}},
         .empty = {{.note = "no images",
                    .inputs = {t.random({0, 3, 6})},
                    .apply = [](const Inputs& in) { return fold(in[0], {5}, {3}); },
                    .reference = folded({{3}, {1}, {0}, {1}, {3}}, {5})}},
         .errors = {{"positions [5] give window counts [3]",
                     [] {
                       fold(ones({2, 4, 6}), {5}, {3});
                     }},
                    {"patches of 5 elements cannot hold whole channels of a window of 3 taps",
                     [] {
                       fold(ones({2, 3, 5}), {5}, {3});
                     }},
                    {"does not fit on 2", [] {
                       fold(ones({2, 3, 6}), {2}, {3});
                     }}}});
}

void add_convolution_rows(OpTable& table) {
  add_convolution(table);
  add_transposed(table);
  add_patches(table);
}

const Family family(add_convolution_rows);

}  // namespace
}  // namespace ladon::test
