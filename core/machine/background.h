#pragma once
// One thing at a time that is made beside what the program does.

#include <cstdint>
#include <future>
#include <utility>

#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"

namespace ladon::parallel {

/// make() on a thread of its own, while this one goes on; at one thread (set_num_threads), when it
/// is asked for. Under the modes of this call: NoGrad holds there too. The result, or what was
/// thrown, is the future's, whose destructor waits.
template <class Make>
auto in_background(Make make) {
  // Both policies: if no thread can be started, the result is made when it is asked for.
  constexpr auto soon = std::launch::async | std::launch::deferred;
  return std::async(num_threads() > 1 ? soon : std::launch::deferred,
                    [make = std::move(make), modes = detail::modes.of_task(),
                     levels = mapped::running()]() mutable {
                      const detail::Bracket scope(detail::modes, modes);
                      const mapped::Scope own(levels);  // the caller's may have ended
                      return make();
                    });
}

/// use(i, make(i)) for i = 0 … n − 1 in this order, on this thread, while make(i + 1) runs beside
/// it; two results at most exist at a time. What use() changes, make() must not read.
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
