#include "ladon/optim/particles/particles.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/view.h"
#include "ladon/layers/attention/attention.h"

namespace ladon {
namespace {

void check_parameter(const std::string& block, const Tensor& x) {
  LADON_CHECK(x.defined() && x.requires_grad(), "particles", "a parameter of block \"", block,
              "\" does not require a gradient; create it with parameter(x)");
  LADON_CHECK(Leaf::of(x), "particles", "a parameter of block \"", block, "\" is the result of `",
              x.history()->operation(),
              "`, but only leaves keep a gradient; pass the parameters that it was computed from");
  LADON_CHECK(x.contiguous(), "particles", "a parameter of block \"", block, "\" of shape ",
              x.shape(), " is not contiguous (strides ", x.strides(),
              "); use parameter(contiguous(x))");
}

/// Throws Error if x shares memory with a parameter added before, because an update of one of the
/// two would change the other.
void add(detail::Apart& memory, const std::string& block, const Tensor& x) {
  LADON_CHECK(!memory.add(block, x), "particles", "a parameter of block \"", block, "\" (shape ",
              x.shape(), ") shares memory with another parameter; particles must not overlap");
}

}  // namespace

// --- ParticleBlock ---

void ParticleBlock::check_in_place(const char* operation) const {
  for (const Tensor& x : parameters_) Leaf::of(x)->check_in_place(operation, taken_);
}

ParticleBlock ParticleBlock::stacked(std::string name, const ParameterSet& set) {
  std::vector<Tensor> parameters = set.tensors();
  LADON_CHECK(!parameters.empty(), "particles", "block \"", name,
              "\" has no parameter; it needs at least one");
  for (const Tensor& x : parameters) {
    check_parameter(name, x);
    LADON_CHECK(x.rank() >= 1 && x.size(0) == parameters[0].size(0), "particles", "block \"", name,
                "\": parameters of shapes ", parameters[0].shape(), " and ", x.shape(),
                " do not have the same number of rows; the first axis must be the particle");
  }
  const auto parts = static_cast<std::int64_t>(parameters.size());
  return ParticleBlock(std::move(name), std::move(parameters), parts, true, set.taken());
}

ParticleBlock ParticleBlock::gathered(std::string name, const std::vector<ParameterSet>& rows) {
  LADON_CHECK(!rows.empty() && !rows[0].empty(), "particles", "block \"", name,
              "\" has no parameter; it needs at least one row with at least one parameter");
  std::vector<Tensor> parameters;
  for (std::size_t part = 0; part < rows[0].size(); ++part)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      LADON_CHECK(rows[i].size() == rows[0].size(), "particles", "block \"", name,
                  "\" needs the same parameters in all rows, but row 0 has ", rows[0].size(),
                  " parameters, row ", i, " has ", rows[i].size());
      const Tensor& x = rows[i][part].second;
      check_parameter(name, x);
      LADON_CHECK(x.shape() == rows[0][part].second.shape(), "particles", "block \"", name,
                  "\" needs the same shapes in all rows, but parameter ", rows[0][part].first,
                  " is ", rows[0][part].second.shape(), " in row 0 and ", x.shape(), " in row ", i);
      LADON_CHECK(rows[i][part].first == rows[0][part].first, "particles", "block \"", name,
                  "\": parameter ", part, " is `", rows[0][part].first, "` in row 0 and `",
                  rows[i][part].first, "` in row ", i,
                  "; parameters must have the same order and names in all rows");
      parameters.push_back(x);
    }
  const auto parts = static_cast<std::int64_t>(rows[0].size());
  std::uint64_t taken = rows[0].taken();
  for (const ParameterSet& row : rows) taken = std::min(taken, row.taken());
  return ParticleBlock(std::move(name), std::move(parameters), parts, false, taken);
}

ParticleBlock::ParticleBlock(std::string name, std::vector<Tensor> parameters, std::int64_t parts,
                             bool stacked, std::uint64_t taken)
    : name_(std::move(name)),
      parameters_(std::move(parameters)),
      count_(stacked ? parameters_[0].size(0)
                     : static_cast<std::int64_t>(parameters_.size()) / parts),
      dtype_(parameters_[0].dtype()),
      stacked_(stacked),
      taken_(taken) {
  std::int64_t elements = 0;
  detail::Apart memory;
  for (const Tensor& x : parameters_) {
    add(memory, name_, x);
    LADON_CHECK(x.dtype() == dtype_, "particles", "block \"", name_,
                "\" needs parameters of one dtype, but mixes ", dtype_, " and ", x.dtype());
    elements += x.count();
  }
  LADON_CHECK(elements > 0, "particles", "block \"", name_, "\" is empty: it has ", count_,
              " rows of no elements; it needs at least one of each");
  dim_ = elements / count_;
}

