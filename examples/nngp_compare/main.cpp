// Finite attention against its Gaussian process: which networks converge, and how fast.

#include <chrono>
#include <cmath>
#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/picture.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;

constexpr const char* summary = "How attention nears its Gaussian process: only many heads do";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "Many finite attention layers are drawn and compared with their infinitely wide limit (Hron et "
    "al. 2020, \"Infinite attention\"): the kernels NNGP and NTK, and the distribution of the "
    "outputs. With linear scaling of the logits, 1/d_k, one wide head is enough to become a "
    "Gaussian process. With the Transformer's 1/sqrt(d_k) logits stay random, one head stays "
    "non-Gaussian however wide (excess kurtosis 6ρ/H for identity ζ), and only many heads "
    "converge. Everything is at initialization, and says nothing of training.";
constexpr const char* command = "nngp_compare --zeta softmax --heads 1,4,16 --json figures.json";

void add_options(CLI::App& app, Settings& s) {
  const CLI::Validator size = whole_number<std::int64_t>(1, 1'000'000);
  const CLI::Validator draws = whole_number<std::int64_t>(3, 1'000'000);
  app.add_option("--preset", s.preset,
                 "tour: the lesson; reference, reference-plain: two readings of the networks whose "
                 "errors are known from another program, beside those (several minutes; only "
                 "--widths and --draws apply)")
      ->check(CLI::IsMember({"tour", "reference", "reference-plain"}));
  app.add_option("--inputs", s.inputs,
                 "Inputs, .npy of floating numbers [N, T, d] (default: 3 drawn from the seed, of 4 "
                 "tokens of 8 channels)")
      ->check(CLI::ExistingFile);
  app.add_option("--zeta", s.zeta, "What turns logits into weights")
      ->check(CLI::IsMember({"identity", "softmax", "relu", "abs"}));
  app.add_option("--scaling", s.scalings, "Scaling of logits: linear 1/d_k, sqrt 1/sqrt(d_k)")
      ->delimiter(',')
      ->check(CLI::IsMember({"linear", "sqrt"}));
  app.add_option("--widths", s.widths,
                 "Widths of a head, and of the output (default: 16,32,64,128,256,512; in the other "
                 "presets 16,64,256,1024, and four times that where there is one head)")
      ->delimiter(',')
      ->check(size);
  app.add_option("--draws", s.draws, "Networks a width")->check(draws);
  app.add_option("--heads", s.heads, "Numbers of heads whose outputs are looked at")
      ->delimiter(',')
      ->check(size);
  app.add_option("--head-width", s.head_width, "Width of those heads")->check(size);
  app.add_option("--gaussian-draws", s.gaussian_draws, "Networks a number of heads")->check(draws);
  app.callback([&s] { refuse_repeated("--scaling", s.scalings); });
}

Measured figure(const Measured& m) { return {m.value, std::isnan(m.se) ? 0 : m.se}; }

std::vector<Row> width_rows(const Study& study) {
  std::vector<Row> rows;
  for (const WidthSeries& series : study.by_width)
    for (std::size_t i = 0; i < series.comparison.rows.size(); ++i) {
      const ComparisonRow& r = series.comparison.rows[i];
      Row row{join(series.name, ", w = ", r.point.size.width),
              {{"ntk_error", figure(r.ntk.single_error)},
               {"nngp_error", figure(r.nngp.single_error)},
               {"ntk_mean_rms_z", {r.ntk.rms_z, 0}},
               {"ntk_mean_largest_z", {r.ntk.largest_z, 0}},
               {"nngp_mean_rms_z", {r.nngp.rms_z, 0}},
               {"nngp_mean_largest_z", {r.nngp.largest_z, 0}}}};
      if (!series.reference.empty()) row.figures.push_back({"reference", {series.reference[i], 0}});
      rows.push_back(row);
    }
  return rows;
}

