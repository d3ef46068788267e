#include "ladon/autograd/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/inner_graph.h"
#include "ladon/autograd/reads.h"
#include "ladon/autograd/record.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/fingerprint.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"
#include "ladon/core/random.h"

namespace ladon {

using detail::alias;
using detail::as_leaf;
using detail::captured_by;

namespace {

/// Summary of a tensor, to distinguish a difference by rounding from a larger one: 64 sums of its
/// elements, and 64 of their absolute values; sum k is over the elements k, k + 64, k + 128, ….
struct Outline {
  static constexpr std::int64_t width = 64;

  explicit Outline(const Tensor& x) : dtype(x.dtype()) {
    const Tensor row = kernels::contiguous(mapped::show(x.detach()));
    shape = row.shape();
    const Tensor numbers = kernels::cast(row, f64);
    const double* from = numbers.data<double>();
    for (std::int64_t i = 0; i < numbers.count(); i += width)
      for (std::int64_t k = 0; k < std::min(width, numbers.count() - i); ++k) {
        sums[k] += from[i + k];
        sizes[k] += std::abs(from[i + k]);
      }
  }
  /// Whether the tensors have equal shapes and dtypes, and sums that agree to half of the digits of
  /// the dtype. A sum that is not finite agrees with every sum that is not finite.
  bool agrees(const Outline& other) const {
    if (shape != other.shape || dtype != other.dtype) return false;
    const double rounding = dtype == f64 ? std::numeric_limits<double>::epsilon()
                                         : std::numeric_limits<float>::epsilon();
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double size = std::max(sizes[k], other.sizes[k]);
      const bool both = std::isfinite(sizes[k]) && std::isfinite(other.sizes[k]);
      if (both ? std::abs(sums[k] - other.sums[k]) > std::sqrt(rounding) * size
               : std::isfinite(sizes[k]) || std::isfinite(other.sizes[k]))
        return false;
    }
    return true;
  }

  DType dtype;
  Shape shape;
  std::array<double, width> sums{}, sizes{};
};

/// State that checkpoint() keeps from the first run of f, to compare with the second run.
struct FirstRun {
  std::uint64_t first;  ///< Nodes numbered from `first` on belong to the run.
  detail::DrawTape tape = {};
  std::vector<detail::Read> reads = {};
  std::vector<Tensor> captured = {};  ///< Tensors that f captured (captured_by()).
  std::uint64_t output = 0;           ///< Fingerprint of the output.
  std::optional<Outline> outline = {};
  std::vector<bool> trained = {};  ///< Per input: whether it required a gradient.
  bool rowwise = detail::modes.rowwise, composing = detail::modes.composing;
  mapped::Levels levels = mapped::running();  ///< Levels of the vmaps around the run.

