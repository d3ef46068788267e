#include "ladon/core/extra/data/loader.h"

#include <algorithm>

#include "ladon/core/error.h"
#include "ladon/core/kernels/index.h"

namespace ladon {
namespace {

constexpr std::int64_t run_length = 32;  // number of batches that are sorted by length together

std::vector<ItemIndices> cut(const ItemIndices& order, std::int64_t batch_size) {
  std::vector<ItemIndices> batches;
  const auto n = std::ssize(order);
  for (std::int64_t from = 0; from < n;) {
    const std::int64_t to = from + std::min(batch_size, n - from);
    batches.emplace_back(order.begin() + from, order.begin() + to);
    from = to;
  }
  return batches;
}

ItemIndices random_order(std::int64_t n, Generator& rng) {
  return permutation(n, rng).to_vector<std::int64_t>();
}

/// The number of batches in an epoch.
std::int64_t checked_size(std::int64_t items, const LoaderOptions& options, std::int64_t lengths) {
  const std::int64_t batch_size = options.batch_size;
  LADON_CHECK(batch_size >= 1, "loader", "batch_size must be at least 1, got ", batch_size);
  LADON_CHECK(items >= 1, "loader", "needs at least one item, got ", items);
  LADON_CHECK(!options.drop_last || items >= batch_size, "loader", items,
              " items do not fill a batch of ", batch_size,
              ", so drop_last would leave no batch; lower batch_size or keep the last batch");
  LADON_CHECK(options.by_length ? lengths == items : lengths == 0 || lengths == items, "loader",
              options.by_length ? "by_length needs a length" : "there must be no lengths, or one",
              " for each of the ", items, " items, got ", lengths);
  LADON_CHECK(!options.by_length || options.shuffle, "loader",
              "by_length sorts parts of a random order, but shuffle is false, which keeps the "
              "items' order; leave one of the two out");
  const std::int64_t full = items / batch_size;
  return options.drop_last || items % batch_size == 0 ? full : full + 1;
}

constexpr std::int64_t last_epoch = std::int64_t{1} << 62;  // so that epoch + 1 fits in 64 bits

/// How the items of an epoch are ordered: 0 means as they are, 1 at random, 2 at random and by
/// length.
std::int64_t order_of(const LoaderOptions& options) {
  return options.shuffle ? 1 + options.by_length : 0;
}

Generator own_generator(Generator& rng) {
  const auto words = rng.block(rng.reserve(1));
  const auto pair = [&](int i) { return words[i] | std::uint64_t{words[i + 1]} << 32; };
  return Generator(pair(0), pair(2));
}

void check_sizes(const char* operation, std::int64_t n, std::int64_t batch_size) {
  LADON_CHECK(n >= 0, operation, "the number of items, n, must not be negative, got ", n);
  LADON_CHECK(batch_size >= 1, operation, "batch_size must be at least 1, got ", batch_size);
}

}  // namespace

std::vector<ItemIndices> ordered_batches(std::int64_t n, std::int64_t batch_size) {
  check_sizes("ordered_batches", n, batch_size);
  return cut(arange(n).to_vector<std::int64_t>(), batch_size);
}

std::vector<ItemIndices> random_batches(std::int64_t n, std::int64_t batch_size, Generator& rng,
                                        const std::vector<std::int64_t>& lengths) {
  check_sizes("random_batches", n, batch_size);
  LADON_CHECK(lengths.empty() || std::ssize(lengths) == n, "random_batches",
              "needs a length for each of the ", n, " items, got ", lengths.size());
  ItemIndices order = random_order(n, rng);
  if (lengths.empty()) return cut(order, batch_size);
  const std::int64_t run = batch_size > n / run_length ? n : run_length * batch_size;
  for (std::int64_t from = 0; from < n; from += run)
    std::stable_sort(order.begin() + from, order.begin() + std::min(from + run, n),
                     [&](std::int64_t a, std::int64_t b) { return lengths[a] < lengths[b]; });
  // The batches are then put in random order; else every 32 batches would go from short to long
  // items.
  const std::vector<ItemIndices> sorted = cut(order, batch_size);
  std::vector<ItemIndices> batches;
  for (const std::int64_t i : random_order(std::ssize(sorted), rng)) batches.push_back(sorted[i]);
  return batches;
}

BatchPlan::BatchPlan(std::int64_t items, const LoaderOptions& options, Generator& rng,
                     std::vector<std::int64_t> lengths)
    : items_(items),
      size_(checked_size(items, options, std::ssize(lengths))),
      options_(options),
      rng_(own_generator(rng)),
      lengths_(std::move(lengths)) {}

std::vector<ItemIndices> BatchPlan::epoch(std::int64_t epoch) const {
  LADON_CHECK(epoch >= 0, "loader", "there is no epoch ", epoch, "; epochs are numbered from 0");
  if (!options_.shuffle) {
    std::vector<ItemIndices> batches = ordered_batches(items_, options_.batch_size);
    batches.resize(size_);
    return batches;
  }
  Generator rng = rng_.split(static_cast<std::uint64_t>(epoch));
  std::vector<ItemIndices> batches =
      random_batches(items_, options_.batch_size, rng,
                     options_.by_length ? lengths_ : std::vector<std::int64_t>());
  if (options_.drop_last)
    std::erase_if(batches,
                  [&](const ItemIndices& b) { return std::ssize(b) < options_.batch_size; });
  return batches;
}

Generator BatchPlan::generator(const DataPosition& position) const {
  return rng_.split(static_cast<std::uint64_t>(position.epoch))
      .split(static_cast<std::uint64_t>(position.batch));
}

void BatchPlan::check(const DataPosition& position) const {
  LADON_CHECK(position.epoch >= 0 && position.epoch < last_epoch, "loader", "there is no epoch ",
              position.epoch, "; epochs are numbered from 0");
  LADON_CHECK(position.batch >= 0 && position.batch < size_, "loader", "there is no batch ",
              position.batch, " of epoch ", position.epoch, "; an epoch has batches 0 to ",
              size_ - 1);
}

StateDict BatchPlan::state(const DataPosition& position) const {
  return {{"epoch", detail::state_of(position.epoch)},
          {"batch", detail::state_of(position.batch)},
          {"items", detail::state_of(items_)},
          {"batches", detail::state_of(size_)},
          {"batch_size", detail::state_of(options_.batch_size)},
          {"order", detail::state_of(order_of(options_))},
          {"generator", detail::state_of(rng_)}};
}

DataPosition BatchPlan::restore(const StateDict& state) {
  detail::StateReader reader(state);
  const DataPosition position{reader.count("epoch"), reader.count("batch")};
  const std::int64_t items = reader.count("items"), batches = reader.count("batches"),
                     batch_size = reader.count("batch_size"), order = reader.count("order");
  const Generator rng = reader.generator("generator");
  reader.finish("this loader");
  LADON_CHECK(items == items_ && batches == size_ && batch_size == options_.batch_size,
              "load_state_dict", "the state has ", items, " items in ", batches, " batches of ",
              batch_size, ", but must agree with this loader, which has ", items_, " items in ",
              size_, " batches of ", options_.batch_size);
  constexpr const char* orders[] = {"the items' order", "a random order",
                                    "a random order by length"};
  LADON_CHECK(order == order_of(options_), "load_state_dict", "the state is of batches in ",
              order >= 0 && order < 3 ? orders[order] : "an unknown order",
              ", but this loader has ", orders[order_of(options_)],
              "; make it with the same LoaderOptions");
  check(position);
  rng_ = rng;
  return position;
}

Loader<std::vector<Tensor>> tensor_loader(const std::vector<Tensor>& tensors,
                                          const LoaderOptions& options, Generator& rng) {
  LADON_CHECK(!tensors.empty(), "tensor_loader", "needs at least one tensor");
  std::vector<Tensor> plain;
  for (const Tensor& x : tensors) {
    LADON_CHECK(x.defined() && x.rank() >= 1, "tensor_loader", "tensor ", plain.size(),
                x.defined() ? " has rank 0, but needs a first axis of items" : " is undefined");
    LADON_CHECK(x.size(0) == tensors[0].size(0), "tensor_loader", "tensor ", plain.size(),
                " has shape ", x.shape(), ", and tensor 0 has shape ", tensors[0].shape(),
                "; their first sizes must be equal");
    plain.push_back(x.detach());
  }
  return {BatchPlan(tensors[0].size(0), options, rng),
          [plain](const ItemIndices& items, Generator&) {
            const Tensor rows = from_vector(items, {std::ssize(items)});
            std::vector<Tensor> batch;
            for (const Tensor& x : plain) batch.push_back(kernels::take_rows(x, 0, rows));
            return batch;
          }};
}

}  // namespace ladon
