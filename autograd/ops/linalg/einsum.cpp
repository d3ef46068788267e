#include "ladon/autograd/ops/linalg/einsum.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon {
namespace {

// One label per axis: its letter, or for the axes of "..." a digit, 0 for the last of them and
// counting up to the left, so that they align from the right, as broadcast axes do.
using Labels = std::string;

bool contains(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }
bool is_letter(char label) { return std::isalpha(static_cast<unsigned char>(label)) != 0; }

/// A tensor with a label per axis.
struct Term {
  Tensor x;
  Labels labels;
  std::int64_t size(char label) const { return x.size(static_cast<int>(labels.find(label))); }
};

Labels dots(int count) { return Labels("76543210").substr(static_cast<std::size_t>(8 - count)); }

/// Replaces "..." by `count` labels, and checks that all other characters are letters.
Labels expand_dots(std::string_view equation, const std::string& letters, int count) {
  const std::size_t at = letters.find("...");
  Labels labels = letters;
  if (at != std::string::npos) labels.erase(at, 3);
  LADON_CHECK(std::all_of(labels.begin(), labels.end(), is_letter), "einsum", "unexpected \"",
              letters, "\" in \"", equation, "\"; axes are letters and \"...\"");
  if (at != std::string::npos) labels.insert(at, dots(count));
  return labels;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

std::vector<std::string> cut(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Labels of the broadcast axes, then the letters that occur once, in alphabetical order.
Labels implied_output(const std::vector<Labels>& inputs, int dot_axes) {
  Labels once;
  for (char letter : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
    std::ptrdiff_t uses = 0;
    for (const Labels& labels : inputs) uses += std::count(labels.begin(), labels.end(), letter);
    if (uses == 1) once += letter;
  }
  return dots(dot_axes) + once;
}

Equation parse(std::string_view equation, const std::vector<Tensor>& operands) {
  std::string text;
  for (const char c : equation)
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> inputs = cut(text.substr(0, arrow), ',');
  LADON_CHECK(inputs.size() == operands.size(), "einsum", "\"", equation, "\" has ", inputs.size(),
              " operands, but ", operands.size(), " were given");
  Equation parsed;
  int dot_axes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool dotted = inputs[i].find("...") != std::string::npos;
    const int rank = operands[i].rank();
    const int letters = static_cast<int>(inputs[i].size()) - (dotted ? 3 : 0);
    LADON_CHECK(dotted ? letters <= rank : letters == rank, "einsum", "\"", inputs[i], "\" in \"",
                equation, "\" names ", letters, " axes, but operand ", i, " has shape ",
                operands[i].shape());
    parsed.inputs.push_back(expand_dots(equation, inputs[i], rank - letters));
    dot_axes = std::max(dot_axes, dotted ? rank - letters : 0);
  }
  if (arrow == std::string::npos) {
    parsed.output = implied_output(parsed.inputs, dot_axes);
    return parsed;
  }
  parsed.output = expand_dots(equation, text.substr(arrow + 2), dot_axes);
  for (const char label : parsed.output) {
    const bool known = std::any_of(parsed.inputs.begin(), parsed.inputs.end(),
                                   [&](const Labels& labels) { return contains(labels, label); });
    LADON_CHECK(known, "einsum", "'", label, "' of the output of \"", equation,
                "\" is in no operand; each output axis must be an axis of an operand");
    LADON_CHECK(std::count(parsed.output.begin(), parsed.output.end(), label) == 1, "einsum", "'",
                label, "' occurs twice in the output of \"", equation,
                "\"; an output axis needs its own letter");
  }
  return parsed;
}

/// Checks that axes with the same letter have the same size; broadcast axes may also have size 1.
void check_sizes(std::string_view equation, const std::vector<Term>& terms) {
  std::array<std::int64_t, 128> sizes;
  sizes.fill(-1);
  for (const Term& term : terms)
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const char label = term.labels[i];
      const std::int64_t n = term.x.shape()[static_cast<int>(i)];
      std::int64_t& known = sizes[label];
      const bool fits = known < 0 || known == n || (!is_letter(label) && (known == 1 || n == 1));
      LADON_CHECK(fits, "einsum", "'", is_letter(label) ? std::string(1, label) : "...", "' of \"",
                  equation, "\" must have one size, but has size ", known, " and size ", n);
      if (known < 0 || known == 1) known = n;
    }
}

/// Replaces each pair of axes with equal labels by their diagonal.
Term take_diagonals(Term term) {
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    const std::size_t j = term.labels.find(term.labels[i], i + 1);
    if (j == Labels::npos) continue;
    term.x = diagonal(term.x, 0, static_cast<int>(i), static_cast<int>(j));
    term.labels += term.labels[i];
    term.labels.erase(j, 1);
    term.labels.erase(i, 1);
    i = static_cast<std::size_t>(-1);  // the labels moved: start again
  }
  return term;
}