/// Shape of the part of Θ that a parameter fills: [M, width] if stacked, else one row [1, width].
Shape ParticleBlock::piece_shape(const Tensor& parameter) const {
  return stacked_ ? Shape{count_, parameter.count() / count_} : Shape{1, parameter.count()};
}

std::vector<Tensor> ParticleBlock::pieces(const Tensor& x) const {
  LADON_CHECK(x.defined() && x.shape() == Shape({count_, dim_}), "pieces", "block \"", name_,
              "\" is ", Shape{count_, dim_}, "; the matrix to split must have that shape, got ",
              detail::shape_in_words(x));
  const Tensor rows = contiguous(x.detach());
  std::vector<Tensor> pieces;
  std::int64_t column = 0, row = 0;
  for (const Tensor& parameter : parameters_) {
    const Shape piece = piece_shape(parameter);
    const Tensor columns = view::slice(rows, 1, column, piece[1], 1);
    pieces.push_back(
        view::try_reshape(view::slice(columns, 0, row, piece[0], 1), parameter.shape()));
    row = (row + piece[0]) % count_;
    if (row == 0) column += piece[1];
  }
  return pieces;
}

/// Matrix [M, D] that has part(parameter) where Θ has the parameter; undefined results count as
/// zeros.
Tensor ParticleBlock::assemble(const std::function<Tensor(const Tensor& parameter)>& part) const {
  if (stacked_ && parameters_.size() == 1) {
    const Tensor x = part(parameters_[0]);
    return x.defined() ? view::try_reshape(contiguous(x), {count_, dim_})
                       : zeros({count_, dim_}, dtype_);
  }
  const Tensor out = empty({count_, dim_}, dtype_);
  const std::vector<Tensor> places = pieces(out);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Tensor x = part(parameters_[i]);
    if (x.defined())
      copy_(places[i], x);
    else
      fill_(places[i], 0);
  }
  return out;
}

Tensor ParticleBlock::values() const {
  return assemble([](const Tensor& x) { return x.detach(); });
}

Tensor ParticleBlock::gradients() const {
  return assemble([](const Tensor& x) {
    const Tensor g = x.grad();
    return g.defined() ? g.detach() : g;
  });
}

Tensor ParticleBlock::recorded_values() const {
  std::vector<Tensor> parts;  // blocks of columns of Θ: each [M, width]
  const std::int64_t step = stacked_ ? 1 : count_;
  for (auto x = parameters_.begin(); x != parameters_.end(); x += step) {
    std::vector<Tensor> pieces;
    for (auto piece = x; piece != x + step; ++piece)
      pieces.push_back(reshape(*piece, piece_shape(*piece)));
    parts.push_back(pieces.size() == 1 ? pieces[0] : concat(pieces, 0));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, 1);
}

void ParticleBlock::set_gradients(Tensor g) const {
  LADON_CHECK(g.defined() && g.shape() == Shape({count_, dim_}), "set_gradients", "block \"", name_,
              "\" is ", Shape{count_, dim_}, "; the gradients must have that shape, got ",
              detail::shape_in_words(g));
  if (const Tensor old = parameters_[0].grad();
      parameters_.size() == 1 && g.dtype() == dtype_ && g.contiguous() && g.storage().exclusive() &&
      (!old.defined() || old.storage().owners() == 2))  // owned only by the leaf and `old`
    return Tensor(parameters_[0]).set_grad(view::try_reshape(g.detach(), parameters_[0].shape()));
  const std::vector<Tensor> from = pieces(g);
  for (std::size_t i = 0; i < from.size(); ++i) {
    Tensor target = parameters_[i].grad();
    if (!target.defined() || !target.contiguous() || target.requires_grad())
      target = empty_like(parameters_[i].detach());
    copy_(target, from[i]);
    Tensor(parameters_[i])
        .set_grad(std::move(target));  // also if `target` is not new: it clears used and rewritten
  }
}

void ParticleBlock::add_to_values(const Tensor& delta) const {
  LADON_CHECK(delta.defined() && delta.shape() == Shape({count_, dim_}), "add_to_values",
              "block \"", name_, "\" is ", Shape{count_, dim_},
              "; the values to add must have that shape, got ", detail::shape_in_words(delta));
  const std::vector<Tensor> from = pieces(delta);
  for (std::size_t i = 0; i < from.size(); ++i) add_(parameters_[i].detach(), from[i]);
}

// --- Particles ---

