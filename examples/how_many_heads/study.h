// How many heads are enough: errors of trained layers, and evidence for the number of heads that
// generated the data.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/progress.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string part = "both";  ///< "errors", "evidence", or "both".
  std::vector<std::int64_t> tokens = {8};
  std::int64_t seeds = 3, steps = 150;
  std::vector<std::int64_t> truths = {1, 64}, targets = {6, 12};
  std::int64_t sets = 8, particles = 8;
  std::vector<std::string> data = {};  ///< Files of TREC and word vectors; empty: generated.
};

constexpr std::int64_t retrievals = 4, total_width = 32, head_width = 8, wide_head = 64;
/// Numbers of classes of TREC's questions, and of pairs of different classes.
constexpr std::int64_t classes = 5, pairs = classes * (classes - 1) / 2;

enum class Law { total, each, wide };
constexpr std::array<Law, 3> laws = {Law::total, Law::each, Law::wide};

/// A layer with this many heads, on T tokens, and its errors.
struct Arm {
  std::int64_t tokens = 0, heads = 0, width = 0;  ///< width: of each head
  std::vector<double> errors = {};  ///< per seed: mean squared error / targets' variance

  /// Whether its widths follow a rule: total width 32, 8 per head, or one head of 64.
  bool of(Law law) const {
    return law == Law::total  ? heads * width == total_width
           : law == Law::each ? width == head_width
                              : width == wide_head;
  }
};

/// Log Bayes factors ln B of one head over infinitely many, for data sets of the same size.
struct Evidence {
  std::string truth;  ///< Source of the labels.
  std::int64_t targets = 0;
  std::vector<double> log_bayes = {}, apart = {};  ///< Per data set; `apart`: |difference| of the
                                                   ///< ln Z of two runs.
  std::int64_t groups = 0;  ///< Data set i is in group i mod groups. Standard errors are over the
                            ///< means of groups.
};

struct Study {
  std::vector<Arm> arms;
  std::vector<Evidence> evidence;
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// Second part of the study, the evidence: the first function plans the rows of its table, the
/// second computes their figures until an interrupt.
std::vector<Evidence> plan_evidence(const Settings& settings);
void find_evidence(const Settings& settings, std::vector<Evidence>& rows, Progress& progress);

}  // namespace ladon::example
