#include "ladon/core/machine/parallel.h"

#include <cstdlib>

#include "ladon/core/error.h"
#include "ladon/core/modes.h"

namespace ladon {

void set_num_threads(int n) {
  constexpr int most = 1024;  // the same limit as with oneTBB
  LADON_CHECK(n >= 1 && n <= most, "set_num_threads", "needs from 1 to ", most, " threads, got ",
              n);
}

int num_threads() { return 1; }

namespace parallel {

void for_range(std::int64_t n, std::int64_t grain,
               const std::function<void(std::int64_t, std::int64_t)>& body) {
  detail::require(grain >= 1, "for_range needs a grain of at least 1");
  if (n <= 0) return;
  if (n <= grain) return body(0, n);
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t end = n - begin > grain ? begin + grain : n;
    const detail::Bracket scope(detail::modes, detail::modes.of_task());
    body(begin, end);
    begin = end;
  }
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void deallocate(void* memory) { std::free(memory); }

}  // namespace parallel
}  // namespace ladon
