#pragma once
// One thing that is made beside what the program does.

#include <future>
#include <utility>

#include "ladon/core/parallel.h"

namespace ladon::parallel {

/// make() on a thread of its own, while this one goes on; at one thread (set_num_threads), when it
/// is asked for. The result, or what was thrown, is the future's, whose destructor waits.
template <class Make>
auto in_background(Make make) {
  // With both policies it is also made when asked for if no thread can be started.
  constexpr auto soon = std::launch::async | std::launch::deferred;
  return std::async(num_threads() > 1 ? soon : std::launch::deferred, std::move(make));
}

}  // namespace ladon::parallel
