#include "ladon/core/data/passes.h"

#include <algorithm>
#include <vector>

#include "ladon/core/error.h"

namespace ladon {

Passes::Passes(std::int64_t count, std::int64_t batch_size, const Generator& rng)
    : count_(count), batch_size_(batch_size), rng_(rng) {
  LADON_CHECK(count >= 1 && batch_size >= 1, "passes", "count and batch_size are ", count, " and ",
              batch_size, "; they must be at least 1");
}

Tensor Passes::next() {
  if (!order_.defined()) {
    Generator rng = rng_.split(static_cast<std::uint64_t>(pass_));
    order_ = permutation(count_, rng);
  }
  const std::int64_t from = position_ * batch_size_, rows = std::min(batch_size_, count_ - from);
  const std::int64_t* first = order_.data<std::int64_t>() + from;
  const Tensor batch = from_vector(std::vector(first, first + rows), {rows});
  if (++position_ == size()) {
    position_ = 0;
    ++pass_;
    order_ = Tensor();
  }
  return batch;
}

StateDict Passes::state_dict() const {
  return {{"pass", detail::state_of(pass_)},
          {"position", detail::state_of(position_)},
          {"count", detail::state_of(count_)},
          {"batch_size", detail::state_of(batch_size_)},
          {"generator", detail::state_of(rng_)}};
}

void Passes::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const std::int64_t pass = reader.count("pass"), position = reader.count("position");
  const std::int64_t count = reader.count("count"), batch_size = reader.count("batch_size");
  const Generator rng = reader.generator("generator");
  reader.finish("this walk");
  LADON_CHECK(count == count_ && batch_size == batch_size_, "load_state_dict", "the state walks ",
              count, " items in batches of ", batch_size, ", this walk ", count_, " in batches of ",
              batch_size_);
  LADON_CHECK(position < size(), "load_state_dict", "\"position\" is ", position, "; a pass has ",
              size(), " batches");
  rng_ = rng;
  pass_ = pass;
  position_ = position;
  order_ = Tensor();
}

}  // namespace ladon
