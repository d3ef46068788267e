#include "ladon/tests/layers/infinite/extra/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "ladon/core/error.h"
#include "ladon/tests/layers/infinite/extra/gaussian_moments.h"

namespace ladon::test {
namespace {

// --- the parts of a formula ---

/// What an index, or another symbol, is at one entry.
struct Place {
  int n = 0, m = 0;
  std::array<int, 26> index{};
  char row = 'a', column = 'b';  ///< Of kernels that name no positions.
  bool matrix = false;           ///< k(x, x) is of all positions of x, not the variance at one.
  int& operator[](char letter) { return index[static_cast<std::size_t>(letter - 'a')]; }
  int operator[](char letter) const { return index[static_cast<std::size_t>(letter - 'a')]; }
};
using Term = std::function<double(const Place&)>;

struct Named {
  bool tangent = false;
  int step = 0;
};

}  // namespace

struct StepFormulas::Context {
  const std::map<int, StepKernels>& kernels;
  const Words words;
  int own = 0;
  Term nngp = {}, ntk = {};
  bool rounded = false, quadrature = false, causal = false, means = false;
  int draws = 0, last_keys = 0;                   // 0: all
  std::optional<Named> first = {}, latest = {};   // of the kernels that are named
  std::map<char, int> ranges = {};                // a step whose positions an index counts
  std::optional<Named> gaussian = {}, same = {};  // of u and v; of "the same sum"
  std::optional<int> hook = {};
  std::string phi = {}, zeta = {}, of_logits = {};
  Term r = {}, d = {}, covariance = {}, logits = {};
  std::map<std::array<int, 4>, SoftmaxMoments> softmax = {};

