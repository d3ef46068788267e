// Convolution, pooling, attention and recurrent cells (autograd/extra/windows/, attention.h,
// rotary.h, recurrent/).

#include "entries.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/extra/extra.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

/// Images with filters [out, h, w, C/groups] and a bias.
std::function<X(Draw&)> filtered(std::int64_t side, bool depthwise) {
  return [=](Draw& d) -> X {
    const Shape shape = d.images();
    const std::int64_t c = shape[3];
    return {d.normal(shape), d.normal({c, side, side, depthwise ? 1 : c}), d.normal({c})};
  };
}
/// A product for each number of the filters at each position of the output.
Traits filters() {
  return {.products = [](const X& x, const X& y) {
    return 2.0 * double(y[0].count()) * double(x[1].count()) / double(x[1].size(0));
  }};
}

void add_convolutions(Table& t) {
  t.add(
      "convolution, 3 x 3", filtered(3, false),
      [](const X& x) {
        return convolution(x[0], x[1], x[2], {.before = {1, 1}, .after = {1, 1}});
      },
      filters());
  t.add(
      "convolution, 1 x 1", filtered(1, false),
      [](const X& x) { return convolution(x[0], x[1], x[2]); }, filters());
  t.add(
      "convolution, stride 2", filtered(3, false),
      [](const X& x) {
        return convolution(x[0], x[1], x[2], {.stride = {2, 2}, .before = {1, 1}, .after = {1, 1}});
      },
      filters());
  t.add(
      "convolution, depthwise", filtered(3, true),
      [](const X& x) {
        return convolution(x[0], x[1], x[2],
                           {.before = {1, 1}, .after = {1, 1}, .groups = x[0].size(3)});
      },
      filters());
  const auto texts = [](Draw& d) -> X {
    const std::int64_t c = d.of(4, 64, 256);
    return {d.normal({d.of(1, 4, 16), d.of(8, 64, 256), c}), d.normal({c, 3, c}), d.normal({c})};
  };
  t.add(
      "convolution, of sequences", texts,
      [](const X& x) { return convolution(x[0], x[1], x[2], {.before = {1}, .after = {1}}); },
      filters());
  const auto spread = [](Draw& d) -> X {
    const std::int64_t c = d.of(4, 32, 64);
    return {d.normal({d.of(1, 4, 16), d.of(4, 8, 28), d.of(4, 8, 28), c}), d.normal({c, 2, 2, c}),
            d.normal({c})};
  };
  t.add("transposed_convolution", spread,
        [](const X& x) {
          return transposed_convolution(x[0], x[1], x[2], {.stride = {2, 2}});
        },
        {.products = [](const X& x, const X& y) {
          return 2.0 * double(y[0].count()) * double(x[1].size(0));
        }});
  t.add("unfold", images, [](const X& x) { return unfold(x[0], {3, 3}); });
  const auto patches = [](Draw& d) -> X {
    const Shape s = d.images();
    return {d.normal({s[0], s[1] - 2, s[2] - 2, 9 * s[3]})};
  };
  t.add("fold", patches, [](const X& x) {
    return fold(x[0], {x[0].size(1) + 2, x[0].size(2) + 2}, {3, 3});
  });
}

void add_pools(Table& t) {
  t.add("max_pool", images, [](const X& x) { return max_pool(x[0], {2, 2}); });
  t.add("max_pool, 3 x 3, stride 1", images, [](const X& x) {
    return max_pool(x[0], {3, 3}, {.stride = {1, 1}});
  });
  t.add("max_pool_with_indices", images, [](const X& x) -> Results {
    const ValuesAndIndices r = max_pool_with_indices(x[0], {2, 2});
    return Tensors{r.values, r.indices};
  });
  t.add("average_pool", images, [](const X& x) { return average_pool(x[0], {2, 2}); });
  t.add("adaptive_max_pool", images, [](const X& x) { return adaptive_max_pool(x[0], {3, 3}); });
  t.add("adaptive_average_pool", images, [](const X& x) {
    return adaptive_average_pool(x[0], {3, 3});
  });
}