std::vector<Row> head_rows(const Study& study) {
  std::vector<Row> rows;
  for (const HeadSeries& series : study.by_heads)
    for (std::size_t i = 0; i < series.comparison.rows.size(); ++i) {
      const ComparisonRow& r = series.comparison.rows[i];
      const auto& g = r.gaussianity;
      rows.push_back({join(series.name, ", H = ", r.point.size.heads),
                      {{"kurtosis", figure(g.kurtosis)},
                       {"law", figure(series.law[i])},
                       {"wide_law", figure(series.wide_law[i])},
                       {"ks", {g.kolmogorov_smirnov.distance, 0}},
                       {"ks_p", {g.kolmogorov_smirnov.p_value, 0}},
                       {"mmd2", {g.mmd.squared, g.mmd.se}},
                       {"mmd2_z", {g.mmd.squared / g.mmd.null_sd, 0}}}});
    }
  return rows;
}

std::vector<Row> slope_rows(const Study& study) {
  std::vector<Row> rows;
  for (const WidthSeries& series : study.by_width)
    rows.push_back({series.name,
                    {{"ntk_slope", figure(series.comparison.ntk_slope.slope)},
                     {"nngp_slope", figure(series.comparison.nngp_slope.slope)}}});
  return rows;
}

nlohmann::json settings_json(const Settings& s) {
  return {
      {"preset", s.preset},    {"inputs", s.inputs},         {"zeta", s.zeta},
      {"scaling", s.scalings}, {"widths", s.widths},         {"draws", s.draws},
      {"heads", s.heads},      {"head_width", s.head_width}, {"gaussian_draws", s.gaussian_draws},
      {"seed", s.common.seed}};
}

/// The tables, under the questions that they answer; of an interrupted study, what there is.
void print(const Settings& s, const std::vector<Row>& widths, const std::vector<Row>& slopes,
           const std::vector<Row>& heads) {
  if (!widths.empty())
    std::cout
        << "\nHow far is one network from the limit (relative Frobenius error, mean ± standard "
           "error), and the mean of all, in its standard errors?\n"
        << table(widths) << "\nThe error falls with width to the power of\n"
        << table(slopes);
  if (!heads.empty())
    std::cout << "\nHow Gaussian are the outputs of heads of width " << s.head_width << " ("
              << s.gaussian_draws
              << " networks)? Excess kurtosis, its law at this width and for wide heads;\n"
                 "Kolmogorov-Smirnov distance from the limit, worst input; MMD², in standard "
                 "deviations that it has where there is no difference.\n"
              << table(heads)
              << "Heads of linear scaling converge with width instead: what they miss the limit by "
                 "is of order 1/w.\n";
}

/// Whether it was not interrupted.
bool teach(Settings s) {
  if (s.widths.empty())
    s.widths = s.preset == "tour" ? std::vector<std::int64_t>{16, 32, 64, 128, 256, 512}
                                  : std::vector<std::int64_t>{16, 64, 256, 1024};
  const auto start = std::chrono::steady_clock::now();
  const Tensor x = load_inputs(s);
  std::cout << x.size(0) << " inputs of " << x.size(1) << " tokens of " << x.size(2)
            << " channels; " << s.draws << " networks a width" << std::endl;
  const Study study = run_study(s, x);
  std::vector<Row> rows = width_rows(study), slopes = slope_rows(study), heads = head_rows(study);
  print(s, rows, slopes, heads);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  for (Row& row : slopes) row.method = "slope, " + row.method;
  rows.insert(rows.end(), slopes.begin(), slopes.end());
  rows.insert(rows.end(), heads.begin(), heads.end());
  write_json(s.common, {.example = "nngp_compare",
                        .settings = settings_json(s),
                        .seconds = spent.count(),
                        .rows = rows,
                        .interrupted = study.interrupted,
                        .more = panels(study)});
  const std::filesystem::path picture = study.by_width.empty() ? "" : draw(s, study);
  if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  CLI::App app;
  set_up(app, "nngp_compare", {summary, duration, lesson, command}, settings.common);
  add_options(app, settings);
  return run(app, settings.common, argc, argv, [&] { return teach(settings); });
}