/// Sums over the labels outside `kept`.
Term sum_away(const Term& term, const Labels& kept) {
  std::vector<int> axes;
  Labels labels;
  for (std::size_t i = 0; i < term.labels.size(); ++i)
    if (contains(kept, term.labels[i]))
      labels += term.labels[i];
    else
      axes.push_back(static_cast<int>(i));
  return axes.empty() ? term : Term{sum(term.x, axes), labels};
}

/// The tensor of the term with its axes in the order of `labels`; a label that the term lacks
/// becomes an axis of size 1.
Tensor arrange(const Term& term, const Labels& labels) {
  std::vector<int> order;
  for (const char label : labels)
    if (contains(term.labels, label)) order.push_back(static_cast<int>(term.labels.find(label)));
  Tensor x = permute(term.x, order);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!contains(term.labels, labels[i])) x = unsqueeze(x, static_cast<int>(i));
  return x;
}

/// The product of two terms, summed over all labels that are not in `kept`. The labels are grouped
/// into batch (in both terms, kept), left (in a only), right (in b only) and inner (in both,
/// summed), for one matrix product:
///   [batch, left, inner] · [batch, inner, right] → [batch, left, right]
/// Without inner labels, and for integers, it is a broadcast product instead.
Term contract(const Term& a, const Term& b, const Labels& kept) {
  const Term p = sum_away(a, kept + b.labels), q = sum_away(b, kept + a.labels);
  Labels batch, left, right, inner;
  for (const char label : p.labels)
    if (!contains(q.labels, label))
      left += label;
    else if (contains(kept, label))
      batch += label;
    else
      inner += label;
  for (const char label : q.labels)
    if (!contains(p.labels, label)) right += label;

  const Labels all = batch + left + right;
  if (inner.empty() || !is_floating(promote(p.x.dtype(), q.x.dtype()))) {
    const Term product{arrange(p, all + inner) * arrange(q, all + inner), all + inner};
    return sum_away(product, all);
  }
  Shape lead_p, lead_q, to;
  std::int64_t m = 1, n = 1, k = 1;
  for (const char label : batch) {
    lead_p.append(p.size(label));
    lead_q.append(q.size(label));
    to.append(std::max(p.size(label), q.size(label)));
  }
  for (const char label : left) {
    m *= p.size(label);
    to.append(p.size(label));
  }
  for (const char label : right) {
    n *= q.size(label);
    to.append(q.size(label));
  }
  Shape inner_p = lead_p, inner_q = lead_q;  // with summed axes expanded to their full size, if one
                                             // operand has size 1 there
  for (const char label : left) inner_p.append(p.size(label));
  for (const char label : inner) {
    const std::int64_t size = std::max(p.size(label), q.size(label));
    inner_p.append(size);
    inner_q.append(size);
    k *= size;
  }
  for (const char label : right) inner_q.append(q.size(label));
  lead_p.append(m), lead_p.append(k);
  lead_q.append(k), lead_q.append(n);
  const Tensor x = reshape(expand(arrange(p, batch + left + inner), inner_p), lead_p);
  const Tensor y = reshape(expand(arrange(q, batch + inner + right), inner_q), lead_q);
  return {reshape(matmul(x, y), to), all};
}

/// Number of multiplications in the contraction of two terms: the product of the sizes of all their
/// labels.
double products(const Term& a, const Term& b) {
  double count = 1;
  for (const char label : a.labels)
    count *= static_cast<double>(contains(b.labels, label) ? std::max(a.size(label), b.size(label))
                                                           : a.size(label));
  for (const char label : b.labels)
    if (!contains(a.labels, label)) count *= static_cast<double>(b.size(label));
  return count;
}

/// Replaces the two terms that are cheapest to contract by their contraction.
void contract_cheapest(std::vector<Term>& terms, const Labels& output) {
  std::size_t left = 0, right = 1;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = i + 1; j < terms.size(); ++j)
      if (const double cost = products(terms[i], terms[j]); cost < least) {
        least = cost;
        left = i;
        right = j;
      }
  Labels kept = output;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (i != left && i != right) kept += terms[i].labels;
  terms[left] = contract(terms[left], terms[right], kept);
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(right));
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  LADON_CHECK(!operands.empty(), "einsum", "needs at least one operand");
  for (const Tensor& operand : operands) check_defined("einsum", {operand});
  const Equation parsed = parse(equation, operands);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i)
    terms.push_back({operands[i], parsed.inputs[i]});
  for (Term& term : terms) check_sizes(equation, {term});
  check_sizes(equation, terms);
  for (Term& term : terms) term = take_diagonals(term);
  while (terms.size() > 1) contract_cheapest(terms, parsed.output);
  return arrange(sum_away(terms[0], parsed.output), parsed.output);
}

}  // namespace ladon
