#include "peers.h"

namespace ladon::bench::every {
namespace {

void add_views(PeerTable& t) {
  t.add("reshape", [](const P& x) { return x[0].reshape({x[0].size(1), x[0].size(0)}); });
  t.add("flatten", [](const P& x) { return x[0].flatten(); });
  t.add("permute", [](const P& x) { return first(x[0]); });
  t.add("permute, copied", [](const P& x) { return first(x[0]).contiguous(); });
  t.add("transpose", [](const P& x) { return x[0].t(); });
  t.add("expand", [](const P& x) { return x[0].expand({64, x[0].size(1)}); });
  t.add("unsqueeze", [](const P& x) { return x[0].unsqueeze(1); });
  t.add("squeeze", [](const P& x) { return x[0].squeeze(0); });
  t.add("slice", [](const P& x) { return x[0].slice(1, 1, -1, 2); });
  t.add("select", [](const P& x) { return x[0].select(0, 1); });
  t.add("at", [](const P& x) { return x[0].slice(0, 1).slice(1, 0, -1); });
  t.add("split", [](const P& x) { return x[0].split(x[0].size(1) / 4, 1); });
  t.add("diagonal", [](const P& x) { return x[0].diagonal(); });
}

void add_copies(PeerTable& t) {
  t.add("contiguous", [](const P& x) { return x[0].t().contiguous(); });
  t.add("clone", [](const P& x) { return x[0].clone(); });
  t.add("concat", [](const P& x) { return at::cat(x, 0); });
  t.add("concat, last axis", [](const P& x) { return at::cat(x, -1); });
  t.add("concat, narrow parts", [](const P& x) { return at::cat(x, -1); });
  t.add("stack", [](const P& x) { return at::stack(x); });
  t.add("stack, last axis", [](const P& x) { return at::stack(x, -1); });
  t.add("flip", [](const P& x) { return x[0].flip({0, 1}); });
  t.add("roll", [](const P& x) { return x[0].roll(3, 1); });
  t.add("tile", [](const P& x) { return x[0].repeat({1, 2}); });
  t.add("pad", [](const P& x) { return at::constant_pad_nd(x[0], {2, 1, 1, 2}); });
  t.add("tril", [](const P& x) { return x[0].tril(); });
  t.add("triu", [](const P& x) { return x[0].triu(1); });
}

void add_indices(PeerTable& t) {
  t.add("index_select", [](const P& x) { return x[0].index_select(0, x[1]); });
  t.add("index_select, last axis",
        [](const P& x) { return x[0].index_select(1, x[1].select(0, 0)); });
  t.add("embedding", [](const P& x) { return at::embedding(x[0], x[1]); });
  t.add("gather", [](const P& x) { return x[0].gather(-1, x[1]); });
  t.add("gather, rows", [](const P& x) { return x[0].gather(0, x[1]); });
  t.add("scatter_add", [](const P& x) { return x[0].scatter_add(-1, x[1], x[2]); });
  t.add("scatter_add, rows", [](const P& x) { return x[0].scatter_add(0, x[1], x[2]); });
  t.add("scatter", [](const P& x) { return x[0].scatter(-1, x[1], x[2]); });
  for (const auto& [name, by] :
       {std::pair("sum", "sum"), std::pair("mean", "mean"), std::pair("max", "amax")}) {
    const c10::string_view rule = by;
    t.add(std::string("scatter_reduce, ") + name,
          [rule](const P& x) { return x[0].scatter_reduce(-1, x[1], x[2], rule); });
  }
  t.add("one_hot", [](const P& x) { return at::one_hot(x[0], 64).to(at::kFloat); });
  t.add("masked_select", [](const P& x) { return x[0].masked_select(x[1]); });
  t.add("nonzero", [](const P& x) { return x[0].nonzero(); });
  for (const char* name : {"unique", "unique, of numbers"})
    t.add(name, [](const P& x) -> PeerResults {
      const auto [values, inverse, counts] = at::_unique2(x[0], true, true, true);
      return P{values, inverse, counts};
    });
}

}  // namespace

void add_shapes(PeerTable& t) {
  add_views(t);
  add_copies(t);
  add_indices(t);
}

}  // namespace ladon::bench::every
