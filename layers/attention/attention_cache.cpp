#include "ladon/layers/attention/attention_cache.h"

#include <algorithm>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/fingerprint.h"
#include "ladon/layers/undo.h"

namespace ladon {
namespace {

// Slots are freed in multiples of the tile size of attention's loops, so that sums over keys keep
// their order.
constexpr std::int64_t step = 64;

/// Elements of the mask [batch, count], row by row; all true if the mask is undefined.
std::vector<bool> token_flags(std::int64_t batch, std::int64_t count, const Tensor& mask) {
  if (!mask.defined()) return std::vector<bool>(static_cast<std::size_t>(batch * count), true);
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == Shape({batch, count}), "KeyValueCache",
              "the mask must be bool [", batch, ", ", count, "], got ", mask.dtype(), " ",
              mask.shape());
  const std::vector<double> values = numbers_of("KeyValueCache", mask);
  return {values.begin(), values.end()};
}

/// Positions of queries, given as [count] or [batch, count], expanded to [batch, count].
Tensor checked_positions(const Tensor& positions, std::int64_t batch, std::int64_t count) {
  LADON_CHECK(positions.dtype() == i64 &&
                  (positions.shape() == Shape{count} || positions.shape() == Shape({batch, count})),
              "KeyValueCache", "positions of queries must be i64 [", count, "] or [", batch, ", ",
              count, "], as the keys, got ", positions.dtype(), " ", positions.shape());
  return expand(positions, {batch, count});
}

static_assert(detail::HasSnapshot<KeyValueCache> && detail::HasSnapshot<DecodingCache>,
              "a call that throws puts them back");

bool same_but_length(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.size(0) == b.size(0) && a.size(1) == b.size(1) &&
         a.size(3) == b.size(3);
}

}  // namespace

KeyValueCache::KeyValueCache(const KeyValueCache& other)
    : keys_(other.keys_.defined() ? clone(other.keys_) : Tensor()),
      values_(other.values_.defined() ? clone(other.values_) : Tensor()),
      lengths_(other.lengths_),
      forgotten_(other.forgotten_) {}

KeyValueCache& KeyValueCache::operator=(KeyValueCache other) noexcept {
  std::swap(keys_, other.keys_);
  std::swap(values_, other.values_);
  std::swap(lengths_, other.lengths_);
  std::swap(forgotten_, other.forgotten_);
  return *this;
}

Tensor KeyValueCache::next_positions(std::int64_t batch, std::int64_t count,
                                     const Tensor& mask) const {
  LADON_CHECK(batch >= 0, "KeyValueCache", "the batch must not be negative, got ", batch);
  LADON_CHECK(count >= 0, "KeyValueCache", "the number of tokens must not be negative, got ",
              count);
  const auto rows = static_cast<std::size_t>(batch);
  LADON_CHECK(lengths_.empty() || lengths_.size() == rows, "KeyValueCache", "holds a batch of ",
              lengths_.size(), " texts, got a batch of ", batch, "; make one cache per batch");
  const std::vector<bool> flags = token_flags(batch, count, mask);
  std::vector<std::int64_t> positions;
  for (std::size_t b = 0; b < rows; ++b) {
    std::int64_t next = lengths_.empty() ? 0 : lengths_[b];
    for (std::int64_t t = 0; t < count; ++t) {
      positions.push_back(next);
      next += flags[b * static_cast<std::size_t>(count) + static_cast<std::size_t>(t)];
    }
  }
  return from_vector(positions, {batch, count});
}

std::int64_t KeyValueCache::most_slots() const {
  std::int64_t most = 0;
  for (std::size_t b = 0; b < lengths_.size(); ++b) most = std::max(most, slots(b));
  return most;
}

