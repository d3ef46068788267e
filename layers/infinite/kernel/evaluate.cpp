#include "ladon/layers/infinite/kernel/evaluate.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

using Placed = KernelGraph::Placed;

/// The entries that a step needs of its inputs, to compute outputs with the entries `layout`.
Entries asked_of_inputs(const Placed& step, Entries layout) {
  if (step.step.needs == Needs::full) return Entries::full;
  return step.step.needs == Needs::diagonal ? Entries::diagonal : layout;
}

Tensor& cov(Kernel& k, int block) { return block == 0 ? k.cov1 : k.cov2; }
Tensor& mean(Kernel& k, int block) { return block == 0 ? k.mean1 : k.mean2; }
Tensor& mask(Kernel& k, int block) { return block == 0 ? k.mask1 : k.mask2; }

/// Results that are needed of each step: its kernels of pairs (`pairs`), its self-kernels (`own`,
/// per block), and the coordinates of its inputs' tokens (`roots`), which may be needed even if its
/// kernels are not.
struct Demand {
  std::vector<char> pairs;
  std::array<std::vector<char>, 2> own;
  std::vector<char> roots;
  bool any(std::size_t i) const { return pairs[i] || own[0][i] || own[1][i] || roots[i]; }
};

/// For each step, whether its kernels are needed, directly or by later steps, to compute the
/// coordinates of tokens (Root) for a step that averages over draws. In the pass over the landmarks
/// only these steps' self-kernels are stored.
std::vector<char> before_draws(const KernelGraph& graph) {
  const std::vector<Placed>& steps = graph.steps();
  const std::vector<char> needed = graph.needed();
  std::vector<char> before(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (needed[i] && steps[i].draws())
      for (const int of : steps[i].step.draws->of) before[steps[i].inputs[of]] = true;
    if (before[i])
      for (const int input : steps[i].inputs) before[input] = true;
  }
  return before;
}