Particles::Particles(std::vector<ParticleBlock> blocks) : blocks_(std::move(blocks)) {
  LADON_CHECK(!blocks_.empty(), "particles", "Particles need at least one block, got 0");
  detail::Apart memory;
  for (const ParticleBlock& block : blocks_)
    for (const Tensor& x : block.parameters()) add(memory, block.name(), x);
}

namespace {

using NamedAttention = std::pair<std::string, const MultiHeadAttention*>;

/// Whether a and b are the same layer, or copies of each other, which share their parameters.
bool same(const MultiHeadAttention& a, const MultiHeadAttention& b) {
  return a.query.history() == b.query.history() && a.key.history() == b.key.history() &&
         a.value.history() == b.value.history() && a.output.history() == b.output.history();
}

/// The attention layers in a module, with their dotted names.
std::vector<NamedAttention> attentions_in(Module& model) {
  std::vector<NamedAttention> found;
  detail::for_each_module(model, [&](const std::string& name, Module& m) {
    const auto* attention = dynamic_cast<const MultiHeadAttention*>(&m);
    if (!attention) return;
    const bool again = std::any_of(found.begin(), found.end(), [&](const NamedAttention& f) {
      return same(*f.second, *attention);
    });
    if (!again) found.emplace_back(name, attention);
  });
  return found;
}

struct NamedPart {
  const char* name;
  Tensor parameter;
};

NamedPart part_of(const MultiHeadAttention& a, HeadPart part) {
  switch (part) {
    case HeadPart::query:
      return {"query", a.query};
    case HeadPart::key:
      return {"key", a.key};
    case HeadPart::value:
      return {"value", a.value};
    case HeadPart::output:
      break;
  }
  return {"output", a.output};
}

}  // namespace

Particles particles(Module& model, const ParticleOptions& options) {
  LADON_CHECK(!options.include.empty(), "particles",
              "`include` is empty; list at least one part of a head");
  LADON_CHECK(
      std::set(options.include.begin(), options.include.end()).size() == options.include.size(),
      "particles", "`include` lists a part of a head twice; list each part once");
  const std::vector<NamedAttention> found = attentions_in(model);
  std::vector<ParticleBlock> blocks;
  std::int64_t selected = 0;
  for (const auto& [name, attention] : found) {
    if (options.select && !options.select(name)) continue;
    ++selected;
    ParameterSet joint;
    for (const HeadPart part : options.include) {
      const NamedPart p = part_of(*attention, part);
      if (!p.parameter.defined()) continue;  // tied weights: keys use the queries' parameter
      LADON_CHECK(
          options.space == HeadSpace::separate || joint.empty() ||
              joint[0].second.size(0) == p.parameter.size(0),
          "particles", "`", name, "` has ", attention->heads(), " heads of queries and ",
          attention->kv_heads(),
          " heads of keys, but HeadSpace::joint needs equal numbers; use HeadSpace::separate, or "
          "include only parts with equal numbers of heads");
      if (options.space == HeadSpace::joint)
        joint.emplace_back(p.name, p.parameter);
      else
        blocks.push_back(
            ParticleBlock::stacked(name.empty() ? p.name : name + "." + p.name, {p.parameter}));
    }
    if (options.space == HeadSpace::joint && !joint.empty())
      blocks.push_back(ParticleBlock::stacked(name, joint));
  }
  LADON_CHECK(
      selected == 0 || !blocks.empty(), "particles", "the ", selected,
      " selected attention layers have none of the parts in `include`: with tied queries and "
      "keys there is no key; include HeadPart::query");
  LADON_CHECK(!blocks.empty(), "particles", "the model has ", found.size(),
              " attention layers, none of which was selected; select at least one "
              "MultiHeadAttention");
  return Particles(std::move(blocks));
}

Particles particles_of_members(const std::vector<ParameterSet>& members) {
  return Particles({ParticleBlock::gathered("models", members)});
}

Particles particles(const std::vector<Module*>& models) {
  std::vector<ParameterSet> members;
  for (Module* model : models) {
    LADON_CHECK(model != nullptr, "particles", "model ", members.size(),
                " is null; no model may be null");
    members.push_back(model->named_parameters());
  }
  return particles_of_members(members);
}

Particles particles_of_rows(const ParameterSet& set) {
  std::vector<ParticleBlock> blocks;
  for (const auto& [name, x] : set) blocks.push_back(ParticleBlock::stacked(name, {x}));
  return Particles(std::move(blocks));
}

Particles particles_of_rows(const Tensor& parameter, std::string name) {
  return Particles({ParticleBlock::stacked(std::move(name), {parameter})});
}

}  // namespace ladon
