#pragma once
// Heads removed one by one, by four rules.

#include <array>
#include <filesystem>

#include "ladon/examples/common/report.h"
#include "ladon/examples/pruned_heads/task.h"

namespace ladon::example {

constexpr std::array<const char*, 4> rule_names = {"evidence", "gradient", "magnitude", "random"};
constexpr double allowed_nats = 3;                              ///< Of ln Z that pruning may lose.
constexpr double allowed_loss = 0.02, allowed_accuracy = 0.01;  ///< Of a certificate that held.

/// Figures of a rule where k = 1 … heads are kept (index k − 1).
struct Path {
  std::array<double, heads> network = {}, process = {}, loss = {};
  Tensor right = {};  ///< Of the network with half of the heads, f64 [questions of the test].
};

/// One draw of N questions, with the certificate of heads kept by the evidence.
struct Split {
  std::array<Path, rule_names.size()> paths = {};
  std::vector<std::int64_t> removed = {};   ///< In order; the last head is never removed.
  std::vector<double> lost = {};            ///< Nats below all heads, after each removal.
  double amplitude = 0, noise = 0;          ///< Mean diagonal of K, and what is added to it.
  std::int64_t kept = 0;                    ///< Heads that stay.
  double loss_rise = 0, accuracy_fall = 0;  ///< Of the kept heads' process on the test questions.
};

using NetworkRuns = std::vector<std::vector<Split>>;  ///< Of each N.

struct Study {
  std::vector<NetworkRuns> networks = {};
  Tensor labels = {};
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// Accuracy of the masked network, or of the Gaussian process, by rule and N.
Table accuracy_table(const Settings& settings, const Study& study, bool process);
/// The evidence's heads less another rule's, where half of the heads are kept.
Table contrast_table(const Settings& settings, const Study& study);
Table certificate_table(const Settings& settings, const Study& study);
std::string certificate_text(const Settings& settings, const Study& study);  ///< Of one split.
/// Writes --bits: share of splits in which each test question was answered rightly with half of
/// the heads at the largest N, as ARM/right [networks, questions].
void write_bits(const Settings& settings, const Study& study);
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