/// q [B, H, Tq, d], k and v [B, H, Tk, d]; one query if asked for.
std::function<X(Draw&)> heads(bool one_query) {
  return [=](Draw& d) -> X {
    const std::int64_t b = d.of(1, 2, 4), h = d.of(2, 4, 8), n = d.of(8, 64, 512),
                       w = d.of(4, 32, 64);
    return {d.normal({b, h, one_query ? 1 : n, w}), d.normal({b, h, n, w}), d.normal({b, h, n, w})};
  };
}
Traits attended(double share) {
  return {.products = [share](const X& x, const X&) {
    return 4 * share * double(x[0].count()) * double(x[1].size(2));
  }};
}
Results with_weights(const X& x) {
  const AttentionResult r = attention_with_weights(x[0], x[1], x[2]);
  return Tensors{r.output, r.weights};
}

}  // namespace

void add_windows(Table& t) {
  t.family("convolution and pooling");
  add_convolutions(t);
  add_pools(t);
}

void add_attention(Table& t) {
  t.family("attention");
  t.add(
      "scaled_dot_product_attention", heads(false),
      [](const X& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }, attended(1));
  t.add(
      "scaled_dot_product_attention, causal", heads(false),
      [](const X& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}); },
      attended(0.5));
  t.add(
      "scaled_dot_product_attention, one query", heads(true),
      [](const X& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }, attended(1));
  const auto masked = [](Draw& d) -> X {
    X x = heads(false)(d);
    const std::int64_t n = x[0].size(2);
    x.push_back(logical_or(d.booleans({x[0].size(0), 1, n, n}), eye(n, f32) > 0));
    return x;
  };
  t.add(
      "scaled_dot_product_attention, masked", masked,
      [](const X& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}); },
      attended(1));
  t.add("attention_with_weights", heads(false), with_weights, attended(1));
  const auto turned = [](Draw& d) -> X {
    const X x = heads(false)(d);
    const Shape angles{x[0].size(2), x[0].size(3) / 2};
    return {x[0], cos(d.normal(angles)), sin(d.normal(angles))};
  };
  t.add("rotary_embedding", turned, [](const X& x) { return rotary_embedding(x[0], x[1], x[2]); },
        {.differentiated = 1});
}

void add_recurrences(Table& t) {
  t.family("recurrent");
  const auto gates = [](std::int64_t count) {
    return [count](Draw& d) -> X {
      const std::int64_t b = d.of(4, 64, 1024), n = d.of(4, 64, 256);
      return {d.normal({b, count * n}), d.normal({b, count * n}), d.normal({b, n})};
    };
  };
  t.add("lstm_cell", gates(4), [](const X& x) -> Results {
    const LstmState s = lstm_cell(x[0], x[1], x[2]);
    return Tensors{s.h, s.c};
  });
  t.add("gru_cell", gates(3), [](const X& x) { return gru_cell(x[0], x[1], x[2]); });
  const auto sequence = [](std::int64_t count) {
    return [count](Draw& d) -> X {
      const std::int64_t n = d.of(4, 64, 256);
      return {d.normal({d.of(2, 16, 32), d.of(4, 16, 64), count * n}),
              d.between(-0.1, 0.1, {count * n, n})};
    };
  };
  const Traits steps{.products = [](const X& x, const X&) {
    return 2.0 * double(x[0].count()) * double(x[1].size(1));
  }};
  t.add(
      "recurrence, lstm", sequence(4),
      [](const X& x) { return recurrence(RecurrentCell::lstm, x[0], x[1]); }, steps);
  t.add(
      "recurrence, gru", sequence(3),
      [](const X& x) { return recurrence(RecurrentCell::gru, x[0], x[1]); }, steps);
  t.add(
      "recurrence, tanh", sequence(1),
      [](const X& x) { return recurrence(RecurrentCell::tanh, x[0], x[1]); }, steps);
}

}  // namespace ladon::bench::every
