#pragma once
// Particles: parameters seen as the rows of a matrix. A row may be one head of an attention layer
// or one whole model of an ensemble.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"

namespace ladon {

/// M particles of dimension D: the matrix Θ [M, D], whose elements are the elements of parameters.
/// The block refers to the parameters without copying them, so construct it after
/// Module::to(dtype), which replaces parameters.
class ParticleBlock {
 public:
  /// Block from parameters of shapes [M, ...]: row i of Θ concatenates the flattened slices
  /// parameters[k][i] over all parameters k.
  static ParticleBlock stacked(std::string name, const ParameterSet& parameters);
  /// Block from M sets of parameters with equal names and shapes: row i of Θ concatenates the
  /// flattened parameters of rows[i].
  static ParticleBlock gathered(std::string name, const std::vector<ParameterSet>& rows);
  // stacked() and gathered() throw Error unless all parameters are contiguous leaves that require
  // gradients, of one dtype, without shared memory and with the shapes above, and unless M and D
  // are at least 1.

  // On a temporary object, getters return by value, so that `for (auto& x :
  // particles(m)[0].parameters())` is safe.
  const std::string& name() const& { return name_; }
  std::string name() && { return std::move(name_); }
  std::int64_t count() const { return count_; }  ///< M, number of particles.
  std::int64_t dim() const { return dim_; }      ///< D, dimension of a particle.
  DType dtype() const { return dtype_; }

  /// Θ [M, D], without history. A view, not a copy, if the block consists of one stacked parameter.
  Tensor values() const;
  /// Θ [M, D] with history, so that a loss computed from it has gradients for the parameters.
  Tensor recorded_values() const;
  /// d loss / dΘ [M, D], without history; zeros for a parameter without gradient. A view or a copy.
  Tensor gradients() const;
  /// Replaces the parameters' gradients by g [M, D], cast to the parameters' dtype; existing
  /// gradients are overwritten in place. (For a block of a single parameter g itself becomes the
  /// gradient, without a copy, if neither g nor the old gradient has another owner.)
  void set_gradients(Tensor g) const;
  /// Θ ← Θ + delta in place; delta [M, D] is cast to the parameters' dtype.
  void add_to_values(const Tensor& delta) const;

  /// Throws Error naming `operation` if Module::to, share_with or replace has replaced a parameter
  /// since this block was made.
  void check_in_place(const char* operation) const;

  const std::vector<Tensor>& parameters() const& { return parameters_; }
  std::vector<Tensor> parameters() && { return std::move(parameters_); }
  /// Splits x [M, D] as Θ is split into parameters: one tensor per parameter, of its shape, in the
  /// order of parameters(). Views, not copies, if x is contiguous.
  std::vector<Tensor> pieces(const Tensor& x) const;

 private:
  ParticleBlock(std::string name, std::vector<Tensor> parameters, std::int64_t parts, bool stacked,
                std::uint64_t taken);
  Tensor assemble(const std::function<Tensor(const Tensor& parameter)>& part) const;
  Shape piece_shape(const Tensor& parameter) const;

  std::string name_;
  std::vector<Tensor> parameters_;  // of gathered(): the M tensors of the first name, then the M
                                    // tensors of the second name, and so on
  std::int64_t count_, dim_ = 0;
  DType dtype_;
  bool stacked_;
  std::uint64_t taken_;  // when the oldest set of parameters was made: ParameterSet::taken()
};

/// Blocks of particles that a method moves. Particles repel each other within a block, never across
/// blocks.
class Particles {
 public:
  /// Particles without any block, for a method that is used only with ParticleMethod::act_on.
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

/// Parameters of MultiHeadAttention whose first axis is the head, so that heads can be particles.
enum class HeadPart { query, key, value, output };

enum class HeadSpace {
  /// One block per attention layer and HeadPart, named like "layers.0.attention.query", as in the
  /// code of An et al. 2020. If query heads share keys (kv_heads), there are fewer particles of
  /// keys than of queries.
  separate,
  joint,  ///< One block per attention layer, named like "layers.0.attention"; a row contains one
          ///< head's weights of all parts in ParticleOptions::include.
};

struct ParticleOptions {
  HeadSpace space = HeadSpace::separate;
  std::vector<HeadPart> include = {HeadPart::query, HeadPart::key, HeadPart::value};
  /// Whether to include the attention layer of this dotted name (the model's own name is ""). An
  /// empty function includes all layers.
  std::function<bool(std::string_view name)> select = {};
};

/// The heads of every MultiHeadAttention in the model (the model may itself be a
/// MultiHeadAttention), in the order of its modules; a layer that occurs twice is included once.
/// Biases are not part of a particle. Throws Error if no layer is selected, or if `include` is
/// empty or lists a part twice.
/// (An et al., "Repulsive Attention", EMNLP 2020.)
Particles particles(Module& model, const ParticleOptions& options = {});

/// An ensemble as one block, called "models": row i contains all parameters of members[i], which
/// may be a whole model or a part of it, such as its adapters, model.choose("lora.*"). Throws Error
/// if the parameters' names or shapes differ between members. The gradient of each member must be
/// that of its own loss, so sum the members' losses and do not average them.
Particles particles_of_members(const std::vector<ParameterSet>& members);
Particles particles(const std::vector<Module*>& models);

/// One block per parameter of the set, with the parameter's name; particle i is parameter[i]. For
/// example the heads in model.choose("*.attention.output"), or the rows of a Linear's weight.
Particles particles_of_rows(const ParameterSet& set);
/// Particles from one parameter: one block called `name`; particle i is parameter[i].
Particles particles_of_rows(const Tensor& parameter, std::string name = "rows");

}  // namespace ladon