  const StepKernels& of(int step) const { return kernels.at(step); }
  bool visible(int step, int n, int a) const {
    const StepKernels& k = of(step);
    return k.visible[static_cast<std::size_t>(n * k.positions + a)];
  }
  double at(const Named& name, int n, int m, int a, int b) const {
    const StepKernels& k = of(name.step);
    LADON_CHECK(a < k.positions && b < k.positions, "formula", "position (", a, ", ", b, ") of ",
                k.positions);
    if (!visible(name.step, n, a) || !visible(name.step, m, b)) return 0;
    const int i = ((n * k.inputs + m) * k.positions + a) * k.positions + b;
    return (name.tangent ? k.ntk : k.nngp)[static_cast<std::size_t>(i)];
  }
  double mean(int n, int a) const {
    const StepKernels& k = of(first.value().step);
    LADON_CHECK(means && !k.means.empty(), "formula", "m(x) is not known");
    return k.means[static_cast<std::size_t>(n * k.positions + a)];
  }
  /// The step whose positions an index counts; those of no kernel count keys, as i does.
  int range(char index) const { return ranges.at(ranges.contains(index) ? index : 'i'); }
  int keys() const { return ranges.at('i'); }
  bool sees(int n, int query, int key) const {
    const bool near = last_keys == 0 || key > query - last_keys;
    return visible(keys(), n, key) && (!causal || key <= query) && near;
  }
  std::vector<int> seen(int n, int query) const {
    std::vector<int> all;
    for (int key = 0; key < of(keys()).positions; ++key)
      if (sees(n, query, key)) all.push_back(key);
    return all;
  }
  double weight(int n, int query, int key) const;
  double gaussian_moment(const Place& at, bool slopes) const;
  double weight_moment(const Place& at, bool slopes);
  const SoftmaxMoments& moments(const Place& at);
};

namespace {

using Context = StepFormulas::Context;

/// Cov(G_ai, G'_cj) of query a of input n and c of m.
double logit_covariance(const Context& context, int n, int a, int i, int m, int c, int j) {
  Place at;
  at.n = n, at.m = m;
  at['a'] = a, at['b'] = c, at['i'] = i, at['j'] = j;
  return context.covariance(at);
}

/// Covariance of the logits' differences to the last visible key, of both queries.
Matrix differences(const Context& context, const Place& at, const std::vector<int>& left,
                   const std::vector<int>& right) {
  struct One {
    int n, query, key, last;
  };
  std::vector<One> all;
  for (std::size_t i = 0; i + 1 < left.size(); ++i)
    all.push_back({at.n, at['a'], left[i], left.back()});
  for (std::size_t j = 0; j + 1 < right.size(); ++j)
    all.push_back({at.m, at['b'], right[j], right.back()});
  Matrix c(all.size(), std::vector<double>(all.size()));
  for (std::size_t s = 0; s < all.size(); ++s)
    for (std::size_t t = 0; t < all.size(); ++t) {
      const One &x = all[s], &y = all[t];
      const auto of = [&](int i, int j) {
        return logit_covariance(context, x.n, x.query, i, y.n, y.query, j);
      };
      c[s][t] = of(x.key, y.key) - of(x.key, y.last) - of(x.last, y.key) + of(x.last, y.last);
    }
  return c;
}

}  // namespace

const SoftmaxMoments& Context::moments(const Place& at) {
  const auto [entry, fresh] = softmax.try_emplace({at.n, at.m, at['a'], at['b']});
  if (!fresh) return entry->second;
  const std::vector<int> left = seen(at.n, at['a']), right = seen(at.m, at['b']);
  return entry->second = softmax_moments(left, right, differences(*this, at, left, right),
                                         of(keys()).positions);
}

double Context::weight(int n, int query, int key) const {
  const auto logit = [&](int i) {
    Place at;
    at.n = at.m = n;
    at['a'] = query, at['i'] = i;
    at.column = 'i', at.matrix = true;
    return logits(at);
  };
  if (!sees(n, query, key)) return 0;
  if (of_logits != "softmax") return pointwise(of_logits).value(logit(key));
  double total = 0;
  for (const int i : seen(n, query)) total += std::exp(logit(i));
  return std::exp(logit(key)) / total;
}

double Context::gaussian_moment(const Place& at, bool slopes) const {
  LADON_CHECK(!phi.empty() && gaussian, "formula", "φ, or the law of u and v, is not said");
  const Pointwise f = pointwise(phi);
  const int a = at[at.row], b = at[at.column];
  return expectation(slopes ? f.slope : f.value, this->at(*gaussian, at.n, at.n, a, a),
                     this->at(*gaussian, at.m, at.m, b, b), this->at(*gaussian, at.n, at.m, a, b));
}

double Context::weight_moment(const Place& at, bool slopes) {
  LADON_CHECK(!zeta.empty() && covariance, "formula", "ζ, or the law of the logits, is not said");
  const int i = at['i'], j = at['j'], c = at['c'], e = at['e'];
  if (zeta == "softmax") {
    const SoftmaxMoments& all = moments(at);
    const auto row = static_cast<std::size_t>(slopes ? i * of(keys()).positions + c : i),
               column = static_cast<std::size_t>(slopes ? j * of(keys()).positions + e : j);
    return (slopes ? all.slopes : all.weights)[row][column];
  }
  const int a = at['a'], b = at['b'];
  if (!sees(at.n, a, i) || !sees(at.m, b, j) || (slopes && (c != i || e != j))) return 0;
  const Pointwise f = pointwise(zeta);
  return expectation(slopes ? f.slope : f.value, logit_covariance(*this, at.n, a, i, at.n, a, i),
                     logit_covariance(*this, at.m, b, j, at.m, b, j),
                     logit_covariance(*this, at.n, a, i, at.m, b, j));
}

namespace {

// --- reading ---

/// Reads one formula; what its clauses define goes into the context.
class Reader {
 public:
  Reader(std::shared_ptr<Context> context, const std::string& text, bool tangent)
      : c_(context.get()), text_(text), tangent_(tangent) {}

  Term read() {
    Term y = whole();
    while (take(", ")) y = clause(y);
    if (at_ != text_.size()) fail();
    return y;
  }

