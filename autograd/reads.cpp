#include "ladon/autograd/reads.h"

#include <algorithm>

namespace ladon::detail {

void RecordReads::note(const Tensor& x) {
  if (before()) before()->note(x);
  if (!x.defined() || x.storage().size() == 0) return;
  const auto& node = x.history();
  const bool leaf = node && node->inputs().empty();
  if (node && !leaf && node->number() >= first_) return;
  entries_.try_emplace(x.storage().bytes(), Entry{leaf ? x : x.detach(), x.storage().version(),
                                                  leaf && x.requires_grad()});
  if (entries_.size() < room_) return;
  forget_own();
  room_ = std::max<std::size_t>(32, 2 * entries_.size());
}

/// Removes entries whose storage has no other owner: the computation made them, and no longer uses
/// them.
void RecordReads::forget_own() {
  std::erase_if(entries_,
                [](const auto& entry) { return entry.second.tensor.storage().owners() == 1; });
}

std::vector<Read> RecordReads::found() {
  forget_own();
  std::vector<Read> reads;
  for (const auto& [bytes, entry] : entries_)
    if (entry.tensor.storage().version() == entry.version)
      reads.push_back({Saved(entry.tensor), entry.trained});
  return reads;
}

}  // namespace ladon::detail