class Evaluation {
 public:
  Evaluation(const KernelGraph& graph, const Walk& walk, bool one_block)
      : graph_(graph),
        walk_(walk),
        one_block_(one_block),
        layout_(layouts(graph, walk.wanted)),
        demand_(demand()),
        last_use_(graph.steps().size(), 0),
        values_(graph.steps().size()) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      for (const int input : graph.steps()[i].inputs)
        if (demand_.any(i)) last_use_[input] = i;
    last_use_[graph.output().step] = values_.size();
  }

  Entries input_layout() const { return layout_[0]; }
  /// Self-kernels of the network's inputs, if an earlier walk has cached them; else undefined.
  Tensor known_input(int block) const { return rows_of(block).known ? known(0, block) : Tensor(); }
  bool needs_input_pairs() const { return demand_.pairs[0]; }

  Kernel run(Beginning beginning) {
    begin_ = std::move(beginning);
    counts_ = {begin_.kernel.cov1.size(0),
               begin_.kernel.cov2.defined() ? begin_.kernel.cov2.size(0) : 0};
    Kernel& own = values_[0] = begin_.kernel;
    for (int block = 0; block < blocks(); ++block)
      if (!rows_of(block).known) keep(0, block, cov(own, block));
    begin_.kernel.nngp = begin_.kernel.ntk = begin_.kernel.cov1 = begin_.kernel.cov2 = Tensor();
    for (std::size_t i = 1; i < values_.size(); ++i) {
      if (!demand_.any(i)) continue;
      try {
        values_[i] = made(graph_.steps()[i], i);
      } catch (const Error& error) {
        explain(error, graph_.steps()[i]);
      }
      for (const int input : graph_.steps()[i].inputs)
        if (last_use_[input] == i) values_[input] = {};
    }
    Kernel y = std::move(values_[graph_.output().step]);
    y.law = graph_.output().law;
    y.positions = graph_.output().positions;
    if (!walk_.pairs) y.cov2 = y.mask2 = y.mean2 = y.same = Tensor();
    return y;
  }

 private:
  const SelfRows& rows_of(int block) const { return walk_.selves[block]; }
  /// Number of blocks whose self-kernels are computed: one, if a block is paired with itself.
  int blocks() const { return one_block_ ? 1 : 2; }
  /// Whether the coordinates of tokens (Root), in which draws are made, are computed in this walk
  /// over the graph, instead of read from the cache of self-kernels.
  bool finds_roots() const { return walk_.landmarks || walk_.found; }

  bool is_known(const Placed& step, int block) const {
    return rows_of(block).known && step.step.kept;
  }

  Demand demand() const {
    const std::vector<Placed>& steps = graph_.steps();
    const std::size_t n = steps.size();
    const std::vector<char> none(n);
    Demand all{none, {none, none}, none};
    const auto last = static_cast<std::size_t>(graph_.output().step);
    const std::vector<char> alive = graph_.needed();
    const std::vector<char> used = walk_.found ? before_draws(graph_) : alive;
    all.pairs[last] = walk_.pairs;
    for (int block = 0; block < blocks(); ++block) {
      std::vector<char>& own = all.own[block];
      for (std::size_t i = 0; i < n; ++i)
        own[i] = used[i] && rows_of(block).kept && steps[i].step.kept;
      own[last] = own[last] || walk_.pairs || (block == 0 && !walk_.found);
    }
    for (std::size_t i = n; i-- > 0;) {
      if (!alive[i]) continue;
      const Placed& step = steps[i];
      all.roots[i] = walk_.found && step.draws();
      const auto ask_pairs = [&](int input) {
        const auto at = static_cast<std::size_t>(input);
        all.pairs[at] = true;
        for (auto& own : all.own) own[at] = true;
      };
      if (step.draws() && finds_roots())
        for (const int of : step.step.draws->of) ask_pairs(step.inputs[of]);
      for (const int input : step.inputs) {
        if (all.pairs[i]) ask_pairs(input);
        for (std::size_t block : {0, 1})
          if (all.own[block][i] && !is_known(step, static_cast<int>(block)))
            all.own[block][input] = true;
      }
    }
    return all;
  }

  Tensor known(int slot, int block) const {
    const SelfRows& rows = rows_of(block);
    return slice((*rows.known)[slot], 0, {.start = rows.begin, .stop = rows.end});
  }

  /// Stores computed values in their slot of the cache, if the walk keeps them.
  void keep(int slot, int block, const Tensor& computed) const {
    const SelfRows& rows = rows_of(block);
    if (!rows.kept) return;
    rows.kept->resize(static_cast<std::size_t>(graph_.slots()));
    Tensor& all = (*rows.kept)[slot];
    const std::int64_t n = computed.size(0), begin = rows.begin, count = rows.count;
    if (n == count) {
      all = computed;
      return;
    }
    if (!all.defined()) {
      Shape shape = computed.shape();
      shape[0] = count;
      all = empty(shape, f64);
    }
    copy_(slice(all, 0, {.start = begin, .stop = begin + n}), computed);
  }

  /// Coordinates of the tokens in both blocks, for the step's input with index `number` in
  /// Draws::of, whose kernel is `seen`.
  std::array<Root, 2> roots_of(const Placed& step, int number, const Kernel& seen) {
    std::array<Root, 2> roots;
    const int of = step.step.draws->of[number];
    const bool inputs_alone = step.inputs[of] == 0;
    if (inputs_alone && begin_.coordinates[0].defined()) {
      for (std::size_t block : {0, 1}) roots[block].common = begin_.coordinates[block];
      return roots;  // masked tokens have coordinates 0, since they are 0 in the inputs
    }
    LADON_CHECK(begin_.names[0].defined() && (finds_roots() || rows_of(0).known), "limit",
                "the model averages over draws that all inputs share, but it was given a kernel "
                "without its inputs; call infinite::limit(model)(inputs)");
    const auto index = static_cast<std::size_t>(step.roots + number);
    const int slot = step.slot + (step.step.kept ? 1 : 0) + 2 * number;
    // Masked tokens are never pivots, and their coordinates are 0.
    const Tensor pairs = finds_roots() ? cross_pairs(seen).visible(seen.nngp) : Tensor();
    if (walk_.found) {
      std::vector<RootFactor>& factors = walk_.found->factors;
      const Pivots& given = walk_.found->pivots;
      factors.resize(std::max(factors.size(), index + 1));
      factors[index] = root_factor(pairs, step.step.draws->coordinates,
                                   index < given.size() ? &given[index] : nullptr);
    }
    for (int block = 0; block < blocks(); ++block) {
      Root& root = roots[block];
      root.names = begin_.names[block];
      root.mask = block == 0 ? seen.mask1 : seen.mask2;
      if (rows_of(block).known) {
        root.common = known(slot, block);
        root.own = known(slot + 1, block);
        continue;
      }
      const Pairs selves = self_pairs(seen, block);
      const Tensor own = selves.visible(selves.nngp);
      root.common =
          coordinates(pairs, (walk_.found ? walk_.found : walk_.landmarks)->factors[index]);
      root.own = own_root(own, root.common);
      keep(slot, block, root.common);
      keep(slot + 1, block, root.own);
      if (block == 0 && walk_.remainders) add_remainder(index, root.own, own);
    }
    if (one_block_) roots[1] = roots[0];
    return roots;
  }

  /// Adds the unexplained shares (Ψ·Ψᵀ)_aa/k_aa of all tokens a, for Ψ = `own` (Root::own) and the
  /// self-kernels k = `of`, to the remainder with index `number`. Masked tokens have variance 0,
  /// and are skipped.
  void add_remainder(std::size_t number, const Tensor& own, const Tensor& of) const {
    std::vector<Remainder>& all = *walk_.remainders;
    all.resize(std::max(all.size(), number + 1));
    const std::vector<double> left = numbers_of("limit", sum(square(own.detach()), -1));
    const std::vector<double> variances = numbers_of("limit", ladon::diagonal(of.detach()));
    for (std::size_t i = 0; i < left.size(); ++i)
      if (variances[i] > 0) all[number].add(left[i] / variances[i]);
  }

  /// Selects the random numbers of a step, and gets the coordinates of its inputs' tokens
  /// (`roots`).
  Drawn drawn_for(const Placed& step, const std::vector<Kernel>& inputs,
                  std::vector<std::array<Root, 2>>& roots) {
    Drawn drawn;
    if (!step.draws()) return drawn;
    drawn.number = static_cast<std::uint64_t>(step.drawn);
    drawn.replicate = walk_.replicate;
    const std::vector<int>& of = step.step.draws->of;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto input = static_cast<std::size_t>(of[i]);
      roots[input] = roots_of(step, static_cast<int>(i), inputs[input]);
    }
    if (!walk_.heads || of.empty()) return drawn;
    const Tensor& tokens = roots[of[0]][0].common;
    drawn.heads = std::make_shared<HeadLatents>(walk_.heads(tokens.size(-1)));
    if (walk_.head_maps)
      walk_.head_maps->push_back(step.step.draws->head_map(drawn, tokens, inputs[0].mask1));
    return drawn;
  }

  Kernel made(const Placed& step, std::size_t i) {
    const Entries asked = asked_of_inputs(step, layout_[i]);
    std::vector<Kernel> inputs;
    for (const int input : step.inputs) {
      const Kernel& k = values_[input];
      inputs.push_back(asked == Entries::diagonal ? k.diagonal() : k);
    }
    std::vector<std::array<Root, 2>> roots(inputs.size());
    const Drawn drawn = drawn_for(step, inputs, roots);
    const auto mapped = [&](const auto& pairs_of) {
      std::vector<Pairs> all;
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        all.push_back(pairs_of(inputs[j], roots[j]));
        all.back().drawn = drawn;
      }
      return step.map(all);
    };
    Kernel y;
    y.positions = step.positions;
    y.entries = y.has_positions() ? asked : Entries::full;
    if (demand_.pairs[i]) {
      const PairKernels both =
          mapped([](const Kernel& k, const auto& root) { return cross_pairs(k, root); });
      y.nngp = both.nngp;
      y.ntk = both.ntk;
    }
    for (int block = 0; block < blocks(); ++block)
      if (demand_.own[block][i] && !is_known(step, block))
        cov(y, block) = mapped([&](const Kernel& k, const auto& root) {
                          return self_pairs(k, block, root[block]);
                        }).nngp;
    y.check("limit", counts_[0], counts_[1]);
    if (layout_[i] == Entries::diagonal) y = y.diagonal();
    for (int block = 0; block < blocks(); ++block) {
      if (demand_.own[block][i] && step.step.kept) {
        if (is_known(step, block))
          cov(y, block) = known(step.slot, block);
        else
          keep(step.slot, block, cov(y, block));
      }
      if (step.masked) {
        mask(y, block) = mask(inputs[0], block);
        if (step.step.mask) mask(y, block) = step.step.mask(mask(y, block));
      }
      if (*step.step.means) {
        std::vector<Tensor> means;
        for (Kernel& k : inputs) means.push_back(mean(k, block));
        mean(y, block) = (*step.step.means)(means);
      }
    }
    if (one_block_) {
      y.cov2 = y.cov1;
      y.mask2 = y.mask1;
      y.mean2 = y.mean1;
    }
    y.same = begin_.kernel.same;
    return y;
  }

  /// Rethrows, with the path of the step's layer before the message.
  [[noreturn]] void explain(const Error& error, const Placed& step) const {
    const std::optional<LayerPlace> place = graph_.place(step);
    // An exception derived from Error keeps its type, so its text cannot be extended.
    if (!place || place->path.empty() || typeid(error) != typeid(Error)) throw;
    throw Error(place->path + ": " + error.what());
  }

  const KernelGraph& graph_;
  const Walk& walk_;
  bool one_block_;
  std::vector<Entries> layout_;
  Demand demand_;
  std::vector<std::size_t> last_use_;  // per step, index of the last step that uses its kernels
  std::vector<Kernel> values_;
  Beginning begin_;
  std::array<std::int64_t, 2> counts_{};
};

}  // namespace

