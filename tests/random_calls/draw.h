#pragma once
// Arguments of random calls: sensible ones mostly, and sometimes the worst there
// are.

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

/// Larger tensors are not passed on to later calls: what a few of them make together stays cheap.
inline constexpr std::int64_t max_elements = 256;

/// Draws arguments, and says in words what it drew. What it draws depends on its seed alone.
///
/// The first tensor of a call is its subject: later axes, indices and shapes are drawn so that they
/// fit it, most of the time.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  /// Begins a call: its words are the name until something is drawn.
  void begin(const std::string& name);
  /// The call so far, "softmax: f32 [2, 3]; -1".
  const std::string& words() const { return words_; }
  /// Adds to the words; for decisions that a call takes itself.
  template <class T>
  T say(const T& value) {
    add_words(detail::join(value));
    return value;
  }
  void say(const char* text) { add_words(text); }

  // --- decisions, without words ---

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % n); }
  bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[below(static_cast<std::int64_t>(list.size()))];
  }

  // --- numbers ---

  /// A small integer; sometimes an extreme one: 2³⁰, −2⁶³, ….
  std::int64_t integer();
  /// From low to high (both included); sometimes beside them, or extreme.
  std::int64_t around(std::int64_t low, std::int64_t high);
  int small_int() { return static_cast<int>(say(below(7) - 1)); }
  /// A number: of any size, ±∞, NaN.
  double number();
  /// A number of an option that is in [0, 1] where it is right.
  double fraction();
  bool flag() { return say(chance(0.5)); }
  std::uint64_t seed() { return static_cast<std::uint64_t>(below(1000)); }

  // --- tensors ---

  /// One of the pool or a new one, of any dtype, shape and layout; sometimes undefined.
  Tensor tensor();
  /// Floating, mostly.
  Tensor floating();
  Tensor floating(const Shape& shape);
  /// Floating, of that shape mostly.
  Tensor near(const Shape& shape);
  /// bool, that broadcasts to the subject mostly.
  Tensor mask();
  Tensor mask(const Shape& shape);
  /// Tensor that broadcasts with the subject, mostly.
  Tensor partner();
  /// As tensor(); sometimes a view of more elements than memory can hold. For operations that look
  /// at no element, or must store as many.
  Tensor perhaps_giant();
  /// Of the subject's shape, mostly.
  Tensor twin();
  /// i64 of that shape, with values from 0 to below `count`, mostly.
  Tensor indices(const Shape& shape, std::int64_t count);
  /// A tensor of exactly that shape and dtype in some layout; may require a gradient.
  Tensor made(const Shape& shape, DType dtype);
  std::vector<Tensor> several(std::int64_t least, std::int64_t most);

  // --- what goes with the subject ---

  const Tensor& subject() const { return subject_; }
  void set_subject(const Tensor& x) { subject_ = x; }
  int axis();
  std::vector<int> axis_list();
  Axes axes();
  Dims dims() { return say(chance(0.5)) ? Dims::keep : Dims::drop; }
  /// A list of numbers, one per axis mostly.
  std::vector<std::int64_t> count_list();
  /// A size of the subject at some axis, or 1.
  std::int64_t some_size();

  Shape shape();
  /// Of at most max_elements.
  Shape small_shape();
  DType dtype();
  DType floating_dtype() { return chance(0.5) ? f32 : f64; }

  // --- what lives on between the calls of an episode ---

  void keep(const Tensor& x);
  /// Counts the leaves that x depends on, also those that were not drawn (parameters of models),
  /// among those whose gradients are cleared.
  void adopt(const Tensor& x);
  /// Breaks the knots that create_graph ties (a leaf's gradient holds the graph, and that the
  /// leaf).
  void clear_gradients();

 private:
  void add_words(const std::string& what);
  Tensor fill(const Shape& shape, DType dtype);
  Tensor lay_out(const Shape& shape, DType dtype);
  Tensor hollow();
  /// Of so many elements that operations share them out among threads.
  Tensor large();
  Tensor spoken(Tensor x);

  std::mt19937_64 random_;
  std::string words_;
  Tensor subject_;
  std::vector<Tensor> pool_, leaves_;
  std::vector<LeafUse> adopted_;
};

/// "f32 [2, 3] in strides [1, 2], requires a gradient".
std::string describe(const Tensor& x);

// --- draws as functions: what rows of the table name their arguments by ---

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