 private:
  [[noreturn]] void fail() const {
    detail::fail("formula", "cannot read \"", text_, "\" from \"", text_.substr(at_), "\" on");
  }
  bool follows(std::string_view token) const {
    return std::string_view(text_).substr(at_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!follows(token)) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) fail();
  }
  char letter() {
    if (at_ == text_.size() || text_[at_] < 'a' || text_[at_] > 'z') fail();
    return text_[at_++];
  }
  bool at_number() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  double number() {
    if (!at_number()) fail();
    std::size_t length = 0;
    const std::string rest = text_.substr(at_);
    const double y = std::stod(rest, &length);
    int digits = 0;  // without the zeros in front
    for (const char c : rest.substr(0, std::min(length, rest.find('e'))))
      digits += c != '.' && (digits > 0 || c != '0');
    c_->rounded = c_->rounded || digits >= 6;
    at_ += length;
    return y;
  }
  /// Up to the next clause.
  std::string name() {
    int depth = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && (depth > 0 || (!follows(", ") && !follows(" of "))); ++at_)
      depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
    return text_.substr(begin, at_ - begin);
  }
  Named named() {
    constexpr std::array digits = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    Named y{follows("t"), 0};
    if (!take("k") && !take("t")) fail();
    std::string number;
    for (std::size_t i = 0; i < digits.size(); ++i)
      if (take(digits[i])) number += std::to_string(i), i = static_cast<std::size_t>(-1);
    if (number.empty()) fail();
    y.step = std::stoi(number);
    // A kernel is told by those before it, and the NTK also by the NNGP kernel beside it.
    const bool known = y.step < c_->own || (y.step == c_->own && tangent_ && !y.tangent);
    LADON_CHECK(known && c_->kernels.contains(y.step), "formula", "\"", text_, "\" names step ",
                y.step, ", of step ", c_->own);
    if (!c_->first) c_->first = y;
    c_->latest = y;
    return y;
  }
  /// A letter counts the positions of a step.
  char counts(char index, const Named& of) {
    const auto [entry, fresh] = c_->ranges.try_emplace(index, of.step);
    LADON_CHECK(c_->of(entry->second).positions == c_->of(of.step).positions, "formula", "\"",
                text_, "\" counts different positions by ", std::string(1, index));
    return index;
  }

  Term whole();
  Term clause(const Term& y);
  Term expression();
  Term product();
  Term factor();
  Term base();
  Term kernel();
  Term over_all();
  Term phrase();
  Term expected();
  Term sandwich();
  Term positions_mean(char a, char b, bool visible, bool mean);
  Term windows_mean();
  Term taps_mean();

  Context* c_;
  std::string text_;
  bool tangent_;
  std::size_t at_ = 0;
};

/// Texts that are no formulas, but words.
Term Reader::whole() {
  Context* c = c_;
  if (take("x·x' / the number of channels"))
    return [c](const Place& at) {
      const Tensor& x = c->words.inputs;
      const auto d = x.size(2), t = x.size(1);
      const double *left = x.data<double>() + (at.n * t + at['a']) * d,
                   *right = x.data<double>() + (at.m * t + at['b']) * d;
      double sum = 0;
      for (std::int64_t i = 0; i < d; ++i) sum += left[i] * right[i];
      return sum / static_cast<double>(d);
    };
  if (take("1 where the indices are equal, 0 elsewhere"))
    return [c](const Place& at) {
      const Tensor& x = c->words.inputs;
      const std::int64_t* index = x.data<std::int64_t>();
      return index[at.n * x.size(1) + at['a']] == index[at.m * x.size(1) + at['b']] ? 1.0 : 0.0;
    };
  // The hook of formula_test.cpp, which gives all keys the same weight: the mean over keys.
  const auto mean_of_values = [c](const Place& at) {
    const int keys = c->of(*c->hook).positions;
    double sum = 0;
    for (int i = 0; i < keys; ++i)
      for (int j = 0; j < keys; ++j) sum += c->at({false, *c->hook}, at.n, at.m, i, j);
    return sum / (keys * keys);
  };
  if (take("attention with Uniform, of ")) {
    c->hook = named().step;
    if (take(" and ")) c->hook = named().step;
    return mean_of_values;
  }
  if (c->hook && take("its tangent kernel"))
    return [c, mean_of_values](const Place& at) {
      const int keys = c->of(*c->hook).positions;
      double sum = 0;
      for (int i = 0; i < keys; ++i)
        for (int j = 0; j < keys; ++j) sum += c->at({true, *c->hook}, at.n, at.m, i, j);
      return sum / (keys * keys) + 2 * mean_of_values(at);
    };
  return expression();
}