  /// f(inputs) with the modes and the random draws of the first run.
  Tensor run_again(const TensorFunction& f, const std::vector<Tensor>& inputs) const {
    const mapped::Scope scope(levels);
    const detail::Scoped as_rowwise(detail::modes.rowwise, rowwise);
    const detail::Scoped as_composing(detail::modes.composing, composing);
    detail::ReplayDraws replay("checkpoint", tape);
    const Tensor y = f(inputs);
    replay.finish();
    return y;
  }
  /// Throws Error if a tensor that f read was edited since.
  void check_unedited() const {
    for (const detail::Read& read : reads) static_cast<void>(*read.tensor);
  }
  /// Whether the same tensors as in the first run require gradients. If not, f may compute fast
  /// forms instead of composed ones or vice versa (forms.h), which round differently.
  bool trains_the_same(const std::vector<Saved>& inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]->requires_grad() != trained[i]) return false;
    return std::all_of(reads.begin(), reads.end(), [](const detail::Read& read) {
      return read.tensor->requires_grad() == read.trained;
    });
  }
  /// Whether x is a leaf that was frozen in the first run, and is trained now.
  bool thawed(const Tensor& x) const {
    return std::any_of(reads.begin(), reads.end(), [&](const detail::Read& read) {
      return !read.trained && read.tensor->history() == x.history();
    });
  }
  /// Throws Error if the second run (with these inputs, output `again`, and nodes numbered from
  /// `second` on) depends on more or fewer tensors than the first run, except those frozen or
  /// unfrozen in between, or if its output differs from that of the first run: in any bit if
  /// `comparable`, else by more than rounding.
  void check_same(const Tensor& again, const std::vector<Tensor>& inputs, std::uint64_t second,
                  bool comparable) const {
    const std::vector<Tensor> found = captured_by(again, inputs, second);
    const auto among = [](const std::vector<Tensor>& all, const Tensor& x) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Tensor& c) { return c.history() == x.history(); });
    };
    for (const Tensor& x : found) {
      const bool known = among(captured, x) || thawed(x);
      LADON_CHECK(
          known || x.history()->number() >= second, "checkpoint",
          "backward runs the function again, and it now depends on a tensor of shape ",
          x.history()->shape(),
          " that it did not use the first time; do not replace captured tensors before backward");
    }
    for (const Tensor& x : captured)
      LADON_CHECK(
          among(found, x) || x.history()->frozen() || x.history()->number() >= first, "checkpoint",
          "backward runs the function again, and it no longer depends on a tensor of shape ",
          x.history()->shape(),
          " that it used the first time, which would get no gradient: the scope that inserted this "
          "tensor (functional_call, HeadMask, set_hyperparameter) has ended; run backward before "
          "the scope ends, or open the scope inside the function");
    LADON_CHECK(comparable ? detail::fingerprint(again) == output : outline->agrees(Outline(again)),
                "checkpoint", "backward runs the function again, and its output (shape ",
                again.shape(),
                ") differs from the first run; the function must depend only on its inputs and "
                "captured tensors, which must not change before backward");
  }
};

}  // namespace

Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  LADON_CHECK(f, "checkpoint", "the function is empty; pass one that maps the inputs to a tensor");
  if (!grad_enabled()) return f(inputs);
  const std::uint64_t first = as_leaf(empty({})).history()->number();
  std::vector<Tensor> leaves, sources = inputs;
  for (const Tensor& x : inputs) leaves.push_back(x.requires_grad() ? as_leaf(x) : x);
  FirstRun before{.first = first};
  detail::RecordReads reads(first);
  Tensor output;
  {
    const detail::RecordDraws recording(before.tape);
    output = f(leaves);  // recorded to find what f captures; this graph is freed below
  }
  const bool dual = std::any_of(inputs.begin(), inputs.end(),
                                [](const Tensor& x) { return detail::visible(x) != nullptr; });
  if (dual || detail::visible(output))  // forward mode stores nothing that could be saved
    return before.run_again(f, inputs);
  before.captured = captured_by(output, leaves, first);
  sources.insert(sources.end(), before.captured.begin(), before.captured.end());
  const Tensor value = output.detach();
  output = Tensor();
  before.reads = reads.found();
  before.output = detail::fingerprint(value);
  before.outline = Outline(value);
  for (const Tensor& x : inputs) before.trained.push_back(x.requires_grad());
  const std::vector<Saved> kept(inputs.begin(), inputs.end());

  return record_joint(
      "checkpoint", value, sources,
      [f, kept, before = std::move(before)](const Tensor& g, detail::GradientSink& sink) {
        const bool higher = grad_enabled();
        const EnableGrad enable_grad;
        before.check_unedited();
        const bool comparable = before.trains_the_same(kept);
        std::vector<Tensor> again, targets;
        for (const Saved& x : kept)
          again.push_back(!x->requires_grad() ? *x : higher ? alias(x) : as_leaf(x));
        targets = again;
        targets.insert(targets.end(), before.captured.begin(), before.captured.end());
        const std::uint64_t second = as_leaf(empty({})).history()->number();
        const Tensor repeated = before.run_again(f, again);
        before.check_same(repeated, again, second, comparable);
        const std::vector<Tensor> gradients = detail::grad_up_to(targets, repeated, g, higher);
        for (std::size_t i = 0; i < targets.size(); ++i) sink.give(i, gradients[i]);
      });
}

}  // namespace ladon