/// Makes room for the tokens of h. If it must enlarge the storage and there is a window, each row
/// drops positions that no later query sees.
void KeyValueCache::make_room(const AttentionHeads& h, std::int64_t window) {
  const std::int64_t count = h.k.size(2);
  if (keys_.defined() && most_slots() + count <= keys_.size(2)) return;
  std::vector<std::int64_t> first(lengths_.size());
  std::int64_t needed = 0;
  bool forgets = false;
  for (std::size_t b = 0; b < first.size(); ++b) {
    first[b] = window > 0 ? std::max<std::int64_t>(0, slots(b) - window) / step * step : 0;
    needed = std::max(needed, slots(b) - first[b] + count);
    forgets = forgets || first[b] > 0;
  }
  const std::int64_t room = forgets ? needed + step : 2 * needed;
  for (const auto& [held, like] : {std::pair(&keys_, &h.k), {&values_, &h.v}}) {
    const Tensor before = *held;
    *held = zeros({like->size(0), like->size(1), room, like->size(3)}, like->dtype());
    for (std::size_t b = 0; before.defined() && b < first.size(); ++b) {
      const auto row = static_cast<std::int64_t>(b);
      copy_(slice(ladon::select(*held, 0, row), 1, {.stop = slots(b) - first[b]}),
            slice(ladon::select(before, 0, row), 1, {.start = first[b], .stop = slots(b)}));
    }
  }
  for (std::size_t b = 0; b < first.size(); ++b) forgotten_[b] += first[b];
}

/// Copies the tokens of x [batch, heads, count, width] for which `flags` is true to the first free
/// slots of each row.
void KeyValueCache::put(const Tensor& x, Tensor& to, const std::vector<bool>& flags) const {
  const std::int64_t count = x.size(2), most = most_slots();
  bool even = std::count(flags.begin(), flags.end(), false) == 0;
  for (std::size_t b = 0; b < lengths_.size(); ++b) even = even && slots(b) == most;
  if (even) {
    copy_(slice(to, 2, {.start = most, .stop = most + count}), x);
    return;
  }
  auto flag = flags.begin();
  for (std::size_t b = 0; b < lengths_.size(); ++b, flag += count) {
    const auto row = static_cast<std::int64_t>(b);
    const Tensor from = ladon::select(x, 0, row), into = ladon::select(to, 0, row);
    std::int64_t slot = slots(b);
    for (std::int64_t t = 0, end = 0; t < count; t = end + 1) {
      end = std::find(flag + t, flag + count, false) - flag;
      if (end == t) continue;
      copy_(slice(into, 1, {.start = slot, .stop = slot + end - t}),
            slice(from, 1, {.start = t, .stop = end}));
      slot += end - t;
    }
  }
}

/// Mask bool [batch, 1, Tq, slots]: a query sees the tokens of its row up to its own position.
Tensor KeyValueCache::visible(const Tensor& asked, std::int64_t window) const {
  const std::int64_t batch = asked.size(0), count = asked.size(1), width = most_slots();
  Tensor allowed = empty({batch, 1, count, width}, boolean);
  bool* to = allowed.mutable_data<bool>();
  const Tensor positions = contiguous(asked);
  const auto* position = positions.data<std::int64_t>();
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto row = static_cast<std::size_t>(b);
    for (std::int64_t t = 0; t < count; ++t, ++position, to += width) {
      const std::int64_t next = *position + 1 - forgotten_[row], end = std::min(next, slots(row));
      const std::int64_t begin = window > 0 ? std::max<std::int64_t>(0, next - window) : 0;
      std::fill_n(to, width, false);
      if (begin < end) std::fill(to + begin, to + end, true);
    }
  }
  return allowed;
}

