#pragma once
// Background tasks: results that are computed while the program continues.

#include <cstdint>
#include <future>
#include <utility>

#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"

namespace ladon::parallel {

/// Returns a future of make(), which runs on another thread while this thread continues; if Ladon
/// uses one thread (set_num_threads), make() runs when the result is requested. It runs under the
/// modes of this call, such as NoGrad. The future holds the result or the exception, and its
/// destructor waits for make() if it is running.
template <class Make>
auto in_background(Make make) {
  // Both policies: if no thread can be started, make() runs when the result is requested.
  constexpr auto soon = std::launch::async | std::launch::deferred;
  return std::async(num_threads() > 1 ? soon : std::launch::deferred,
                    [make = std::move(make), modes = detail::modes.of_task(),
                     levels = mapped::running()]() mutable {
                      const detail::Bracket scope(detail::modes, modes);
                      const mapped::Scope own(levels);  // the caller's scope may have ended
                      return make();
                    });
}

/// Calls use(i, make(i)) for i = 0 … n − 1 in this order, on this thread, while make(i + 1) runs in
/// the background; at most two results exist at a time. make() must not read what use() changes.
template <class Make, class Use>
void one_ahead(std::int64_t n, const Make& make, const Use& use) {
  if (n <= 0) return;
  auto next = in_background([&make] { return make(0); });
  for (std::int64_t i = 0; i < n; ++i) {
    const auto made = next.get();
    if (i + 1 < n) next = in_background([&make, i] { return make(i + 1); });
    use(i, made);
  }
}

}  // namespace ladon::parallel
