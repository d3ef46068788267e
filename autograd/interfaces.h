#pragma once
// Interfaces of autograd: the classes to derive from and the functions to call to extend it. Each
// entry says what the interface is for, when not to use it, and why it has its form; the contract
// is in the header named next to it.
//
// 1. An operation: record(), record_joint()   (record.h, elementwise.h, forms.h)
//    A function of tensors computes its value by kernels of core and passes it to record() with one
//    gradient rule per input. Do not write an operation for what public operations can express:
//    their composition has all derivatives already, and record() pays only where the gradient is
//    cheaper or more precise than that of the composition.
//    Why a rule per input, and not a class per operation: the gradient of an input that needs none
//    is then never computed, and a rule that is written in public operations has second derivatives
//    and tangents without further code.
//
// 2. A user's own operation: CustomFunction   (functional.h)
//    An operation written outside the library, with one gradient function for all inputs, like
//    torch.autograd.Function. Do not use it inside the library: its forward function runs
//    unrecorded and its inputs are always kept.
//
// 3. A derivative that is propagated with the values: detail::Tangent   (tangent.h)
//    The base class of forward mode's tangents. Derive from it only for another kind of derivative
//    that is propagated with the values. For a property of the whole computation (time, memory,
//    random draws) use a scope instead: detail::Scoped (core/modes.h).
//    Why a virtual function of the tangent, and not a table of modes: the graph then does not
//    depend on forward mode, and a program without dual numbers does not link it.
//
// 4. An observer of every recorded operation: detail::Observer   (observer.h)
//    It is called for every operation of its thread, for the calls of layers and for the
//    computation of gradients; the profiler is one. Do not use it to change results: what it is
//    shown must stay as it is.
//    Why one pointer per thread, and no list: without an observer an operation pays for one
//    comparison.
//
// 5. An observer or a replacement of a gradient: register_hook()   (hook.h)
//    A function of the gradient of one tensor, called during backward(). Do not use it to change
//    parameters: an optimizer does that after the backward pass, when all gradients are known.

#include "ladon/autograd/functional.h"
#include "ladon/autograd/hook.h"
#include "ladon/autograd/record.h"
#include "ladon/autograd/tangent.h"
