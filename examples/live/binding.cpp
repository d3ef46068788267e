// The layer in JavaScript: `new module.LiveLayer()`. Numbers are passed as arrays; an Error of the
// library becomes a JavaScript Error.

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <exception>

#include "ladon/examples/live/live_layer.h"

namespace ladon::example {
namespace {

using emscripten::val;
using Numbers = std::vector<double>;

/// Converts an argument from JavaScript to a C++ parameter.
template <class T>
struct Parameter {
  using Given = T;
  static T of(T given) { return given; }
};
template <>
struct Parameter<const Numbers&> {
  using Given = val;
  static Numbers of(const val& given) {
    return emscripten::convertJSArrayToNumberVector<double>(given);
  }
};

val answer(const Numbers& values) { return val::array(values); }
val answer(const LiveBand& band) {
  val made = val::object();
  made.set("mean", answer(band.mean));
  made.set("sd", answer(band.sd));
  return made;
}

/// Wraps a method as a JavaScript function.
template <auto method, class R, class... A>
auto wrapped() {
  return emscripten::optional_override([](LiveLayer& layer, typename Parameter<A>::Given... given) {
    try {
      if constexpr (std::is_void_v<R>)
        (layer.*method)(Parameter<A>::of(given)...);
      else
        return answer((layer.*method)(Parameter<A>::of(given)...));
    } catch (const std::exception& error) {
      val::global("Error").new_(std::string(error.what())).throw_();
    }
  });
}
template <auto method, class R, class... A>
auto wrapped(R (LiveLayer::*)(A...)) {
  return wrapped<method, R, A...>();
}
template <auto method, class R, class... A>
auto wrapped(R (LiveLayer::*)(A...) const) {
  return wrapped<method, R, A...>();
}
template <auto method>
auto wrapped() {
  return wrapped<method>(method);
}

EMSCRIPTEN_BINDINGS(ladon) {
  emscripten::class_<LiveLayer>("LiveLayer")
      .constructor<>()
      .function("training", wrapped<&LiveLayer::training>())
      .function("places", wrapped<&LiveLayer::places>())
      .function("targets", wrapped<&LiveLayer::targets>())
      .function("limit", wrapped<&LiveLayer::limit>())
      .function("networks", wrapped<&LiveLayer::networks>())
      .function("posterior", wrapped<&LiveLayer::posterior>())
      .function("begin", wrapped<&LiveLayer::begin>())
      .function("step", wrapped<&LiveLayer::step>());
}

}  // namespace
}  // namespace ladon::example
