#include "ladon/layers/infinite/kernel/pass_scope.h"

#include <time.h>

namespace ladon::infinite {
namespace {

thread_local const PassScope* youngest = nullptr;

}  // namespace

PassScope::PassScope(KeptDraws& kept, const PassOptions& options)
    : Scoped(youngest, this), kept_(kept), options_(options) {}

KeptDraws* PassScope::kept() {
  const detail::Modes::Watchers& watchers = detail::modes.watchers;
  return youngest && !watchers.recorder && !watchers.player ? &youngest->kept_ : nullptr;
}

PassOptions PassScope::options() { return youngest ? youngest->options_ : PassOptions(); }

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace ladon::infinite
