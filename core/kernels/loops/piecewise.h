#pragma once
// Types of the loops of piecewise functions and losses (kernels/piecewise.h).

#include <cstdint>

namespace ladon::kernels {

/// The parameters of a function, in the dtype of its elements.
template <class T>
struct NumbersOf {
  T a, b;
};

/// y = f(x).
template <class T>
using PiecewiseLoop = void (*)(const T* x, T* y, std::int64_t n, NumbersOf<T> p);
/// dx = g·f'(x).
template <class T>
using PiecewiseGradientLoop = void (*)(const T* g, const T* x, T* dx, std::int64_t n,
                                       NumbersOf<T> p);
/// y = the loss of prediction x and target t.
template <class T>
using LossLoop = void (*)(const T* x, const T* t, T* y, std::int64_t n, NumbersOf<T> p);
/// dx = g·∂loss/∂x.
template <class T>
using LossGradientLoop = void (*)(const T* g, const T* x, const T* t, T* dx, std::int64_t n,
                                  NumbersOf<T> p);

}  // namespace ladon::kernels
