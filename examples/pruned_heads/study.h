#pragma once
// Heads removed one by one, in orders given by four rules.

#include <array>
#include <filesystem>

#include "ladon/examples/common/report.h"
#include "ladon/examples/pruned_heads/task.h"

namespace ladon::example {

constexpr std::array<const char*, 4> rule_names = {"evidence", "gradient", "magnitude", "random"};
/// Nats of log evidence ln Z that the removal of heads may cost.
constexpr double allowed_nats = 3;
/// Rise of the log-loss and fall of the accuracy that the removal of heads may cause.
constexpr double allowed_loss = 0.02, allowed_accuracy = 0.01;

/// Results of one of the rules by which heads are removed (rule_names), with k heads left, at index
/// k − 1: accuracy of the masked network; accuracy and log-loss of the Gaussian process.
struct Path {
  std::array<double, heads> network = {}, process = {}, loss = {};
  /// 1 where the network masked to half of its heads answers correctly, else 0: f64 [test
  /// questions].
  Tensor right = {};
};

/// One draw of N questions from the pool: results of the four rules, and, for the heads that the
/// rule "evidence" keeps, a certificate: how much the removal of the other heads costs.
struct Split {
  std::array<Path, rule_names.size()> paths = {};
  std::vector<std::int64_t> removed = {};   ///< Heads in order of removal: all but one.
  std::vector<double> lost = {};            ///< Nats below ln Z of all heads, after each removal.
  double amplitude = 0, noise = 0;          ///< Mean diagonal of all heads' kernel; noise variance.
  std::int64_t kept = 0;                    ///< Number of heads kept.
  double loss_rise = 0, accuracy_fall = 0;  ///< Of the Gaussian process: kept heads against all.
};

using NetworkRuns = std::vector<std::vector<Split>>;  ///< Of one network: for each N, the splits.

struct Study {
  std::vector<NetworkRuns> networks = {};
  Tensor labels = {};
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// Accuracy of the masked network, or of the Gaussian process, per rule and N.
Table accuracy_table(const Settings& settings, const Study& study, bool process);
/// Difference in accuracy, with half of the heads kept, between the evidence and each other rule.
Table contrast_table(const Settings& settings, const Study& study);
Table certificate_table(const Settings& settings, const Study& study);
/// What the removal of heads costs in one split (the certificate of Split), in words.
std::string certificate_text(const Settings& settings, const Study& study);
/// Writes --bits: per network and test question, the share of the splits with the largest N in
/// which the network with half of its heads answers the question correctly, as ARM/right
/// [networks, questions].
void write_bits(const Settings& settings, const Study& study);
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
