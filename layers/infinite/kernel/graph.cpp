#include "ladon/layers/infinite/kernel/graph.h"

#include <algorithm>
#include <utility>

#include "ladon/core/error.h"

namespace ladon::infinite {

std::string times(double factor, const std::string& kernel) {
  if (factor == 0) return "0";
  return factor == 1 ? kernel : detail::join(factor, "·", kernel);
}

std::string plus(double summand) {
  if (summand == 0) return "";
  return summand > 0 ? detail::join(" + ", summand) : detail::join(" − ", -summand);
}

std::int64_t KernelNode::position_count() const {
  for (const std::int64_t size : positions)
    if (size < 0) return -1;
  return positions.count();
}

std::shared_ptr<KernelGraph> KernelNode::owner() const {
  const std::shared_ptr<KernelGraph> alive = graph.lock();
  LADON_CHECK(
      alive != nullptr, "limit",
      "a KernelNode is used after its graph was destroyed; a layer's limit must be built from the "
      "node that it gets, not from one kept from an earlier call");
  return alive;
}

bool KernelNode::ntk() const { return owner()->get() == Get::ntk; }

bool KernelNode::finite_heads() const { return owner()->finite_heads(); }

void KernelNode::need_positions(std::string_view layer) const {
  LADON_CHECK(has_positions(), layer,
              "its limit needs inputs with positions, of shape [N, T, d] or [N, H, W, d], but got "
              "vectors, which have no positions");
}

int KernelGraph::Placed::root_count() const {
  return draws() ? static_cast<int>(step.draws->of.size()) : 0;
}

int KernelGraph::Placed::slot_count() const { return (step.kept ? 1 : 0) + 2 * root_count(); }

KernelNode KernelGraph::add(const std::vector<KernelNode>& inputs, const Step& step,
                            std::function<PairKernels(const std::vector<Pairs>&)> map) {
  const KernelNode& first = inputs.front();
  const std::shared_ptr<KernelGraph> graph = first.owner();
  KernelNode y = first;
  y.law = step.makes;
  const bool passed = step.makes.knows_means() && !step.makes.independent();
  if (step.means)
    y.has_means = static_cast<bool>(*step.means);
  else
    y.has_means = first.has_means && passed && !step.positions && inputs.size() == 1;
  if (step.positions) {
    if (first.has_means && !step.makes.independent()) y.law.zero_given = Law::nothing;
    y.positions = *step.positions;
    y.masked = first.masked && y.has_positions();
  }
  Placed placed{.step = step,
                .inputs = {},
                .map = std::move(map),
                .positions = y.positions,
                .masked = y.masked};
  for (const KernelNode& input : inputs) {
    LADON_CHECK(
        input.owner() == graph, "limit",
        "all inputs of a step must be nodes of one graph, but got nodes of two; a layer's limit "
        "must be built from the node that it gets, not from one kept from an earlier call");
    placed.inputs.push_back(input.step);
  }
  // y.law is step.makes, corrected above for what is known of the means.
  placed.step.makes = y.law;
  if (!step.means && y.has_means)
    placed.step.means = [](const std::vector<Tensor>& means) { return means.front(); };
  if (!y.has_means) placed.step.means = MeanMap();
  const Placed& last = graph->steps_.back();
  placed.slot = last.slot + last.slot_count();
  placed.roots = last.roots + last.root_count();
  placed.drawn = last.drawn + (step.draws ? std::max(1, placed.root_count()) : 0);
  y.step = static_cast<int>(graph->steps_.size());
  graph->steps_.push_back(std::move(placed));
  return y;
}

KernelNode map_pairs(const KernelNode& k, const Step& step,
                     const std::function<PairKernels(const Pairs&)>& map) {
  LADON_CHECK(step.needs != Needs::diagonal || (step.positions && step.positions->rank() == 0),
              "limit", "a step that needs only the diagonal (Needs::diagonal) gives positions ",
              step.positions.value_or(k.positions), "; it must give vectors");
  return KernelGraph::add({k}, step,
                          [map](const std::vector<Pairs>& inputs) { return map(inputs[0]); });
}

KernelNode map_pairs(const KernelNode& a, const KernelNode& b, const Step& step,
                     const std::function<PairKernels(const Pairs&, const Pairs&)>& map) {
  return KernelGraph::add(
      {a, b}, step, [map](const std::vector<Pairs>& inputs) { return map(inputs[0], inputs[1]); });
}

KernelNode combine(const std::vector<KernelNode>& branches, const Step& step,
                   const std::function<PairKernels(const std::vector<PairKernels>&)>& rule) {
  LADON_CHECK(!branches.empty(), "combine", "needs at least one branch, but there are no branches");
  for (const KernelNode& k : branches)
    LADON_CHECK(k.positions == branches[0].positions, "combine",
                "all branches must end with the same positions, got ", branches[0].positions,
                " and ", k.positions);
  return KernelGraph::add(branches, step, [rule](const std::vector<Pairs>& inputs) {
    std::vector<PairKernels> kernels;
    for (const Pairs& k : inputs) kernels.push_back({k.nngp, k.ntk});
    return rule(kernels);
  });
}

std::shared_ptr<const KernelGraph> KernelGraph::of(
    const InputKind& inputs, Get get, bool finite_heads,
    const std::function<KernelNode(const KernelNode&)>& model,
    std::function<std::optional<LayerPlace>(const Layer*)> find) {
  const auto graph = std::make_shared<KernelGraph>();
  graph->inputs_ = inputs;
  graph->find_ = std::move(find);
  graph->steps_.reserve(64);
  graph->get_ = get;
  graph->finite_heads_ = finite_heads;
  graph->steps_.push_back({.step = {.makes = inputs.law, .needs = Needs::wanted},
                           .inputs = {},
                           .map = {},
                           .positions = inputs.positions,
                           .masked = inputs.masked});
  KernelNode begin;
  begin.law = inputs.law;
  begin.positions = inputs.positions;
  begin.masked = inputs.masked;
  begin.has_means = inputs.has_means;
  begin.graph = graph;
  const KernelNode end = model(begin);
  LADON_CHECK(end.owner() == graph, "limit",
              "a layer's limit must be built from the node that it gets, but returned a node of "
              "another graph, kept from an earlier call");
  graph->output_ = end;
  return graph;
}

bool KernelGraph::draws() const {
  const std::vector<char> counts = needed();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] && steps_[i].draws()) return true;
  return false;
}

bool KernelGraph::draws_automatically() const {
  const std::vector<char> counts = needed();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] && steps_[i].draws() && steps_[i].step.draws->automatic) return true;
  return false;
}

std::vector<char> KernelGraph::needed() const {
  std::vector<char> needed(steps_.size());
  needed[output_.step] = true;
  for (std::size_t i = needed.size(); i-- > 0;)
    if (needed[i])
      for (const int input : steps_[i].inputs) needed[input] = true;
  return needed;
}

int KernelGraph::slots() const { return steps_.back().slot + steps_.back().slot_count(); }

void KernelGraph::name(std::size_t begin, const Layer* layer) {
  for (std::size_t i = begin; i < steps_.size(); ++i)
    if (steps_[i].layer == nullptr) steps_[i].layer = layer;
}

}  // namespace ladon::infinite
