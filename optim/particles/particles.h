#pragma once
// Particles: parameters seen as rows. A head of an attention layer is a row, and so is a whole
// model of an ensemble; a method that moves particles need not know which.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"

namespace ladon {

/// M particles of D numbers each: the matrix Θ [M, D] whose entries are the elements of parameters.
/// Holds the parameters themselves; make it after Module::to(dtype), which replaces them.
class ParticleBlock {
 public:
  /// Row i is the concatenation of parameters[..][i], flattened: each [M, ...].
  static ParticleBlock stacked(std::string name, const ParameterSet& parameters);
  /// Row i is the concatenation of rows[i][..], flattened; rows of equal shapes.
  static ParticleBlock gathered(std::string name, const std::vector<ParameterSet>& rows);
  // Both throw Error for parameters that are no contiguous leaves with gradients, of different
  // dtypes, that share memory, or whose shapes do not fit; and for no row or no column.

  // Getters of a temporary return by value: for (auto& x : particles(m)[0].parameters()) is safe.
  const std::string& name() const& { return name_; }
  std::string name() && { return std::move(name_); }
  std::int64_t count() const { return count_; }  ///< M
  std::int64_t dim() const { return dim_; }      ///< D
  DType dtype() const { return dtype_; }

  /// Θ [M, D], without history. A view, without a copy, where the block is one stacked parameter.
  Tensor values() const;
  /// Θ [M, D] as recorded operations on the parameters: for a term of the loss.
  Tensor recorded_values() const;
  /// d loss / dΘ [M, D], without history; zeros for a parameter without gradient. A view or a copy.
  Tensor gradients() const;
  /// Replaces the parameters' gradients, in place where they exist. g: [M, D], cast. (One of a
  /// single parameter takes the place of a gradient without a copy, if nobody else holds either.)
  void set_gradients(Tensor g) const;
  /// Θ ← Θ + delta in place. delta: [M, D], cast.
  void add_to_values(const Tensor& delta) const;

  /// Throws Error of the operation where Module::to, share_with or replace put another tensor in
  /// the place of one after this block was made.
  void check_in_place(const char* operation) const;

  const std::vector<Tensor>& parameters() const& { return parameters_; }
  std::vector<Tensor> parameters() && { return std::move(parameters_); }
  /// x [M, D] cut as Θ is: a tensor of each parameter's shape, in the order of parameters(). Views,
  /// without a copy, where x is contiguous.
  std::vector<Tensor> pieces(const Tensor& x) const;

 private:
  ParticleBlock(std::string name, std::vector<Tensor> parameters, std::int64_t parts, bool stacked,
                std::uint64_t taken);
  Tensor assemble(const std::function<Tensor(const Tensor& parameter)>& part) const;
  Shape piece_shape(const Tensor& parameter) const;

  std::string name_;
  std::vector<Tensor> parameters_;  // stacked: one per part; gathered: part by part, M each
  std::int64_t count_, dim_ = 0;
  DType dtype_;
  bool stacked_;
  std::uint64_t taken_;  // time, as Leaf::check_in_place takes it
};

/// The blocks that a method moves. Particles repel within a block, never across.
class Particles {
 public:
  /// None: of a method that acts on activations alone (ParticleMethod::act_on).
  Particles() = default;
  /// Throws Error if there is no block or two parameters share memory.
  explicit Particles(std::vector<ParticleBlock> blocks);

  std::size_t size() const { return blocks_.size(); }
  const ParticleBlock& operator[](std::size_t i) const& { return blocks_[i]; }
  ParticleBlock operator[](std::size_t i) && { return std::move(blocks_[i]); }
  auto begin() const { return blocks_.begin(); }
  auto end() const { return blocks_.end(); }

 private:
  std::vector<ParticleBlock> blocks_;
};

/// The head-major parameters of MultiHeadAttention that can be particles.
enum class HeadPart { query, key, value, output };

enum class HeadSpace {
  /// Each part is a block of its own: "layers.0.attention.query"   (the code of An et al. 2020).
  /// If query heads share keys (kv_heads), the keys are fewer particles.
  separate,
  joint,  ///< One block per attention, rows [q, k, v]: "layers.0.attention"
};

struct ParticleOptions {
  HeadSpace space = HeadSpace::separate;
  std::vector<HeadPart> include = {HeadPart::query, HeadPart::key, HeadPart::value};
  /// Which attention layers, by dotted name (the model's own name is ""); empty: all.
  std::function<bool(std::string_view name)> select = {};
};

/// The heads of every MultiHeadAttention in the model (which may be one itself), in visiting order;
/// a layer that is visited twice comes once. Biases are no part of a particle. Throws Error if
/// there is none, or `include` is empty or names a part twice.
/// [RA]: An et al., "Repulsive Attention", EMNLP 2020.
Particles particles(Module& model, const ParticleOptions& options = {});

/// Row i is all parameters of members[i]: an ensemble, of whole models or of a part of each, such
/// as their adapters, model.choose("lora.*"). One block, "models". Throws Error where the
/// parameters' names or shapes differ between members. Each one's gradient must be that of its own
/// loss: sum the losses, do not average them.
Particles particles_of_members(const std::vector<ParameterSet>& members);
Particles particles(const std::vector<Module*>& models);

/// Gives all ranks (core/ranks/ranks.h) the gradients of all particles, exactly, when each rank has
/// run backward() for its own particles of a block, those of share_of(M). Call it before apply():
/// then all ranks move all particles alike, and each works for its own. Throws Error where ranks
/// hold other blocks.
///   const ranks::Share mine = ranks::share_of(models.size());
///   for (i = mine.first; i < mine.last; ++i) backward(loss(*models[i]));
///   share_gradients(repulsion.particles());
///   repulsion.apply();
void share_gradients(const Particles& particles);

/// Each parameter of the set is a block, called as it is, whose row i is parameter[i]: the heads of
/// model.choose("*.attention.output"), the rows of a Linear's weight.
Particles particles_of_rows(const ParameterSet& set);
/// Particles of one parameter: one block called `name`, whose row i is parameter[i].
Particles particles_of_rows(const Tensor& parameter, std::string name = "rows");

}  // namespace ladon
