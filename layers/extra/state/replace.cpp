#include "ladon/layers/extra/state/replace.h"

#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

struct Place {
  std::string path;
  Owned<Layer>* layer;
  bool training;  ///< Mode of the layer or, if there is none, of the module around it.
};

std::vector<Place> places_in(Module& model) {
  std::vector<Place> places;
  detail::for_each_place(model, [&](const std::string& path, Owned<Layer>& layer, bool training) {
    places.push_back({path, &layer, layer ? layer->training() : training});
  });
  return places;
}

[[noreturn]] void fail_without(const Module& model, const std::string& path,
                               const std::vector<Place>& places) {
  std::string known;
  for (std::size_t i = 0; i < places.size() && i < 6; ++i)
    known += (i == 0 ? "" : ", ") + ("`" + places[i].path + "`");
  detail::fail("replace", model.describe(), " has no part `", path, "` that can be replaced; ",
               places.empty() ? "it has none" : "it has " + known,
               places.size() > 6 ? detail::join(" and ", places.size() - 6, " more") : "");
}

Owned<Layer> exchange(const Place& place, Owned<Layer> layer) {
  LADON_CHECK(layer, "replace", "there is no layer for `", place.path, "`; it must not be null");
  layer->train(place.training);
  return std::exchange(*place.layer, std::move(layer));
}

}  // namespace

Owned<Layer> replace(Module& model, const std::string& path, Owned<Layer> layer) {
  const std::vector<Place> places = places_in(model);
  const detail::Replacing replacing(model, "replace()");
  for (const Place& place : places)
    if (place.path == path) return exchange(place, std::move(layer));
  fail_without(model, path, places);
}

std::vector<std::string> replace_each(Module& model, const std::string& pattern,
                                      const std::function<Owned<Layer>(Owned<Layer> part)>& make) {
  LADON_CHECK(static_cast<bool>(make), "replace_each",
              "the function that makes the new layers must not be empty");
  std::vector<Place> taken, matched;
  for (Place& place : places_in(model))
    if (*place.layer) taken.push_back(std::move(place));
  std::vector<std::string> paths;
  for (const Place& place : taken)
    if (matches_name(pattern, place.path)) {
      matched.push_back(place);
      paths.push_back(place.path);
    }
  if (matched.empty()) fail_without(model, pattern, taken);
  const detail::Replacing replacing(model, "replace_each()");
  // Replaced layers are kept until the end, since inner parts that are also replaced are their
  // members.
  std::vector<Owned<Layer>> before(matched.size());
  std::size_t next = matched.size();
  try {
    for (; next > 0; --next) {
      const Place& place = matched[next - 1];
      before[next - 1] = exchange(place, make(*place.layer));
    }
  } catch (...) {
    for (; next < matched.size(); ++next) std::swap(*matched[next].layer, before[next]);
    throw;
  }
  return paths;
}

}  // namespace ladon
