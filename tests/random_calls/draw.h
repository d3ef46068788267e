#pragma once
// Arguments of random calls: mostly sensible ones, and sometimes extreme or wrong ones.

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::test {

using Tensors = std::vector<Tensor>;

/// Largest number of elements of a tensor that later calls may use, so that results of several such
/// tensors stay cheap.
inline constexpr std::int64_t max_elements = 256;

/// Draws the arguments of calls, and records in words what it drew. The draws depend only on the
/// seed.
///
/// The first tensor of a call is its subject: later axes, indices and shapes are drawn so that they
/// fit it, most of the time.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  /// Begins a call: sets the words to its name.
  void begin(const std::string& name);
  /// Description of the current call and its arguments so far: "softmax: f32 [2, 3]; -1".
  const std::string& words() const { return words_; }
  /// Adds a value to the description of the call, and returns it; for values that a row of the
  /// table draws by below(), chance() or one_of().
  template <class T>
  T say(const T& value) {
    add_words(detail::join(value));
    return value;
  }
  void say(const char* text) { add_words(text); }

  // --- decisions, which are not added to words() ---

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % n); }
  bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[below(static_cast<std::int64_t>(list.size()))];
  }

  // --- numbers ---

  /// A small integer; sometimes an extreme one: 2³⁰, −2⁶³, ….
  std::int64_t integer();
  /// An integer from low to high, both included; sometimes one outside, or an extreme one.
  std::int64_t around(std::int64_t low, std::int64_t high);
  int small_int() { return static_cast<int>(say(below(7) - 1)); }
  /// A number of any size, ±∞ or NaN.
  double number();
  /// A number for an option whose valid values are in [0, 1]; sometimes an invalid one.
  double fraction();
  bool flag() { return say(chance(0.5)); }
  std::uint64_t seed() { return static_cast<std::uint64_t>(below(1000)); }

  // --- tensors ---

  /// A tensor given to keep() or a new one, of any dtype, shape and memory layout; sometimes
  /// undefined.
  Tensor tensor();
  /// A tensor, mostly floating-point.
  Tensor floating();
  Tensor floating(const Shape& shape);
  /// A floating-point tensor, mostly of this shape.
  Tensor near(const Shape& shape);
  /// A boolean tensor that mostly broadcasts to the subject.
  Tensor mask();
  Tensor mask(const Shape& shape);
  /// A tensor that mostly broadcasts with the subject.
  Tensor partner();
  /// A tensor as from tensor(), or sometimes a view of more elements than memory can hold. For
  /// operations that read no elements, or whose result would not fit into memory either.
  Tensor perhaps_giant();
  /// A tensor, mostly of the subject's shape.
  Tensor twin();
  /// A tensor i64 of this shape, mostly with values from 0 to `count` − 1.
  Tensor indices(const Shape& shape, std::int64_t count);
  /// A tensor of exactly this shape and dtype, in a random memory layout; may require a gradient.
  Tensor made(const Shape& shape, DType dtype);
  std::vector<Tensor> several(std::int64_t least, std::int64_t most);

  // --- arguments that fit the subject ---

  const Tensor& subject() const { return subject_; }
  void set_subject(const Tensor& x) { subject_ = x; }
  int axis();
  std::vector<int> axis_list();
  Axes axes();
  Dims dims() { return say(chance(0.5)) ? Dims::keep : Dims::drop; }
  /// A list of numbers, mostly one per axis.
  std::vector<std::int64_t> count_list();
  /// A size of the subject at some axis, or 1.
  std::int64_t some_size();

  Shape shape();
  /// A shape with at most max_elements elements.
  Shape small_shape();
  DType dtype();
  DType floating_dtype() { return chance(0.5) ? f32 : f64; }

  // --- tensors that the calls of an episode share ---

  void keep(const Tensor& x);
  /// Adds the leaves on which x depends, also those that were not drawn (parameters of models), to
  /// those whose gradients clear_gradients() clears.
  void adopt(const Tensor& x);
  /// Clears the gradients of leaves. With create_graph a leaf's gradient refers to the graph and
  /// the graph to the leaf, a cycle that would leak memory.
  void clear_gradients();

 private:
  void add_words(const std::string& what);
  Tensor fill(const Shape& shape, DType dtype);
  Tensor lay_out(const Shape& shape, DType dtype);
  Tensor hollow();
  /// A tensor with so many elements that operations compute on several threads.
  Tensor large();
  Tensor spoken(Tensor x);

  std::mt19937_64 random_;
  std::string words_;
  Tensor subject_;
  std::vector<Tensor> pool_, leaves_;
  std::vector<LeafUse> adopted_;
};

/// Description of a tensor: "f32 [2, 3] in strides [1, 2], requires a gradient".
std::string describe(const Tensor& x);

// --- draws as functions, by which rows of the table name their arguments ---

inline Tensor any_tensor(Draw& d) { return d.tensor(); }
inline Tensor perhaps_giant(Draw& d) { return d.perhaps_giant(); }
inline Tensor floating(Draw& d) { return d.floating(); }
inline Tensor partner(Draw& d) { return d.partner(); }
inline Tensor twin(Draw& d) { return d.twin(); }
inline Tensor mask(Draw& d) { return d.mask(); }
inline std::vector<Tensor> some_tensors(Draw& d) { return d.several(0, 4); }
inline double number(Draw& d) { return d.number(); }
inline double fraction(Draw& d) { return d.fraction(); }
inline std::int64_t integer(Draw& d) { return d.integer(); }
inline std::int64_t size(Draw& d) { return d.around(0, 6); }
inline int axis(Draw& d) { return d.axis(); }
inline std::vector<int> axis_list(Draw& d) { return d.axis_list(); }
inline Axes axes(Draw& d) { return d.axes(); }
inline Dims dims(Draw& d) { return d.dims(); }
inline Shape any_shape(Draw& d) { return d.shape(); }
inline DType dtype(Draw& d) { return d.dtype(); }
inline std::vector<std::int64_t> count_list(Draw& d) { return d.count_list(); }

}  // namespace ladon::test
