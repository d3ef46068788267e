#include "ladon/autograd/extra/diagnosis/profile.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "ladon/autograd/record.h"

namespace ladon {
namespace {

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

void add(Profile::Row& sum, const Profile::Row& row) {
  sum.calls += row.calls;
  sum.gradients += row.gradients;
  sum.bytes += row.bytes;
  sum.seconds += row.seconds;
  sum.gradient_seconds += row.gradient_seconds;
}

/// A module of the table: the rows of the operations that it called itself, and its inner modules.
struct Branch {
  std::string name;
  std::vector<const Profile::Row*> rows = {};
  std::vector<Branch> inside = {};

  Branch& at(const std::string& member) {
    for (Branch& branch : inside)
      if (branch.name == member) return branch;
    return inside.emplace_back(Branch{member});
  }
  Profile::Row sum() const {
    Profile::Row all;
    for (const Profile::Row* row : rows) add(all, *row);
    for (const Branch& branch : inside) add(all, branch.sum());
    return all;
  }
};

struct Line {
  std::string name;
  Profile::Row row;
};

void write(std::vector<Line>& lines, const Branch& branch, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  lines.push_back({indent + branch.name, branch.sum()});
  for (const Profile::Row* row : branch.rows)
    lines.push_back({indent + "  `" + row->operation + "`", *row});
  for (const Branch& inner : branch.inside) write(lines, inner, depth + 1);
}

/// Display width of UTF-8 text: its number of code points.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Profile::Profile() : Scoped(detail::modes.watchers.observer, this) {}

std::size_t Profile::row_of(const std::vector<std::string>& module, const char* operation) {
  const auto [place, is_new] = places_.try_emplace({module, operation}, rows_.size());
  if (is_new) rows_.push_back({.module = module, .operation = operation});
  return place->second;
}

// Operations recorded while a gradient is computed count toward that gradient.
void Profile::observe(const detail::Node& node, const Tensor& result) {
  if (gradients_ > 0 || node.operation() == std::string_view("leaf")) return;
  const std::vector<std::string> outside;
  const std::size_t at =
      row_of(modules_.empty() ? outside : modules_.back().second, node.operation());
  operations_.emplace(node.number(), at);
  Row& row = rows_[at];
  ++row.calls;
  row.bytes += result.count() * static_cast<std::int64_t>(item_size(result.dtype()));
  const Clock::time_point now = Clock::now();
  row.seconds += seconds(now - last_);
  last_ = Clock::now();
}

void Profile::enter(int depth, std::vector<std::string> module) {
  leave(depth);
  modules_.emplace_back(depth, std::move(module));
  last_ = Clock::now();
}

// Ends the calls of modules at `depth` and deeper. There may be several, since calls that return
// while another profile is the newest are not seen here.
void Profile::leave(int depth) {
  while (!modules_.empty() && modules_.back().first >= depth) modules_.pop_back();
  last_ = Clock::now();
}

/// Measures the time of one gradient, from construction to destruction.
class Profile::Gradient {
 public:
  Gradient(Profile& profile, const detail::Node& node) : profile_(profile.alive_) {
    if (profile.gradients_++ > 0) return;
    const auto known = profile.operations_.find(node.number());
    row_ =
        known != profile.operations_.end() ? known->second : profile.row_of({}, node.operation());
    begin_ = Clock::now();
  }
  Gradient(const Gradient&) = delete;
  Gradient& operator=(const Gradient&) = delete;
  ~Gradient() {
    const std::shared_ptr<Profile> profile = profile_.lock();
    if (!profile || --profile->gradients_ > 0) return;
    Row& row = profile->rows_[row_];
    ++row.gradients;
    profile->last_ = Clock::now();
    row.gradient_seconds += seconds(profile->last_ - begin_);
  }

 private:
  std::weak_ptr<Profile> profile_;  // may be destroyed while the gradient is computed
  std::size_t row_ = 0;
  Clock::time_point begin_;
};

std::shared_ptr<void> Profile::during_gradient(const detail::Node& node) {
  return std::make_shared<Gradient>(*this, node);
}

std::string Profile::table() const {
  Branch root{"all"};
  for (const Row& row : rows_) {
    Branch* branch = &root;
    for (const std::string& member : row.module) branch = &branch->at(member);
    branch->rows.push_back(&row);
  }
  std::vector<Line> lines;
  write(lines, root, 0);
  std::size_t widest = 0;
  for (const Line& line : lines) widest = std::max(widest, width(line.name));
  std::ostringstream out;
  out << std::string(widest, ' ') << "     calls        ms  gradients        ms        MB\n";
  out << std::fixed << std::setprecision(3);
  for (const Line& line : lines)
    out << line.name << std::string(widest - width(line.name), ' ') << std::setw(10)
        << line.row.calls << std::setw(10) << 1e3 * line.row.seconds << std::setw(11)
        << line.row.gradients << std::setw(10) << 1e3 * line.row.gradient_seconds << std::setw(10)
        << 1e-6 * static_cast<double>(line.row.bytes) << '\n';
  return out.str();
}

}  // namespace ladon
