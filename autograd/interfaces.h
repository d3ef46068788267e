#pragma once
// Interfaces of autograd: what is derived from or called to extend it. Each entry says what the
// interface is for, when not to use it, and why it has its form; the contract stands in the header
// it includes.
//
// 1. An operation: record(), record_joint()   (record.h, elementwise.h, forms.h)
//    A function of tensors computes its value by kernels of core and hands it to record() with one
//    rule per input. Do not write one for what public operations can express: their composition
//    has all derivatives already, and record() pays only where the gradient is cheaper or more
//    precise than that of the composition.
//    Why a rule per input, and not a class per operation: a gradient that nobody wants is then
//    never computed, and a rule that is written in public operations has second derivatives and
//    tangents without a further line.
//
// 2. A user's own operation: CustomFunction   (functional.h)
//    The same from outside, with one gradient function for all inputs, as torch.autograd.Function.
//    Do not use it inside the library: its forward function runs unrecorded and its inputs are
//    always kept.
//
// 3. What travels with values: detail::Tangent   (tangent.h)
//    The base of forward mode's tangents. Derive from it only for another kind of derivative that is
//    propagated with the values; a property of the whole computation (time, memory, draws) is not
//    one: that is a scope, detail::Scoped (core/modes.h).
//    Why a virtual function of the tangent, and not a table of modes: the graph then needs no
//    forward mode, and a program without dual numbers links none.
//
// 4. An observer or a replacement of a gradient: register_hook()   (hook.h)
//    A function of the gradient of one tensor, called during backward(). Do not use it to change
//    parameters: an optimizer does that after the sweep, when all gradients are known.

#include "ladon/autograd/functional.h"
#include "ladon/autograd/hook.h"
#include "ladon/autograd/record.h"
#include "ladon/autograd/tangent.h"
