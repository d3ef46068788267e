#include "ladon/layers/extra/tiles/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {
namespace {

void add(detail::Checksum& hash, const Tensor& x) {
  if (!x.defined()) return;
  hash.add(detail::join(x.dtype(), x.shape()));
  const Tensor all = contiguous(x);
  hash.add(all.strided_bytes(), static_cast<std::size_t>(all.count()) * item_size(x.dtype()));
}

std::string hash_of(const Inputs& in) {
  detail::Checksum hash;
  add(hash, in.x);
  // A mask that hides nothing means the same as none.
  if (in.mask.defined() && !all(in.mask).item<bool>()) add(hash, in.mask);
  return hash.text();
}

/// Hash of the model's description. Options that the description does not mention change
/// hash_of_kernels().
std::string hash_of(const Layer& model) {
  // Listing its members does not change a model, though visit() would allow it.
  Layer& listed = const_cast<Layer&>(model);
  detail::Checksum hash;
  hash.add(listed.summary());
  for (const auto& [name, value] : listed.hyperparameters()) {
    hash.add(name);
    add(hash, value);
  }
  return hash.text();
}

/// Hash of the kernels of the first two inputs.
std::string hash_of_kernels(const GramPlan& plan) {
  if (plan.passes.empty()) return "none";  // no inputs
  const GramTile first{0, 0, std::min<std::int64_t>(2, plan.a.count()),
                       std::min<std::int64_t>(2, plan.b.count())};
  const Kernel k = gram_tile(of_first(plan, first.rows, first.columns), first, 0);
  detail::Checksum hash;
  for (const Tensor* x : {&k.nngp, &k.ntk}) add(hash, *x);
  return hash.text();
}

constexpr const char* title = "Ladon Gram matrix 1";

}  // namespace

detail::Manifest manifest_of(const Limit& limit, const GramPlan& plan, Get get) {
  return {{{"inputs", hash_of(plan.a)},
           {"other inputs", plan.symmetric ? "the same" : hash_of(plan.b)},
           {"model", hash_of(limit.model())},
           {"kernels of the first inputs", hash_of_kernels(plan)},
           {"wanted", get == Get::ntk ? "ntk" : "nngp"},
           {"replicates", detail::join(plan.replicates, " from ", limit.replicate())}}};
}

GramCheckpoint::GramCheckpoint(const Limit& limit, const GramPlan& plan, const GramOptions& options)
    : plan_(plan), folder_("gram", title, options.checkpoint) {
  detail::Manifest wanted = manifest_of(limit, plan, options.get);
  wanted.entries.emplace_back("tile", detail::join(plan.estimate.tile));
  const detail::Manifest& stored = folder_.stored();
  part_tiles_ = stored.number("tiles a part");
  if (stored.entries.empty()) {
    const double seconds =
        std::max(plan.estimate.seconds, 1e-6) / static_cast<double>(plan.estimate.tiles);
    const double tiles = options.checkpoint_seconds / seconds;
    part_tiles_ = static_cast<std::int64_t>(
        std::clamp(tiles, options.checkpoint_seconds > 0 ? num_threads() : 1.0, 1e8));
    // Ranks may have measured different times.
    ranks::broadcast(std::as_writable_bytes(std::span(&part_tiles_, 1)), 0);
  }
  LADON_CHECK(part_tiles_ > 0, "gram", (folder_.path() / "manifest.txt").string(),
              ": \"tiles a part\" is not a number: ", stored.value("tiles a part"));
  wanted.entries.emplace_back("tiles a part", detail::join(part_tiles_));
  folder_.begin(wanted);
}

std::int64_t GramCheckpoint::stored_tile(const std::string& folder) {
  return detail::PartFolder::manifest("gram", title, folder).number("tile");
}

std::int64_t GramCheckpoint::first_of(std::int64_t part) const {
  return std::min(plan_.tiles.count(), part * part_tiles_);
}

template <class F>
void GramCheckpoint::for_each(std::int64_t part, const Gram& result, const F& f) const {
  for (std::int64_t i = first_of(part); i < first_of(part + 1); ++i)
    for_each_row(result, plan_.tiles[i], [&](double* row, std::int64_t length) {
      f(row, sizeof(double) * static_cast<std::size_t>(length));
    });
}

std::uint64_t GramCheckpoint::payload_of(std::int64_t part, const Gram& result) const {
  std::uint64_t all = 0;
  for_each(part, result, [&](const double*, std::size_t bytes) { all += bytes; });
  return all;
}

bool GramCheckpoint::read(std::int64_t part, Gram& result) const {
  return folder_.read(part, payload_of(part, result), [&](detail::PartReader& reader) {
    for_each(part, result, [&](double* row, std::size_t bytes) { reader.read(row, bytes); });
  });
}

void GramCheckpoint::write(std::int64_t part, const Gram& result) const {
  folder_.write(part, payload_of(part, result), [&](detail::PartWriter& writer) {
    for_each(part, result, [&](const double* row, std::size_t bytes) { writer.write(row, bytes); });
  });
}

}  // namespace ladon::infinite