KeyValueCache::Seen KeyValueCache::append(const AttentionHeads& h, const Tensor& mask,
                                          std::int64_t window) {
  LADON_CHECK(h.k.defined(), "KeyValueCache",
              "the keys are an undefined tensor; pass [batch, heads, tokens, width]");
  LADON_CHECK(h.v.defined(), "KeyValueCache",
              "the values are an undefined tensor; pass [batch, heads, tokens, width]");
  LADON_CHECK(
      h.k.rank() == 4 && h.v.rank() == 4 && h.k.size(0) == h.v.size(0) &&
          h.k.size(1) == h.v.size(1) && h.k.size(2) == h.v.size(2),
      "KeyValueCache",
      "keys and values must be [batch, heads, tokens, width], alike but for the width, got ",
      h.k.shape(), " and ", h.v.shape());
  const std::int64_t batch = h.k.size(0), count = h.k.size(2);
  LADON_CHECK(
      !keys_.defined() || (same_but_length(keys_, h.k) && same_but_length(values_, h.v)),
      "KeyValueCache", "holds keys and values ", keys_.shape(), " and ", values_.shape(), ", got ",
      h.k.shape(), " and ", h.v.shape(),
      "; batch, heads, widths and dtype must stay the same: make one cache per batch and model");
  LADON_CHECK(!detail::visible(h.k) && !detail::visible(h.v), "KeyValueCache", "stores keys ",
              h.k.shape(), " and values ", h.v.shape(),
              " without derivatives, but inside jvp they have a tangent, which would be lost; call "
              "the model without a cache there, or give it x.detach()");
  LADON_CHECK(window >= 0, "KeyValueCache", "the window is ", window,
              "; it must be positive, or 0 for none");
  const NoGrad no_grad;
  const detail::Undo undo(*this);  // restores the cache if memory does not suffice below
  const Tensor given = h.q_positions.defined() ? h.q_positions : next_positions(batch, count, mask);
  const Tensor asked = checked_positions(given, batch, count);
  const std::vector<bool> flags = token_flags(batch, count, mask);
  lengths_.resize(batch);
  forgotten_.resize(batch);
  make_room(h, window);
  put(h.k.detach(), keys_, flags);
  put(h.v.detach(), values_, flags);
  Seen seen;
  seen.offset = most_slots();
  auto flag = flags.begin();
  for (std::int64_t& length : lengths_)
    for (std::int64_t t = 0; t < count; ++t) length += *flag++;

  const std::int64_t width = most_slots();
  seen.heads = {h.q, slice(keys_, 2, {.stop = width}), slice(values_, 2, {.stop = width}), given};
  std::vector<std::int64_t> positions;
  // Whether slot i holds position i in every row, so that a causal mask suffices.
  bool regular = window == 0 || width <= window;
  for (std::size_t b = 0; b < lengths_.size(); ++b) {
    regular = regular && lengths_[b] == width && seen.offset + count == width;
    for (std::int64_t s = 0; s < width; ++s)
      positions.push_back(s < slots(b) ? forgotten_[b] + s : -1);
  }
  seen.heads.k_positions = from_vector(positions, {batch, width});
  if (!regular) seen.allowed = visible(asked, window);
  return seen;
}