Term Reader::clause(const Term& y) {
  Context* c = c_;
  if (take("(u, v) ~ N(0, ")) {
    c->gaussian = named();
    need(" of x and x')");
  } else if (take("φ = ")) {
    c->phi = name();
  } else if (take("r = ")) {
    c->r = expression();
  } else if (take("D = ")) {
    c->d = expression();
  } else if (take("m(x) the mean of its channels")) {
    c->means = true;
  } else if (take("times ")) {
    const double by = number();
    need(" where it is one element of one input");
    return [y, by](const Place& at) {
      return at.n == at.m && at['a'] == at['b'] ? by * y(at) : y(at);
    };
  } else if (take("ζ = ")) {
    c->zeta = name();
    need(" of Gaussian logits G");
  } else if (take("of keys up to the query")) {
    c->causal = true;
  } else if (take("of the last ")) {
    c->last_keys = static_cast<int>(number());
    c->causal = true;
    need(" keys up to the query");
  } else if (take("Cov(G_ai, G'_bj) = ")) {
    c->covariance = expression();
  } else if (take("E the mean over ")) {
    c->draws = static_cast<int>(number());
    need(" draws that all inputs share");
    LADON_CHECK(c->draws == c->words.draws, "formula", "\"", text_, "\": there are ",
                c->words.draws, " draws");
  } else if (take("A = ")) {
    c->of_logits = name();
    need(" of the logits ");
    c->logits = expression();
  } else {
    fail();
  }
  return y;
}

Term Reader::expression() {
  Term y = product();
  for (;;) {
    const bool plus = take(" + ");
    if (!plus && !take(" − ")) return y;
    y = [y, z = product(), sign = plus ? 1 : -1](const Place& at) { return y(at) + sign * z(at); };
  }
}

Term Reader::product() {
  Term y = factor();
  for (;;)
    if (take("·"))
      y = [y, z = factor()](const Place& at) { return y(at) * z(at); };
    else if (take(" / ") || take("/"))
      y = [y, z = factor()](const Place& at) { return y(at) / z(at); };
    else
      return y;
}

Term Reader::factor() {
  if (take("√")) return [y = factor()](const Place& at) { return std::sqrt(y(at)); };
  Term y = base();
  if (take("²")) return [y](const Place& at) { return y(at) * y(at); };
  return y;
}

Term Reader::base() {
  Context* c = c_;
  if (take("1{a = b}")) return [](const Place& at) { return at['a'] == at['b'] ? 1.0 : 0.0; };
  if (at_number()) return [y = number()](const Place&) { return y; };
  if (take("(")) {
    Term y = expression();
    need(")");
    return y;
  }
  if (follows("k") || (follows("t") && !follows("the "))) return kernel();
  if (take("R_ab")) return [c](const Place& at) { return c->words.correlation(at['a'], at['b']); };
  if (take("m(x)")) return [c](const Place& at) { return c->mean(at.n, at['a']); };
  if (take("m(x')")) return [c](const Place& at) { return c->mean(at.m, at['b']); };
  if (follows("E[")) return expected();
  if (take("A·")) return sandwich();
  if (take("r")) return [c](const Place& at) { return c->r(at); };
  if (take("D")) return [c](const Place& at) { return c->d(at); };
  return over_all();
}

