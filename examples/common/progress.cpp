#include "ladon/examples/common/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "ladon/examples/common/interrupt.h"

namespace ladon::example {
namespace {

constexpr int bar_width = 30;
constexpr const char* clear_line = "\r\033[K";

std::string clock_time(double seconds) {
  char text[32];
  const int whole = static_cast<int>(seconds + 0.5);
  std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  return text;
}

}  // namespace

Progress::Progress(double total)
    : total_(total),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (terminal_) std::fputs(clear_line, stderr);
}

void Progress::step(const std::string& what, double steps) {
  stop_if_interrupted();
  done_ += steps;
  if (!terminal_) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const double share = std::clamp(done_ / total_, 1e-6, 1.0);
  const auto filled = static_cast<std::size_t>(share * bar_width);
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
  std::fprintf(stderr, "%s[%s] %3.0f%%  %s left  %s", clear_line, bar.c_str(), 100 * share,
               clock_time(spent.count() * (1 - share) / share).c_str(), what.c_str());
  std::fflush(stderr);
}

void Progress::say(const std::string& line) const {
  if (terminal_) std::fputs(clear_line, stderr);
  std::cout << line << std::endl;
}

}  // namespace ladon::example
