#include "ladon/autograd/leaf.h"

#include <unordered_set>
#include <utility>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Tensor Leaf::gradient() const {
  const std::lock_guard lock(mutex_);
  return gradient_;
}

// Clipping, for instance, writes to gradients in place, so a gradient is copied if its memory has
// another owner or if several elements share memory. (Setting the present gradient again copies
// nothing.)
void Leaf::set_gradient(Tensor g) {
  if (g.defined()) {
    const bool same = gradient().storage() == g.storage();
    const bool own = !g.storage().borrowed() && g.storage().owners() <= (same ? 2 : 1);
    if (!own || !g.contiguous()) g = clone(g);
  }
  const std::lock_guard lock(mutex_);
  std::swap(gradient_, g);  // the old gradient is freed after the lock is released
  rewrite_.reset();
  used_ = false;
}

// The sum is computed outside the lock: a thread that finds a stored gradient removes it, adds its
// own gradient, and tries again to store the sum. Therefore no thread holds the lock during
// arithmetic.
//
// The first gradient is stored without a copy if its memory has no other owner, else copied, so
// that editing one leaf's gradient in place never changes the gradient of another leaf, nor a
// tensor of the caller.
void Leaf::accumulate(Tensor g, bool create_graph) {
  check_accumulates(g);
  const auto own = [&](const Tensor& x) {
    if (create_graph) return clone(x);
    return x.storage().exclusive() && x.contiguous() ? x.detach() : kernels::clone(x);
  };
  for (bool first = true;; first = false) {
    Tensor other;
    {
      const std::lock_guard lock(mutex_);
      if (!gradient_.defined() && !first) {
        gradient_ = std::move(g);
        return;
      }
      other = std::exchange(gradient_, Tensor());
    }
    if (!other.defined())
      g = own(g);
    else
      g = create_graph ? add(other, g) : kernels::binary(kernels::Binary::add, other, g);
  }
}

void Leaf::check_accumulates(const Tensor& g) const {
  check_own_gradient("backward");
  LADON_CHECK(g.levels() == levels(), "backward", "the gradient of a leaf of shape ", shape(),
              " differs between the ", g.examples(),
              " examples of vmap, but backward() can store only one gradient; take it by grad(), "
              "which returns one gradient per example");
}

void Leaf::check_own_gradient(const char* operation) const {
  const std::lock_guard lock(mutex_);
  LADON_CHECK(!rewrite_, operation, "the gradient of a leaf of shape ", shape(),
              " was rewritten by ", rewrite_->by,
              ", so no other gradient can be added to it; call zero_grad() first");
}

void Leaf::set_rewrite(Rewrite rewrite) {
  check_own_gradient(rewrite.by.c_str());
  const std::lock_guard lock(mutex_);
  rewrite_ = std::make_unique<Rewrite>(std::move(rewrite));
}

Rewrite Leaf::rewrite() const {
  const std::lock_guard lock(mutex_);
  return rewrite_ ? *rewrite_ : Rewrite();
}

bool Leaf::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::function<void(double rate)> Leaf::use() {
  const std::lock_guard lock(mutex_);
  used_ = true;
  return rewrite_ ? std::exchange(rewrite_->at_step, {}) : nullptr;
}

namespace {
std::atomic<std::uint64_t> replaced{0};
}

std::uint64_t replacements() { return replaced.load(std::memory_order_relaxed); }

void Leaf::replace(std::string by) {
  replaced_by_ = std::move(by);
  replaced_at_ = replaced.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Leaf::check_in_place(const char* operation, std::uint64_t taken) const {
  LADON_CHECK(replaced_by_.empty() || replaced_at_ <= taken, operation, "a parameter of shape ",
              shape(), " (", dtype(), ") was replaced by ", replaced_by_,
              " after the optimizer or the particles were constructed; construct them again");
}

void Leaf::check_own_value(const char* operation) const {
  LADON_CHECK(lent_to_.empty(), operation, "a parameter of shape ", shape(),
              " temporarily holds the value of ", lent_to_,
              ", and a write now would be lost when that scope ends; end the scope first");
}

std::vector<LeafUse> leaves_of(const Tensor& output) {
  std::unordered_set<const detail::Node*> seen;
  std::vector<LeafUse> leaves, stack{{output.history(), ""}};
  while (!stack.empty()) {
    const LeafUse at = std::move(stack.back());
    stack.pop_back();
    if (!at.leaf || !seen.insert(at.leaf.get()).second) continue;
    for (const auto& input : at.leaf->inputs()) stack.push_back({input, at.leaf->operation()});
    if (dynamic_cast<const Leaf*>(at.leaf.get())) leaves.push_back(at);
  }
  return leaves;
}

// --- members of Tensor that need its history ---

bool Tensor::requires_grad() const { return history_ && !history_->frozen(); }

Tensor& Tensor::set_requires_grad(bool on) {
  LADON_CHECK(defined(), "set_requires_grad", "the tensor is undefined; assign it a value first");
  LADON_CHECK(is_floating(dtype_), "set_requires_grad",
              "only floating-point tensors have gradients, got ", dtype_);
  LADON_CHECK(!history_ || Leaf::of(*this), "set_requires_grad", "the tensor is the result of `",
              history_->operation(),
              "`, but only leaves can be switched; switch its leaves, or a detached copy: "
              "x.detach()");
  if (Leaf* leaf = Leaf::of(*this))
    leaf->freeze(!on);
  else if (on)
    history_ = std::make_shared<Leaf>(*this);
  return *this;
}

Tensor Tensor::grad() const {
  const Leaf* leaf = Leaf::of(*this);
  return leaf ? leaf->gradient() : Tensor();
}

void Tensor::set_grad(Tensor g) {
  Leaf* leaf = Leaf::of(*this);
  LADON_CHECK(leaf, "set_grad",
              "the tensor is not a leaf, and only leaves store a gradient; call "
              "set_requires_grad() on a tensor without history first");
  LADON_CHECK(!g.defined() || (g.shape() == shape_ && g.dtype() == dtype_), "set_grad",
              "the gradient must have the dtype and shape of the tensor, but it is ", g.dtype(),
              " of shape ", g.shape(), ", and the tensor is ", dtype_, " of shape ", shape_);
  leaf->set_gradient(std::move(g));
}

Tensor Tensor::detach() const {
  Tensor x = *this;
  x.history_ = nullptr;
  x.tangent_ = nullptr;
  return x;
}

}  // namespace ladon
