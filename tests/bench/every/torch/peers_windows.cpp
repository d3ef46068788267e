#include "peers.h"

namespace ladon::bench::every {
namespace {

void add_convolutions(PeerTable& t) {
  t.add("convolution, 3 x 3",
        [](const P& x) { return last(at::conv2d(first(x[0]), first(x[1]), x[2], 1, 1)); });
  t.add("convolution, 1 x 1",
        [](const P& x) { return last(at::conv2d(first(x[0]), first(x[1]), x[2])); });
  t.add("convolution, stride 2",
        [](const P& x) { return last(at::conv2d(first(x[0]), first(x[1]), x[2], 2, 1)); });
  t.add("convolution, depthwise", [](const P& x) {
    return last(at::conv2d(first(x[0]), first(x[1]), x[2], 1, 1, 1, x[0].size(3)));
  });
  t.add("convolution, of sequences", [](const P& x) {
    return at::conv1d(x[0].transpose(1, 2), x[1].transpose(1, 2), x[2], 1, 1).transpose(1, 2);
  });
  t.add("transposed_convolution",
        [](const P& x) { return last(at::conv_transpose2d(first(x[0]), first(x[1]), x[2], 2)); });
  t.add("unfold", [](const P& x) {  // windows as a view, and one copy
    const at::Tensor windows = x[0].unfold(1, 3, 1).unfold(2, 3, 1).permute({0, 1, 2, 4, 5, 3});
    return windows.reshape({windows.size(0), windows.size(1), windows.size(2), -1});
  });
  t.add("fold", [](const P& x) {
    const auto n = x[0].size(0), h = x[0].size(1), w = x[0].size(2), c = x[0].size(3) / 9;
    const at::Tensor patches = x[0].view({n, h * w, 9, c}).permute({0, 3, 2, 1});
    const at::Tensor columns = patches.reshape({n, c * 9, h * w});
    return last(at::col2im(columns, {h + 2, w + 2}, {3, 3}, {1, 1}, {0, 0}, {1, 1}));
  });
}

void add_pools(PeerTable& t) {
  t.add("max_pool", [](const P& x) { return last(at::max_pool2d(first(x[0]), 2)); });
  t.add("max_pool, 3 x 3, stride 1",
        [](const P& x) { return last(at::max_pool2d(first(x[0]), 3, 1)); });
  t.add("max_pool_with_indices", [](const P& x) -> PeerResults {
    const auto [values, indices] = at::max_pool2d_with_indices(first(x[0]), 2);
    return P{last(values), last(indices)};
  });
  t.add("average_pool", [](const P& x) { return last(at::avg_pool2d(first(x[0]), 2)); });
  t.add("adaptive_max_pool", [](const P& x) {
    return last(std::get<0>(at::adaptive_max_pool2d(first(x[0]), {3, 3})));
  });
  t.add("adaptive_average_pool", [](const P& x) {
    return last(at::adaptive_avg_pool2d(first(x[0]), {3, 3}));
  });
}

void add_attentions(PeerTable& t) {
  for (const char* variant : {"", ", one query"})
    t.add(std::string("scaled_dot_product_attention") + variant,
          [](const P& x) { return peer_attention(x[0], x[1], x[2], false); });
  t.add("scaled_dot_product_attention, causal",
        [](const P& x) { return peer_attention(x[0], x[1], x[2], true); });
  t.add("scaled_dot_product_attention, masked",
        [](const P& x) { return peer_attention(x[0], x[1], x[2], false, x[3]); });
  t.add("attention_with_weights", [](const P& x) -> PeerResults {
    const double scale = 1 / std::sqrt(double(x[0].size(-1)));
    const at::Tensor weights = at::softmax(at::matmul(x[0], x[1].mT()) * scale, -1);
    return P{at::matmul(weights, x[2]), weights};
  });
  t.add("rotary_embedding", [](const P& x) {
    const auto halves = x[0].chunk(2, -1);
    return at::cat({halves[0] * x[1] - halves[1] * x[2], halves[1] * x[1] + halves[0] * x[2]}, -1);
  });
}

P lstm_step(const at::Tensor& gates, const at::Tensor& c) {
  const auto a = gates.chunk(4, -1);
  const at::Tensor next = at::addcmul(at::sigmoid(a[1]) * c, at::sigmoid(a[0]), at::tanh(a[2]));
  return {at::sigmoid(a[3]) * at::tanh(next), next};
}
at::Tensor gru_step(const at::Tensor& of_input, const at::Tensor& of_state, const at::Tensor& h) {
  const auto a = of_input.chunk(3, -1), b = of_state.chunk(3, -1);
  const at::Tensor keep = at::sigmoid(a[1] + b[1]);
  return at::lerp(at::tanh(at::addcmul(a[2], at::sigmoid(a[0] + b[0]), b[2])), h, keep);
}

/// Step by step over gates [batch, T, G]; `step` changes h and c and gives the state.
template <class Step>
PeerFunction recurrence(Step step) {
  return [step](const P& x) {
    at::Tensor h = at::zeros({x[0].size(0), x[1].size(1)}, x[0].options()), c = h;
    P states;
    for (const at::Tensor& gates : x[0].unbind(1)) states.push_back(step(gates, x[1], h, c));
    return at::stack(states, 1);
  };
}

void add_recurrences(PeerTable& t) {
  t.add("lstm_cell", [](const P& x) { return lstm_step(x[0] + x[1], x[2]); });
  t.add("gru_cell", [](const P& x) { return gru_step(x[0], x[1], x[2]); });
  const auto lstm = [](const at::Tensor& gates, const at::Tensor& w, at::Tensor& h, at::Tensor& c) {
    const P state = lstm_step(at::addmm(gates, h, w.t()), c);
    h = state[0], c = state[1];
    return at::cat(state, -1);
  };
  t.add("recurrence, lstm", recurrence(lstm));
  const auto gru = [](const at::Tensor& gates, const at::Tensor& w, at::Tensor& h, at::Tensor&) {
    return h = gru_step(gates, at::mm(h, w.t()), h);
  };
  t.add("recurrence, gru", recurrence(gru));
  const auto plain = [](const at::Tensor& gates, const at::Tensor& w, at::Tensor& h, at::Tensor&) {
    return h = at::tanh(at::addmm(gates, h, w.t()));
  };
  t.add("recurrence, tanh", recurrence(plain));
}

}  // namespace

void add_windows(PeerTable& t) {
  add_convolutions(t);
  add_pools(t);
  add_attentions(t);
  add_recurrences(t);
}

}  // namespace ladon::bench::every
