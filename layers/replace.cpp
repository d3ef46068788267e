#include "ladon/layers/replace.h"

#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

using Place = std::pair<std::string, Owned<Layer>*>;

std::vector<Place> places_in(Module& model) {
  std::vector<Place> places;
  detail::for_each_place(model, [&](const std::string& path, Owned<Layer>& place) {
    places.emplace_back(path, &place);
  });
  return places;
}

[[noreturn]] void fail_without(const Module& model, const std::string& path,
                               const std::vector<Place>& places) {
  std::string known;
  for (std::size_t i = 0; i < places.size() && i < 6; ++i)
    known += (i == 0 ? "" : ", ") + ("`" + places[i].first + "`");
  detail::fail("replace", model.describe(), " has no part `", path, "` that can be replaced; ",
               places.empty() ? "it has none" : "it has " + known,
               places.size() > 6 ? detail::join(" and ", places.size() - 6, " more") : "");
}

Owned<Layer> exchange(Owned<Layer>& place, Owned<Layer> layer) {
  LADON_CHECK(layer, "replace", "there is no layer");
  if (place) layer->train(place->training());
  return std::exchange(place, std::move(layer));
}

}  // namespace

Owned<Layer> replace(Module& model, const std::string& path, Owned<Layer> layer) {
  const std::vector<Place> places = places_in(model);
  for (const auto& [name, place] : places)
    if (name == path) return exchange(*place, std::move(layer));
  fail_without(model, path, places);
}

std::vector<std::string> replace_each(Module& model, const std::string& pattern,
                                      const std::function<Owned<Layer>(Owned<Layer> part)>& make) {
  LADON_CHECK(static_cast<bool>(make), "replace_each", "the function is empty");
  std::vector<std::string> paths;
  const std::vector<Place> places = places_in(model);
  for (const auto& [path, place] : places)
    if (*place && matches_name(pattern, path)) paths.push_back(path);
  if (paths.empty()) fail_without(model, pattern, places);
  for (const std::string& path : paths)
    for (const auto& [name, place] : places_in(model))  // the last one may have taken others away
      if (name == path) {
        exchange(*place, make(*place));
        break;
      }
  return paths;
}

}  // namespace ladon
