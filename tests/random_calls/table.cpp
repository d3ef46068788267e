#include "table.h"

namespace ladon::test {

const CallTable& call_table() {
  static const CallTable all = [] {
    CallTable table;
    add_pointwise_calls(table);
    add_reduce_calls(table);
    add_shape_calls(table);
    add_index_calls(table);
    add_product_calls(table);
    add_window_calls(table);
    add_tensor_calls(table);
    add_random_calls(table);
    add_graph_calls(table);
    add_layer_calls(table);
    add_attention_calls(table);
    add_module_calls(table);
    add_optim_calls(table);
    add_sampler_calls(table);
    add_posterior_calls(table);
    add_infinite_calls(table);
    add_diagnostic_calls(table);
    add_data_calls(table);
    add_distribution_calls(table);
    return table;
  }();
  return all;
}

}  // namespace ladon::test