void Remainder::add(double share) {
  sum += share;
  worst = std::max(worst, share);
  ++tokens;
}

std::vector<Entries> layouts(const KernelGraph& graph, Entries wanted) {
  const std::vector<Placed>& steps = graph.steps();
  const std::vector<char> needed = graph.needed();
  std::vector<Entries> layout(steps.size(), Entries::diagonal);
  layout[graph.output().step] = wanted;
  for (std::size_t i = steps.size(); i-- > 0;)
    if (needed[i] && asked_of_inputs(steps[i], layout[i]) == Entries::full)
      for (const int input : steps[i].inputs) layout[input] = Entries::full;
  return layout;
}

Shape block_of(const Shape& positions, Entries layout) {
  if (positions.rank() == 0) return {};
  const std::int64_t t = positions.count();
  return layout == Entries::full ? Shape{t, t} : Shape{t};
}

std::int64_t numbers_kept(const KernelGraph& graph, Entries wanted, const Landmarks* landmarks) {
  const std::vector<Entries> layout = layouts(graph, wanted);
  const std::vector<char> needed = graph.needed();
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const Placed& step = graph.steps()[i];
    if (!needed[i]) continue;
    if (step.step.kept) numbers += block_of(step.positions, layout[i]).count();
    for (int root = 0; root < step.root_count(); ++root) {
      const int of = step.step.draws->of[root];
      const int input = step.inputs[of];
      const std::int64_t t = graph.steps()[input].positions.count();
      const auto factor = static_cast<std::size_t>(step.roots + root);
      numbers += t * (landmarks->factors.at(factor).inverse.size(0) + t);
    }
  }
  return numbers;
}

Kernel evaluate(const KernelGraph& graph, const Inputs& a, const Inputs* b, const Walk& walk) {
  Evaluation evaluation(graph, walk, b == nullptr);
  BeginningOptions options{.get = walk.get,
                           .entries = evaluation.input_layout(),
                           .pairs = evaluation.needs_input_pairs(),
                           .cov = {evaluation.known_input(0), evaluation.known_input(1)}};
  options.names = graph.draws();
  options.coordinates = static_cast<bool>(walk.heads);
  return evaluation.run(begin(a, b, options));
}

Kernel evaluate(const KernelGraph& graph, const Kernel& inputs) {
  const Walk walk;
  Evaluation evaluation(graph, walk, false);
  const bool narrow = evaluation.input_layout() == Entries::diagonal;
  LADON_CHECK(
      narrow || !inputs.has_positions() || inputs.entries == Entries::full, "limit",
      "the model needs all pairs of positions, but the kernel has only their diagonal; compute "
      "the inputs' kernel with Entries::full");
  return evaluation.run(
      {.kernel = narrow ? inputs.diagonal() : inputs, .names = {}, .coordinates = {}});
}

}  // namespace ladon::infinite
