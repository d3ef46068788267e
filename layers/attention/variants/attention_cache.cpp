#include "ladon/layers/attention/variants/attention_cache.h"

#include <algorithm>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

// Slots are given up in whole tiles of attention's loops, so that sums over keys keep their order.
constexpr std::int64_t step = 64;

/// mask [batch, count] by rows; all true where they are undefined.
std::vector<bool> token_flags(std::int64_t batch, std::int64_t count, const Tensor& mask) {
  if (!mask.defined()) return std::vector<bool>(static_cast<std::size_t>(batch * count), true);
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == Shape({batch, count}), "KeyValueCache",
              "the mask must be bool [", batch, ", ", count, "], got ", mask.dtype(), " ",
              mask.shape());
  const std::vector<double> values = mask.to_vector();
  return {values.begin(), values.end()};
}

/// A tensor with room for `capacity` slots that begins with slots [from, to) of x, which may be
/// undefined.
Tensor with_room(const Tensor& x, const Tensor& like, std::int64_t capacity, std::int64_t from,
                 std::int64_t to) {
  const Tensor room = empty({like.size(0), like.size(1), capacity, like.size(3)}, like.dtype());
  if (to > from)
    copy_(slice(room, 2, {.stop = to - from}), slice(x, 2, {.start = from, .stop = to}));
  return room;
}

bool same_but_length(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.size(0) == b.size(0) && a.size(1) == b.size(1) &&
         a.size(3) == b.size(3);
}

}  // namespace

KeyValueCache::KeyValueCache(const KeyValueCache& other)
    : keys_(other.keys_.defined() ? clone(other.keys_) : Tensor()),
      values_(other.values_.defined() ? clone(other.values_) : Tensor()),
      slots_(other.slots_),
      lengths_(other.lengths_),
      positions_(other.positions_),
      padded_(other.padded_) {}

KeyValueCache& KeyValueCache::operator=(KeyValueCache other) noexcept {
  std::swap(keys_, other.keys_);
  std::swap(values_, other.values_);
  std::swap(slots_, other.slots_);
  std::swap(lengths_, other.lengths_);
  std::swap(positions_, other.positions_);
  std::swap(padded_, other.padded_);
  return *this;
}

