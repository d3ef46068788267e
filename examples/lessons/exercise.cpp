#include "exercise.h"

#include <cmath>
#include <iostream>

namespace ladon::lessons {
namespace {

using detail::join;

Tensor numbers(const Tensor& x) { return cast(x.detach(), f64); }

bool equals(const Tensor& yours, const Tensor& result, double tolerance) {
  if (yours.shape() != result.shape()) return false;
  if (yours.count() == 0) return true;
  const double size = amax(abs(result)).item();
  return amax(abs(yours - result)).item() <= tolerance * std::max(size, 1e-3);
}

/// Index of the element number `place` in row-major order as text, such as "[1, 2]".
std::string index_text(const Shape& shape, std::int64_t place) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = std::to_string(place % shape[axis]) + (text.empty() ? "" : ", ") + text;
    place /= shape[axis];
  }
  return "[" + text + "]";
}

}  // namespace

void to_do(const std::string& what) { throw Hole("still to be written: " + what); }

void require(bool condition, const std::string& reason) {
  if (!condition) throw Wrong(reason);
}

void compare(const std::string& what, const Tensor& yours, const Tensor& right,
             const std::vector<Mistake>& mistakes, double tolerance) {
  require(yours.defined(), what + " is an undefined tensor: nothing was returned");
  const Tensor x = numbers(yours), y = numbers(right);
  if (equals(x, y, tolerance)) return;
  for (const Mistake& mistake : mistakes)
    if (equals(x, numbers(mistake.result), tolerance)) throw Wrong(mistake.reason);
  require(x.shape() == y.shape(),
          join(what, " has shape ", x.shape(), ", and should have ", y.shape()));
  if (x.rank() == 0) throw Wrong(join(what, " is ", x.item(), ", and should be ", y.item()));
  require(all(isfinite(x)).item<bool>(), what + " holds numbers that are not finite");
  const auto place = argmax(flatten(abs(x - y))).item<std::int64_t>();
  const auto at_place = [place](const Tensor& t) { return t.to_vector()[place]; };
  throw Wrong(join(what, " differs from the right one, most at ", index_text(x.shape(), place),
                   ": ", at_place(x), " instead of ", at_place(y), ", off by ",
                   at_place(x) - at_place(y)));
}

void compare(const std::string& what, double yours, double right,
             const std::vector<Mistake>& mistakes, double tolerance) {
  compare(what, scalar(yours, f64), scalar(right, f64), mistakes, tolerance);
}

std::string described(const Tensor& x) {
  return x.defined() ? join("tensor ", x.shape()) : "undefined tensor";
}

std::string described(const std::vector<double>& numbers) {
  if (numbers.size() > 8) return join(numbers.size(), " numbers");
  std::string all;
  for (const double number : numbers) all += join(all.empty() ? "" : ", ", number);
  return "{" + all + "}";
}

void announce(const std::string& arguments) {
  static int call = 0;
  std::cout << "call " << ++call << ": (" << arguments << ")" << std::endl;
}

int verdict(const std::function<void()>& check) {
  std::cout << std::unitbuf;  // unbuffered, so that a crash loses no output
  try {
    check();
    std::cout << "passed\n";
    return 0;
  } catch (const Wrong& wrong) {
    std::cout << wrong.what() << '\n';
  } catch (const std::exception& error) {
    std::cout << "it ended with an error: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace ladon::lessons
