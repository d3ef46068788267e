#pragma once
// Particles: parameters seen as rows of a matrix. A row may be a head of an attention layer or a
// whole model of an ensemble; methods treat both alike.

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
/// Refers to the parameters themselves, so construct it after Module::to(dtype), which replaces
/// them.
class ParticleBlock {
 public:
  /// Every parameter is [M, ...]. Row i concatenates the flattened slices parameters[k][i] over k.
  static ParticleBlock stacked(std::string name, const ParameterSet& parameters);
  /// Row i is the concatenation of rows[i][..], flattened; rows of equal shapes.
  static ParticleBlock gathered(std::string name, const std::vector<ParameterSet>& rows);
  // Both throw Error for parameters that are not contiguous leaves that require gradients, that
  // have different dtypes or share memory, or whose shapes do not fit; and if there is no row or no
  // column.

  // On a temporary, getters return by value, so for (auto& x : particles(m)[0].parameters()) is
  // safe.
  const std::string& name() const& { return name_; }
  std::string name() && { return std::move(name_); }
  std::int64_t count() const { return count_; }  ///< M
  std::int64_t dim() const { return dim_; }      ///< D
  DType dtype() const { return dtype_; }

  /// Θ [M, D], without history. A view, not a copy, if the block is one stacked parameter.
  Tensor values() const;
  /// Θ [M, D] in recorded operations on the parameters, for use in a loss.
  Tensor recorded_values() const;
  /// d loss / dΘ [M, D], without history; zeros for a parameter without gradient. A view or a copy.
  Tensor gradients() const;
  /// Replaces the parameters' gradients, in place where they exist. g: [M, D], cast. (For a block
  /// of a single parameter g itself becomes the gradient, without a copy, if neither has another
  /// owner.)
  void set_gradients(Tensor g) const;
  /// Θ ← Θ + delta in place. delta: [M, D], cast.
  void add_to_values(const Tensor& delta) const;

  /// Throws Error naming `operation` if Module::to, share_with or replace has replaced a parameter
  /// since this block was made.
  void check_in_place(const char* operation) const;

  const std::vector<Tensor>& parameters() const& { return parameters_; }
  std::vector<Tensor> parameters() && { return std::move(parameters_); }
  /// x [M, D] split like Θ: one tensor of each parameter's shape, in the order of parameters().
  /// Views, not copies, if x is contiguous.
  std::vector<Tensor> pieces(const Tensor& x) const;

 private:
  ParticleBlock(std::string name, std::vector<Tensor> parameters, std::int64_t parts, bool stacked,
                std::uint64_t taken);
  Tensor assemble(const std::function<Tensor(const Tensor& parameter)>& part) const;
  Shape piece_shape(const Tensor& parameter) const;

  std::string name_;
  std::vector<Tensor> parameters_;  // stacked: one per part; gathered: M for each part in turn
  std::int64_t count_, dim_ = 0;
  DType dtype_;
  bool stacked_;
  std::uint64_t taken_;  // time stamp for Leaf::check_in_place
};

/// The blocks of particles that a method moves. Particles repel within a block, never across
/// blocks.
class Particles {
 public:
  /// No blocks: for a method that acts on activations only (ParticleMethod::act_on).
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
  /// One block per part: "layers.0.attention.query"   (as in the code of An et al. 2020). If query
  /// heads share keys (kv_heads), there are fewer particles of keys.
  separate,
  joint,  ///< One block per attention layer, rows [q, k, v]: "layers.0.attention"
};

struct ParticleOptions {
  HeadSpace space = HeadSpace::separate;
  std::vector<HeadPart> include = {HeadPart::query, HeadPart::key, HeadPart::value};
  /// Selects attention layers by dotted name (the model's own name is ""); empty: all.
  std::function<bool(std::string_view name)> select = {};
};

/// The heads of every MultiHeadAttention in the model (which may be one itself), in visiting order;
/// a layer that is visited twice is included once. Biases are not part of a particle. Throws Error
/// if there is no such layer, or if `include` is empty or lists a part twice.
/// (An et al., "Repulsive Attention", EMNLP 2020.)
Particles particles(Module& model, const ParticleOptions& options = {});

/// An ensemble: row i is all parameters of members[i], of whole models or of a part of each, such
/// as their adapters, model.choose("lora.*"). One block, "models". Throws Error if the parameters'
/// names or shapes differ between members. Each member's gradient must be that of its own loss: sum
/// the losses, do not average them.
Particles particles_of_members(const std::vector<ParameterSet>& members);
Particles particles(const std::vector<Module*>& models);

/// One block per parameter of the set, with its name, whose row i is parameter[i]: the heads of
/// model.choose("*.attention.output"), say, or the rows of a Linear's weight.
Particles particles_of_rows(const ParameterSet& set);
/// Particles from one parameter: one block called `name`, whose row i is parameter[i].
Particles particles_of_rows(const Tensor& parameter, std::string name = "rows");

}  // namespace ladon
