#pragma once
// Part: member of a block that is created as a layer of a given type and may be replaced by any
// other layer (replace.h).

#include <type_traits>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/layers/layer.h"

namespace ladon {

/// Member that holds a layer created as a `Kind`; replace() may exchange it for a layer of any
/// type. While it is still a Kind, its members are accessible: block.attention->query.
template <class Kind>
class Part {
 public:
  Part() = default;  ///< An absent part.
  Part(Kind made) : place_(std::move(made)) {}

  explicit operator bool() const { return static_cast<bool>(place_); }
  /// The layer, of any type. Throws Error if the part is absent.
  const Layer& layer() const {
    LADON_CHECK(place_, "Part",
                "the block was made without this part; test it with `if (part)` first");
    return *place_;
  }
  Layer& layer() { return const_cast<Layer&>(std::as_const(*this).layer()); }
  /// Calls the layer. Any layer accepts x, (x, mask) or a KernelNode. Other arguments are those of
  /// Kind::operator(); they throw Error if a layer of another type has replaced the Kind.
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) const {
    if constexpr (std::is_invocable_v<const Layer&, Arguments...>)
      return layer()(std::forward<Arguments>(arguments)...);
    else
      return checked(*this)(std::forward<Arguments>(arguments)...);
  }
  /// The layer as a Kind; null if the part is absent or was replaced by a layer of another type.
  const Kind* kind() const { return dynamic_cast<const Kind*>(place_.get()); }
  Kind* kind() { return dynamic_cast<Kind*>(place_.get()); }

  /// The layer as a Kind. All of these throw Error if the part is absent or was replaced by a layer
  /// of another type.
  const Kind& operator*() const { return checked(*this); }
  Kind& operator*() { return checked(*this); }
  const Kind* operator->() const { return &checked(*this); }
  Kind* operator->() { return &checked(*this); }
  operator const Kind&() const { return checked(*this); }
  operator Kind&() { return checked(*this); }

  /// The member itself, for visit() and replace().
  Owned<Layer>& place() { return place_; }

 private:
  template <class Self>
  static auto& checked(Self& self) {
    LADON_CHECK(self.place_, "Part",
                "the block was made without this part; test it with `if (part)` first");
    auto* part = self.kind();
    LADON_CHECK(part, "Part", "the part was replaced by ", self.place_->describe(),
                ", which is not of the part's original type; reach it with layer()");
    return *part;
  }

  Owned<Layer> place_;
};

}  // namespace ladon
