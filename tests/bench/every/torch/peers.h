#pragma once
// LibTorch's operations by the names of the entries.

#include <functional>
#include <string>
#include <vector>

#include "../../compare/both.h"

namespace ladon::bench::every {

using P = std::vector<at::Tensor>;

struct PeerResults : P {
  PeerResults(const at::Tensor& y) : P{y} {}                   // NOLINT: implicit
  PeerResults(P several) : P(std::move(several)) {}            // NOLINT: implicit
  PeerResults(const std::tuple<at::Tensor, at::Tensor>& pair)  // NOLINT: implicit
      : P{std::get<0>(pair), std::get<1>(pair)} {}
};
using PeerFunction = std::function<PeerResults(const P&)>;

class PeerTable {
 public:
  void add(const std::string& name, PeerFunction apply);
  /// One whose function is made for the row's inputs: it has a state.
  void add_made(const std::string& name, std::function<PeerFunction(const P&)> make);
  /// Nothing where the list has no such name.
  PeerFunction find(const std::string& name, const P& inputs) const;

 private:
  std::map<std::string, std::function<PeerFunction(const P&)>> entries_;
};

void add_pointwise(PeerTable& t);
void add_reductions(PeerTable& t);
void add_shapes(PeerTable& t);
void add_products(PeerTable& t);
void add_losses(PeerTable& t);
void add_windows(PeerTable& t);
void add_layers(PeerTable& t);
void add_optimizers(PeerTable& t);

/// Channels first: a view of an image whose memory has them last, and back.
inline at::Tensor first(const at::Tensor& x) { return x.permute({0, 3, 1, 2}); }
inline at::Tensor last(const at::Tensor& x) { return x.permute({0, 2, 3, 1}); }

}  // namespace ladon::bench::every
