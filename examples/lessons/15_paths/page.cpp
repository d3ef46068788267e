#include "ladon/examples/lessons/15_paths/page.h"

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

constexpr double most = 2047;  // largest integer, so that two characters suffice per number

/// Packs integers from −2047 to 2047 into text: two characters per number, in base 64 with the 64
/// characters from "=" on as digits.
std::string packed(const Tensor& numbers) {
  std::string all;
  for (const double number : numbers.to_vector()) {
    const int code = static_cast<int>(number + most);
    all += {static_cast<char>('=' + code / 64), static_cast<char>('=' + code % 64)};
  }
  return all;
}

}  // namespace

Page page(const Chains& set, const Table& table) {
  const std::int64_t n = set.overlaps.size(3), tests = 100;
  const Tensor train = slice(set.classes, 0, {.stop = n}), one = eye(4, f64);
  const Tensor c = slice(set.overlaps, 2, {.stop = n + tests}), known = slice(c, 2, {.stop = n});
  const double unit = amax(abs(c)).item() / most;
  // The kernels of paths a, b and b, a are averaged, since U, which multiplies both, is symmetric.
  const Tensor kept = round((c + transpose(c, 0, 1)) / (2 * unit));
  Json overlaps = Json::array(), widths = Json::array(), checks = Json::array();
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = a; b < 4; ++b) overlaps.push_back(packed(at(kept, {a, b})));
  for (const Row& row : table.rows()) {
    if (row.method == "∞, pruned") continue;  // the page computes pruned networks itself
    const int w = row.method == "∞" ? 0 : std::stoi(row.method);
    const PathOptions layers{.heads = {2, 2}, .widths = {w, w}, .readout = w};
    const Tensor u = w > 0 ? path_saddle(known, train, 0.01, layers).order[0] : one;
    const Tensor k = sum(sum(reshape(u, {4, 4, 1, 1}) * kept, 0), 0) * (unit / 4);
    const GaussianProcess gp(slice(k, 0, {.stop = n}), train, {.noise = 0.01});
    const Tensor answers = gp.predict(slice(k, 0, {.start = n})).mean;
    checks.push_back(checked("predicted", json_rows(u), flatten(answers).to_vector()));
    Json figures = Json::array();
    for (const Measured& m : row.figures) figures.push_back({m.value, m.se});
    widths.push_back({{"n", w}, {"order", json_rows(u)}, {"figures", figures}});
  }
  return {.title = "Narrow layers weigh the paths through their heads; infinite width cannot",
          .about =
              "Two layers of two heads tell chains of a hidden state apart. Turn the width, "
              "prune a head, make the good path stronger by hand: the answers follow.",
          .script = page_script,
          .data = {{"classes", slice(set.classes, 0, {.stop = n + tests}).to_vector()},
                   {"unit", unit},
                   {"overlaps", overlaps},
                   {"widths", widths},
                   {"checks", checks}}};
}

}  // namespace ladon::example
