#pragma once
// LibTorch's operations, by the names of the entries in the table of Ladon's operations.

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
  /// Adds an operation whose function has a state, and so is made anew for the inputs of each row.
  void add_made(const std::string& name, std::function<PeerFunction(const P&)> make);
  /// The function of this name for these inputs; null if there is none.
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

/// Views of images: [N, H, W, C] as [N, C, H, W] (channels first), and back.
inline at::Tensor first(const at::Tensor& x) { return x.permute({0, 3, 1, 2}); }
inline at::Tensor last(const at::Tensor& x) { return x.permute({0, 2, 3, 1}); }

}  // namespace ladon::bench::every