void KeyValueCache::select(const Tensor& rows) {
  if (!keys_.defined()) return;
  const NoGrad no_grad;
  const Slice used{.stop = most_slots()};
  Tensor keys = index_select(slice(keys_, 2, used), 0, rows);  // throws for invalid rows
  Tensor values = index_select(slice(values_, 2, used), 0, rows);
  std::vector<std::int64_t> lengths, forgotten;
  for (const std::int64_t row : rows.to_vector<std::int64_t>()) {
    lengths.push_back(lengths_[row]);
    forgotten.push_back(forgotten_[row]);
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  lengths_ = std::move(lengths);
  forgotten_ = std::move(forgotten);
}

void KeyValueCache::join(const KeyValueCache& other) {
  if (!other.keys_.defined()) return;
  if (!keys_.defined()) {
    *this = other;
    return;
  }
  const std::int64_t batch = keys_.size(0), more = other.keys_.size(0);
  const auto like = [](const Tensor& a, const Tensor& b) {
    return same_but_length(slice(a, 0, {.stop = 1}), slice(b, 0, {.stop = 1}));
  };
  LADON_CHECK(like(keys_, other.keys_) && like(values_, other.values_), "KeyValueCache",
              "holds keys ", keys_.shape(), " (", keys_.dtype(), "), which cannot be joined with ",
              other.keys_.shape(), " (", other.keys_.dtype(),
              "); heads, widths and dtype must agree: join caches of the same layer");
  const NoGrad no_grad;
  const std::int64_t width = std::max(most_slots(), other.most_slots());
  const auto both = [&](const Tensor& mine, const Tensor& its) {
    Tensor all = zeros({batch + more, mine.size(1), width, mine.size(3)}, mine.dtype());
    const auto take = [&](const Tensor& x, std::int64_t at, std::int64_t held) {
      copy_(slice(slice(all, 0, {.start = at, .stop = at + x.size(0)}), 2, {.stop = held}),
            slice(x, 2, {.stop = held}));
    };
    take(mine, 0, most_slots());
    take(its, batch, other.most_slots());
    return all;
  };
  const auto chained = [](std::vector<std::int64_t> mine, const std::vector<std::int64_t>& its) {
    mine.insert(mine.end(), its.begin(), its.end());
    return mine;
  };
  Tensor keys = both(keys_, other.keys_), values = both(values_, other.values_);
  auto lengths = chained(lengths_, other.lengths_);
  auto forgotten = chained(forgotten_, other.forgotten_);
  keys_ = std::move(keys);
  values_ = std::move(values);
  lengths_ = std::move(lengths);
  forgotten_ = std::move(forgotten);
}

KeyValueCache KeyValueCache::snapshot() const {
  KeyValueCache now;
  now.keys_ = keys_;
  now.values_ = values_;
  now.lengths_ = lengths_;
  now.forgotten_ = forgotten_;
  return now;
}

Tensor DecodingCache::next_positions(std::int64_t batch, std::int64_t count,
                                     const Tensor& mask) const {
  return layers.empty() ? KeyValueCache().next_positions(batch, count, mask)
                        : layers[0].next_positions(batch, count, mask);
}

void DecodingCache::select(const Tensor& rows) {
  DecodingCache chosen = snapshot();  // a copy, so that an Error leaves this cache as it is
  for (KeyValueCache& layer : chosen.layers) layer.select(rows);
  for (ProjectedMemory& m : chosen.memory)
    m = {index_select(m.keys, 0, rows), index_select(m.values, 0, rows)};
  if (memory_mask.defined()) chosen.memory_mask = index_select(memory_mask, 0, rows);
  *this = std::move(chosen);
}

void DecodingCache::join(const DecodingCache& other) {
  LADON_CHECK(memory.empty() && other.memory.empty(), "DecodingCache",
              "caches with a memory cannot be joined; decode such texts as one batch");
  DecodingCache joined = snapshot();
  joined.take_model(other.layers.size(), other.model);
  for (std::size_t i = 0; i < joined.layers.size(); ++i) joined.layers[i].join(other.layers[i]);
  if (other.most_positions > 0) joined.most_positions = other.most_positions;
  *this = std::move(joined);
}

DecodingCache DecodingCache::snapshot() const {
  DecodingCache now{.layers = {},
                    .memory = memory,
                    .memory_mask = memory_mask,
                    .most_positions = most_positions,
                    .model = model};
  now.layers.reserve(layers.size());
  for (const KeyValueCache& layer : layers) now.layers.push_back(layer.snapshot());
  return now;
}

void DecodingCache::prepare(std::size_t count, const std::vector<Tensor>& weights) {
  std::uint64_t of = 0;
  for (const Tensor& w : weights) {
    // A weight that is not a leaf may be computed anew for each token (functional_call).
    if (!Leaf::of(w)) continue;
    of = detail::fingerprint(reinterpret_cast<std::uintptr_t>(w.storage().bytes()), of);
    of = detail::fingerprint(w.storage().version(), of);
  }
  take_model(count, of);
  for (const KeyValueCache& layer : layers)
    LADON_CHECK(layer.lengths() == layers[0].lengths(), "DecodingCache",
                "its layers have seen different positions: one of them was changed alone; make a "
                "new cache");
}

void DecodingCache::take_model(std::size_t count, std::uint64_t of) {
  if (layers.empty()) layers.resize(count);
  LADON_CHECK(layers.size() == count, "DecodingCache", "has ", layers.size(),
              " layers, the model has ", count, "; make one cache per model");
  const bool remembers =
      !memory.empty() || std::any_of(layers.begin(), layers.end(), [](const KeyValueCache& layer) {
        return !layer.lengths().empty();
      });  // false before the first tokens
  LADON_CHECK(!remembers || model == 0 || of == 0 || model == of, "DecodingCache",
              "was filled by another model, or by this one with other weights; make one cache per "
              "model, and a new one after its weights change");
  if (of != 0) model = of;
}

}  // namespace ladon
