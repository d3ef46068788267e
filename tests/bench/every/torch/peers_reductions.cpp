#include "peers.h"

namespace ladon::bench::every {
namespace {

void add_sums(PeerTable& t) {
  t.add("sum", [](const P& x) { return at::sum(x[0]); });
  t.add("sum, last axis", [](const P& x) { return at::sum(x[0], -1); });
  t.add("sum, first axis", [](const P& x) { return at::sum(x[0], 0); });
  t.add("sum, permuted", [](const P& x) { return at::sum(x[0], 0); });
  t.add("mean", [](const P& x) { return at::mean(x[0], -1); });
  t.add("mean, axis 1 of 3", [](const P& x) { return at::mean(x[0], 1); });
  t.add("prod", [](const P& x) { return at::prod(x[0], -1); });
  t.add("var", [](const P& x) { return at::var(x[0], -1); });
  t.add("var, first axis", [](const P& x) { return at::var(x[0], 0); });
  t.add("stddev", [](const P& x) { return at::std(x[0], -1); });
  t.add("norm", [](const P& x) { return at::linalg_vector_norm(x[0], 2, -1); });
  t.add("logsumexp", [](const P& x) { return at::logsumexp(x[0], -1); });
  t.add("logsumexp, first axis", [](const P& x) { return at::logsumexp(x[0], 0); });
  t.add("softmax", [](const P& x) { return at::softmax(x[0], -1); });
  t.add("softmax, axis 1 of 3", [](const P& x) { return at::softmax(x[0], 1); });
  t.add("log_softmax", [](const P& x) { return at::log_softmax(x[0], -1); });
  t.add("log_softmax, axis 1 of 3", [](const P& x) { return at::log_softmax(x[0], 1); });
  t.add("sum_to", [](const P& x) { return x[0].sum_to_size({x[0].size(1)}); });
}

void add_extremes(PeerTable& t) {
  t.add("amax", [](const P& x) { return at::amax(x[0], -1); });
  t.add("amin", [](const P& x) { return at::amin(x[0], 0); });
  t.add("max", [](const P& x) { return at::max(x[0], -1); });
  t.add("min", [](const P& x) { return at::min(x[0], 0); });
  t.add("argmax", [](const P& x) { return at::argmax(x[0], -1); });
  t.add("argmax, of a vocabulary", [](const P& x) { return at::argmax(x[0], -1); });
  t.add("argmin", [](const P& x) { return at::argmin(x[0], 0); });
  t.add("any", [](const P& x) { return at::any(x[0], -1); });
  t.add("all", [](const P& x) { return at::all(at::logical_not(x[0]), 0); });
}

void add_orders(PeerTable& t) {
  t.add("topk", [](const P& x) { return at::topk(x[0], 50); });
  t.add("topk, 8 of rows", [](const P& x) { return at::topk(x[0], 8); });
  t.add("sort", [](const P& x) { return at::sort(x[0], true, -1, false); });  // stable, as ours
  t.add("sort, first axis", [](const P& x) { return at::sort(x[0], true, 0, false); });
  t.add("sort, integers", [](const P& x) { return at::sort(x[0], true, -1, false); });
  t.add("cumsum", [](const P& x) { return at::cumsum(x[0], -1); });
  t.add("cumsum, first axis", [](const P& x) { return at::cumsum(x[0], 0); });
  t.add("cumprod", [](const P& x) { return at::cumprod(x[0], -1); });
}

}  // namespace

void add_reductions(PeerTable& t) {
  add_sums(t);
  add_extremes(t);
  add_orders(t);
}

}  // namespace ladon::bench::every
