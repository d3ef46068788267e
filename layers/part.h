#pragma once
// Parts of a block: made as layers of one kind, replaceable by any other layer (replace.h).

#include <type_traits>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/layers/layer.h"

namespace ladon {

/// A layer that was made as a Kind. While it is one, its members are accessible:
/// layer.attention->query.
template <class Kind>
class Part {
 public:
  Part() = default;  ///< Absent.
  Part(Kind made) : place_(std::move(made)) {}

  explicit operator bool() const { return static_cast<bool>(place_); }
  /// The layer, of whatever kind. Throws Error if the part is absent.
  const Layer& layer() const {
    LADON_CHECK(place_, "Part", "the block was made without this part");
    return *place_;
  }
  Layer& layer() { return const_cast<Layer&>(std::as_const(*this).layer()); }
  /// Calls the layer: any layer with x, (x, mask) or a node of a limit, a Kind also with its other
  /// arguments. Throws Error if a layer of another kind gets those.
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) const {
    if constexpr (std::is_invocable_v<const Layer&, Arguments...>)
      return layer()(std::forward<Arguments>(arguments)...);
    else
      return checked(*this)(std::forward<Arguments>(arguments)...);
  }
  /// Null if the part is absent or of another kind.
  const Kind* kind() const { return dynamic_cast<const Kind*>(place_.get()); }
  Kind* kind() { return dynamic_cast<Kind*>(place_.get()); }

  /// Throw Error if the part is absent or of another kind.
  const Kind& operator*() const { return checked(*this); }
  Kind& operator*() { return checked(*this); }
  const Kind* operator->() const { return &checked(*this); }
  Kind* operator->() { return &checked(*this); }
  operator const Kind&() const { return checked(*this); }
  operator Kind&() { return checked(*this); }

  /// For visit() and replace().
  Owned<Layer>& place() { return place_; }

 private:
  template <class Self>
  static auto& checked(Self& self) {
    LADON_CHECK(self.place_, "Part", "the block was made without this part");
    auto* part = self.kind();
    LADON_CHECK(part, "Part", "the part was replaced by ", self.place_->describe(),
                ", which does not have the members of the original; use layer() to reach it");
    return *part;
  }

  Owned<Layer> place_;
};

}  // namespace ladon