Term Reader::kernel() {
  Context* c = c_;
  const Named k = named();
  if (take("(x, x)"))
    return [c, k](const Place& at) {
      return c->at(k, at.n, at.n, at[at.row], at[at.matrix ? at.column : at.row]);
    };
  if (take("(x', x')"))
    return [c, k](const Place& at) { return c->at(k, at.m, at.m, at[at.column], at[at.column]); };
  if (take("_00")) return [c, k](const Place& at) { return c->at(k, at.n, at.m, 0, 0); };
  if (take("_{a+o, b+o}"))
    return [c, k](const Place& at) {
      const auto seen = [&](char a) {
        return c->words.windows.at(static_cast<std::size_t>(at[a]))
            .at(static_cast<std::size_t>(at['o']));
      };
      const int a = seen('a'), b = seen('b');
      return a < 0 || b < 0 ? 0 : c->at(k, at.n, at.m, a, b);
    };
  if (take("_")) {
    const char a = counts(letter(), k), b = counts(letter(), k);
    return [c, k, a, b](const Place& at) { return c->at(k, at.n, at.m, at[a], at[b]); };
  }
  return [c, k](const Place& at) { return c->at(k, at.n, at.m, at[at.row], at[at.column]); };
}

/// E[..], its arguments to the letter.
Term Reader::expected() {
  Context* c = c_;
  c->quadrature = true;
  for (const bool slopes : {false, true}) {
    if (take(slopes ? "E[φ'(u)·φ'(v)]" : "E[φ(u)·φ(v)]"))
      return [c, slopes](const Place& at) { return c->gaussian_moment(at, slopes); };
    if (take(slopes ? "E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G'_be]" : "E[ζ_ai·ζ'_bj]"))
      return [c, slopes](const Place& at) { return c->weight_moment(at, slopes); };
  }
  fail();
}

/// A·…·A'ᵀ, products of matrices of positions.
Term Reader::sandwich() {
  Context* c = c_;
  const Term inner = factor();
  c->ranges['i'] = c->latest.value().step;
  need("·A'ᵀ");
  return [c, inner](const Place& at) {
    Place inside = at;
    inside.row = 'i', inside.column = 'j';
    double sum = 0;
    for (const int i : c->seen(at.n, at['a']))
      for (const int j : c->seen(at.m, at['b'])) {
        inside['i'] = i, inside['j'] = j;
        sum += c->weight(at.n, at['a'], i) * inner(inside) * c->weight(at.m, at['b'], j);
      }
    return sum;
  };
}

/// Sums and means, of the product that follows.
Term Reader::over_all() {
  Context* c = c_;
  if (take("Σ_")) {
    const char i = letter(), j = letter();
    need(" ");
    return [c, i, j, y = product()](const Place& outside) {
      Place at = outside;
      double sum = 0;
      for (at[i] = 0; at[i] < c->of(c->range(i)).positions; ++at[i])
        for (at[j] = 0; at[j] < c->of(c->range(j)).positions; ++at[j]) sum += y(at);
      return sum;
    };
  }
  if (take("mean over visible a, b of ")) return positions_mean('a', 'b', true, true);
  if (take("sum over visible a, b of ")) return positions_mean('a', 'b', true, false);
  if (take("mean over a of ")) return positions_mean('a', 'a', false, true);
  if (take("mean over visible i in window a, visible j in window b of ")) return windows_mean();
  if (take("mean over the ")) return taps_mean();
  return phrase();
}

/// Over positions a of x and b of x', or over one position of both.
Term Reader::positions_mean(char a, char b, bool visible, bool mean) {
  Context* c = c_;
  return [=, y = product()](const Place& outside) {
    Place at = outside;
    double sum = 0, count = 0;
    const int of = c->ranges.at(a), positions = c->of(of).positions;
    for (int i = 0; i < positions; ++i)
      for (int j = 0; j < (a == b ? 1 : positions); ++j) {
        at[b] = j;
        at[a] = i;
        if (visible && (!c->visible(of, at.n, i) || !c->visible(of, at.m, j))) continue;
        sum += y(at);
        ++count;
      }
    return mean ? sum / std::max(count, 1.0) : sum;
  };
}

