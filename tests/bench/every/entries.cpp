#include "entries.h"

namespace ladon::bench::every {

const std::vector<Entry>& every_entry() {
  static const std::vector<Entry> all = [] {
    Table t;
    for (const auto add : {add_pointwise, add_comparisons, add_reductions, add_shapes, add_indices,
                           add_products, add_linear_algebra, add_losses, add_norms, add_windows,
                           add_attention, add_recurrences, add_layers, add_transformers,
                           add_optimizers, add_samplers, add_particles, add_limits, add_posteriors})
      add(t);
    return t.entries();
  }();
  return all;
}

}  // namespace ladon::bench::every
