#include "run.h"

#include <iostream>
#include <stdexcept>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "table.h"
#include "watch.h"

namespace ladon::test {
namespace {

constexpr std::int64_t most_read = 1 << 16;

/// Throws unless every index of x's window falls into its storage, and reads all elements if there
/// are few.
void check_tensor(const Tensor& x) {
  if (!x.defined()) return;
  detail::require(x.rank() <= Shape::max_rank && x.strides().rank() == x.rank(), "ranks");
  detail::checked_count("result", x.shape());
  std::int64_t first = x.offset(), last = x.offset();
  for (int i = 0; i < x.rank(); ++i)
    if (x.count() > 0) (x.strides()[i] < 0 ? first : last) += (x.size(i) - 1) * x.strides()[i];
  const auto end = static_cast<std::size_t>(last + 1) * item_size(x.dtype());
  detail::require(x.count() == 0 || (first >= 0 && end <= x.storage().size()), "window");
  if (x.requires_grad())
    detail::require(x.history()->shape() == x.shape() && x.history()->dtype() == x.dtype(),
                    "a result's node has its shape");
  if (x.count() > most_read) return;
  x.to_vector();
  if (x.dtype() == boolean && x.contiguous())
    for (std::int64_t i = 0; i < x.count(); ++i)
      detail::require(x.storage().bytes()[x.offset() + i] <= std::byte{1}, "a bool is 0 or 1");
}

/// A sweep from a result, which tries the gradients of the call.
Tensors sweep(Draw& d, const Tensor& y) {
  Tensor cotangent = d.made(y.shape(), y.dtype());
  if (d.chance(0.8)) cotangent = cotangent.detach();
  const BackwardOptions options{.retain_graph = d.chance(0.7), .create_graph = d.chance(0.2)};
  if (options.create_graph) d.adopt(y);
  d.say(options.create_graph ? "then backward with create_graph" : "then backward");
  backward(y, cotangent, options);
  return {};
}

class Episode {
 public:
  Episode(const RunOptions& options, std::int64_t number, RunReport& report)
      : options_(options),
        draw_(options.seed * 1'000'003 + static_cast<std::uint64_t>(number)),
        report_(report) {}

  ~Episode() { draw_.clear_gradients(); }
  Episode(const Episode&) = delete;
  Episode& operator=(const Episode&) = delete;

  void call(std::int64_t number) {
    const CallRow& row = draw_row();
    draw_.begin(row.name);
    const Watch watch(number, options_, draw_);
    try {
      make(row);
    } catch (const std::exception& error) {
      fail(number, error.what());
    }
    if (!grad_enabled()) fail(number, "recording is left switched off");
    const double seconds = watch.seconds();
    if (options_.only)
      std::cout << number << "  " << draw_.words() << "\n     → " << outcome_ << std::endl;
    if (seconds > options_.seconds) fail(number, detail::join("it took ", seconds, " s"));
    if (seconds > report_.slowest_seconds) {
      report_.slowest_seconds = seconds;
      report_.slowest = draw_.words();
    }
  }

 private:
  const CallRow& draw_row();

  void make(const CallRow& row) {
    try {
      const bool recorded = draw_.chance(0.95);
      if (!recorded) draw_.say("unrecorded");
      const GradMode mode(recorded);
      const Tensors results = row.call(draw_);
      ++report_.results;
      ++report_.by_row[row.name];
      outcome_ = "a result";
      for (const Tensor& y : results) {
        check_tensor(y);
        draw_.keep(y);
      }
      std::int64_t left = 4;  // sweeps that a call may be followed by
      for (const Tensor& y : results)
        if (left > 0 && y.requires_grad() && y.count() <= most_read && draw_.chance(0.7)) {
          --left;
          ++report_.sweeps;
          sweep(draw_, y);
        }
    } catch (const Error& error) {
      ++report_.errors;
      outcome_ = error.what();
      if (outcome_.find('[') == std::string::npos || outcome_.find(']') == std::string::npos)
        throw std::runtime_error("an Error that names no operation: " + outcome_);
    }
  }

  [[noreturn]] void fail(std::int64_t number, const std::string& what) const {
    throw std::runtime_error(how_to_repeat(options_, number, draw_) + "\n" + what);
  }

  const RunOptions& options_;
  Draw draw_;
  RunReport& report_;
  std::string outcome_;
};

/// Rows are drawn by weight, in 1/64: an index an entry.
const std::vector<std::size_t>& lots() {
  static const std::vector<std::size_t> all = [] {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < call_table().rows().size(); ++i)
      list.insert(list.end(), static_cast<std::size_t>(call_table().rows()[i].weight * 64 + 0.5),
                  i);
    return list;
  }();
  return all;
}

const CallRow& Episode::draw_row() { return call_table().rows()[draw_.one_of(lots())]; }

}  // namespace

RunReport run_random_calls(const RunOptions& options) {
  RunReport report;
  limit_memory();
  const std::int64_t first = options.only ? *options.only / episode_calls * episode_calls : 0;
  const std::int64_t end = options.only ? *options.only + 1 : options.calls;
  for (std::int64_t number = first; number < end;) {
    Episode episode(options, number / episode_calls, report);
    do episode.call(number++);
    while (number < end && number % episode_calls != 0);
  }
  return report;
}

}  // namespace ladon::test