Term Reader::windows_mean() {
  Context* c = c_;
  return [c, y = product()](const Place& outside) {
    Place at = outside;
    double sum = 0, count = 0;
    const auto seen = [&](int n, char output) {
      std::vector<int> all;
      for (const int i : c->words.windows.at(static_cast<std::size_t>(at[output])))
        if (i >= 0 && c->visible(c->ranges.at('i'), n, i)) all.push_back(i);
      return all;
    };
    for (const int i : seen(at.n, 'a'))
      for (const int j : seen(at.m, 'b')) {
        at['i'] = i, at['j'] = j;
        sum += y(at);
        ++count;
      }
    return sum / std::max(count, 1.0);
  };
}

Term Reader::taps_mean() {
  Context* c = c_;
  const int taps = static_cast<int>(number());
  need(" taps o of ");
  return [c, taps, y = product()](const Place& outside) {
    Place at = outside;
    LADON_CHECK(c->words.windows.at(0).size() == static_cast<std::size_t>(taps), "formula",
                "there are ", c->words.windows.at(0).size(), " taps, not ", taps);
    double sum = 0;
    for (at['o'] = 0; at['o'] < taps; ++at['o']) sum += y(at);
    return sum / taps;
  };
}

/// Phrases of single layers.
Term Reader::phrase() {
  Context* c = c_;
  const auto sum_of = [c](const Named& k) {
    return [c, k](const Place& at) {
      const auto &left = c->words.windows.at(static_cast<std::size_t>(at['a'])),
                 &right = c->words.windows.at(static_cast<std::size_t>(at['b']));
      double sum = 0;
      for (std::size_t tap = 0; tap < left.size(); ++tap)
        if (left[tap] >= 0 && right[tap] >= 0) sum += c->at(k, at.n, at.m, left[tap], right[tap]);
      return sum;
    };
  };
  if (take("sum over taps of ")) {
    const Named k = named();
    need(" at what a and b see through them");
    c->same = k;
    return sum_of(k);
  }
  if (c->same && take("the same sum of ")) return sum_of(named());
  // ω = 10000⁻ˢ, s between 0 and 1, as over infinitely many channels of the table.
  if (take("mean over frequencies ω of cos(ω·(a − b))")) {
    c->quadrature = true;
    return [](const Place& at) {
      double sum = 0;
      for (int piece = 0; piece < 16; ++piece)
        for (const auto& [s, weight] : nodes_between(piece / 16.0, (piece + 1) / 16.0, 12))
          sum += weight * std::cos(std::pow(10000.0, -s) * (at['a'] - at['b']));
      return sum;
    };
  }
  fail();
}

}  // namespace

StepFormulas::StepFormulas(const infinite::DerivedStep& step,
                           const std::map<int, StepKernels>& kernels, const Words& words)
    : context_(new Context{.kernels = kernels, .words = words, .own = step.number}) {
  context_->nngp = Reader(context_, step.nngp, false).read();
  context_->ntk = Reader(context_, step.ntk, true).read();
}

namespace {
Place place_of(const Entry& entry) {
  Place at;
  at.n = entry.n, at.m = entry.m;
  at['a'] = entry.a, at['b'] = entry.b;
  return at;
}
}  // namespace

double StepFormulas::nngp(const Entry& at) const { return context_->nngp(place_of(at)); }
double StepFormulas::ntk(const Entry& at) const { return context_->ntk(place_of(at)); }
bool StepFormulas::rounded() const { return context_->rounded; }
bool StepFormulas::has_quadrature() const { return context_->quadrature; }
bool StepFormulas::drawn() const { return context_->draws > 0; }

}  // namespace ladon::test
