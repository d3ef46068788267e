#pragma once
// The table of random calls: each row has a name, and a function that draws arguments and makes the
// call.
//
//   table.add("softmax", softmax, floating, axis);
//   table.add("arange", [](Draw& d) { return arange(d.number(), d.number(), d.number()); });
//
// The rows of a family are in `calls_<family>.cpp`; a test fails if a public function has no row.

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "draw.h"

namespace ladon::test {

struct CallRow {
  std::string name;  ///< Name as declared; one row per overload.
  std::function<Tensors(Draw&)> call;
  double weight = 1;  ///< Relative frequency of calls.
};

/// The tensors in the result of a call, which may be of any type.
inline Tensors tensors_of(Tensor x) { return {std::move(x)}; }
inline Tensors tensors_of(Tensors x) { return x; }
inline Tensors tensors_of(const ValuesAndIndices& x) { return {x.values, x.indices}; }
inline Tensors tensors_of(const AttentionResult& x) { return {x.output, x.weights}; }
inline Tensors tensors_of(const std::pair<Tensor, Tensor>& x) { return {x.first, x.second}; }
template <class T>
requires std::is_arithmetic_v<T> Tensors tensors_of(T) { return {}; }

class CallTable {
 public:
  /// Adds a row: `call` draws its arguments from a Draw& and makes the call.
  template <class F>
  requires std::is_invocable_v<F, Draw&>
  void add(std::string name, F call, double weight = 1) {
    rows_.push_back({std::move(name), [call](Draw& d) { return run(call, d); }, weight});
  }
  /// Adds a row that calls f with one argument per function of `draws`, drawn from left to right.
  template <class F, class... Draws>
  requires(sizeof...(Draws) > 0 && (std::is_invocable_v<Draws, Draw&> &&
                                    ...)) void add(std::string name, F f, Draws... draws) {
    add(std::move(name), [f, draws...](Draw& d) {
      std::tuple arguments{draws(d)...};  // braces: from left to right
      return std::apply(f, std::move(arguments));
    });
  }
  const std::vector<CallRow>& rows() const { return rows_; }

 private:
  template <class F, class... A>
  static Tensors run(const F& f, A&... arguments) {
    if constexpr (std::is_void_v<std::invoke_result_t<const F&, A&...>>) {
      f(arguments...);
      return {};
    } else {
      return tensors_of(f(arguments...));
    }
  }
  std::vector<CallRow> rows_;
};

// Functions that add the rows of one family.
void add_pointwise_calls(CallTable& table);
void add_reduce_calls(CallTable& table);
void add_shape_calls(CallTable& table);
void add_index_calls(CallTable& table);
void add_product_calls(CallTable& table);
void add_window_calls(CallTable& table);
void add_tensor_calls(CallTable& table);
void add_random_calls(CallTable& table);
void add_graph_calls(CallTable& table);
void add_layer_calls(CallTable& table);
void add_attention_calls(CallTable& table);
void add_module_calls(CallTable& table);
void add_optim_calls(CallTable& table);
void add_sampler_calls(CallTable& table);
void add_posterior_calls(CallTable& table);
void add_infinite_calls(CallTable& table);
void add_diagnostic_calls(CallTable& table);
void add_data_calls(CallTable& table);
void add_distribution_calls(CallTable& table);

/// The whole table.
const CallTable& call_table();

}  // namespace ladon::test