Tensor KeyValueCache::next_positions(std::int64_t batch, std::int64_t count,
                                     const Tensor& mask) const {
  const auto rows = static_cast<std::size_t>(batch);
  LADON_CHECK(lengths_.empty() || lengths_.size() == rows, "KeyValueCache", "remembers a batch of ",
              lengths_.size(), ", and is given ", batch, "; make one for each batch");
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

void KeyValueCache::make_room(const AttentionHeads& h, std::int64_t window) {
  const std::int64_t count = h.k.size(2), capacity = keys_.defined() ? keys_.size(2) : 0;
  if (slots_ + count <= capacity) return;
  std::int64_t from = 0;  // slots before it are given up: each row has `window` tokens behind it
  if (window > 0 && slots_ > 0) {
    from = slots_;
    for (const auto& row : positions_) {
      std::int64_t kept = 0, slot = slots_;
      while (slot > 0 && kept < window) kept += row[static_cast<std::size_t>(--slot)] >= 0;
      from = std::min(from, slot);
    }
    from = from / step * step;
  }
  const std::int64_t needed = slots_ - from + count;
  const std::int64_t room = std::max(needed, from > 0 ? needed + step : 2 * needed);
  keys_ = with_room(keys_, h.k, room, from, slots_);
  values_ = with_room(values_, h.v, room, from, slots_);
  for (auto& row : positions_) row.erase(row.begin(), row.begin() + from);
  slots_ -= from;
}

/// Whether slot i is position i of every row, as plain causal attention takes it.
bool KeyValueCache::regular() const {
  return !padded_ && std::all_of(lengths_.begin(), lengths_.end(),
                                 [this](std::int64_t length) { return length == slots_; });
}

KeyValueCache::Seen KeyValueCache::append(const AttentionHeads& h, const Tensor& mask,
                                          std::int64_t window) {
  const std::int64_t batch = h.k.size(0), count = h.k.size(2);
  LADON_CHECK(!keys_.defined() || (same_but_length(keys_, h.k) && same_but_length(values_, h.v)),
              "KeyValueCache", "remembers keys and values ", keys_.shape(), " and ",
              values_.shape(), ", and is given ", h.k.shape(), " and ", h.v.shape(),
              "; make one for each batch and model");
  const NoGrad no_grad;
  const Tensor asked = h.q_positions.defined() ? h.q_positions : next_positions(batch, count, mask);
  const std::vector<bool> flags = token_flags(batch, count, mask);
  make_room(h, window);
  const Slice here{.start = slots_, .stop = slots_ + count};
  copy_(slice(keys_, 2, here), h.k.detach());
  copy_(slice(values_, 2, here), h.v.detach());
  const std::int64_t before = slots_;
  slots_ += count;
  lengths_.resize(static_cast<std::size_t>(batch));
  positions_.resize(static_cast<std::size_t>(batch));
  auto flag = flags.begin();
  for (std::size_t b = 0; b < lengths_.size(); ++b)
    for (std::int64_t t = 0; t < count; ++t, ++flag)
      positions_[b].push_back(*flag ? lengths_[b]++ : -1);
  padded_ = padded_ || std::count(flags.begin(), flags.end(), false) > 0;

  Seen seen{.heads = {h.q, slice(keys_, 2, {.stop = slots_}), slice(values_, 2, {.stop = slots_})},
            .offset = before};
  seen.heads.q_positions = asked;
  std::vector<std::int64_t> all;
  for (const auto& row : positions_) all.insert(all.end(), row.begin(), row.end());
  seen.heads.k_positions = from_vector(all, {batch, slots_});
  if (regular() && (window == 0 || slots_ <= window)) return seen;
  const Tensor of_keys = unsqueeze(seen.heads.k_positions, 1), of_queries = unsqueeze(asked, 2);
  const Tensor back = of_queries - of_keys;  // [batch, Tq, Tk]
  Tensor allowed = logical_and(greater_equal(of_keys, 0), greater_equal(back, 0));
  if (window > 0) allowed = logical_and(allowed, less(back, double(window)));
  seen.allowed = unsqueeze(allowed, 1);
  return seen;
}

void KeyValueCache::select(const Tensor& rows) {
  if (!keys_.defined()) return;
  const NoGrad no_grad;
  keys_ = index_select(slice(keys_, 2, {.stop = slots_}), 0, rows);
  values_ = index_select(slice(values_, 2, {.stop = slots_}), 0, rows);
  const auto lengths = lengths_;
  const auto positions = positions_;
  lengths_.clear();
  positions_.clear();
  for (const double row : rows.to_vector()) {
    lengths_.push_back(lengths[static_cast<std::size_t>(row)]);
    positions_.push_back(positions[static_cast<std::size_t>(row)]);
  }
}

Tensor DecodingCache::next_positions(std::int64_t batch, std::int64_t count,
                                     const Tensor& mask) const {
  return layers.empty() ? KeyValueCache().next_positions(batch, count, mask)
                        : layers[0].next_positions(batch, count, mask);
}

void DecodingCache::select(const Tensor& rows) {
  for (KeyValueCache& layer : layers) layer.select(rows);
  for (ProjectedMemory& m : memory)
    m = {index_select(m.keys, 0, rows), index_select(m.values, 0, rows)};
  if (memory_mask.defined()) memory_mask = index_select(memory_mask, 0, rows);
}

void DecodingCache::prepare(std::size_t count) {
  if (layers.empty()) layers.resize(count);
  LADON_CHECK(layers.size() == count, "DecodingCache", "is of ", layers.size(),
              " layers, the model has ", count, "; make one for each model");
  for (const KeyValueCache& layer : layers)
    LADON_CHECK(
        layer.lengths() == layers[0].lengths(), "DecodingCache",
        "its layers have seen different positions: an Error broke off a pass; make a new one");
}

}  // namespace ladon
