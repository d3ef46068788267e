#pragma once
// Interfaces of layers: the base classes of models, from which extensions derive. Each entry says
// what the interface is for, when not to derive from it, and why it has its form; the contract is
// in the header in brackets.
//
// 1. Module   (module.h)
//    Anything that owns trained tensors. One method, visit(), lists its members; names, copies,
//    saving and modes follow from that list. Derive from Layer instead if it maps one tensor to one
//    tensor. Do not list a tensor that is computed from others (a cache, a mask): it would be saved
//    and trained.
//    Why one list, and not a registration in each constructor: a copy of a module then needs no
//    code of its own, and a member cannot be saved under one name and loaded under another.
//
// 2. Layer, Callable   (layer.h)
//    forward() maps a tensor to a tensor; limit() maps the kernel of the input to the kernel of the
//    output at infinite width. Both are methods of one class. Derive from Callable<Self> for
//    several inputs. Do not derive from Layer for a function without trained tensors: call the
//    operation inside forward(). Do not override limit() if no derivation is known: the default
//    throws Error, which is better than a limit that is only nearly right.
//    Why the limit is a method, and not an entry of a separate table: whoever changes forward()
//    sees the limit that it must agree with, and a test compares the two for each layer.
//
// 3. AttentionHook   (attention/attention_hook.h)
//    A variant of MultiHeadAttention that changes queries, keys or values (rotary positions) or
//    adds to the logits (ALiBi). Do not use it to replace softmax: choose an AttentionForm.
//    Why a hook, and not a subclass: a variant needs no code for masks, windows and caches.
//
// 4. infinite::DualFunction   (infinite/dual/dual.h)
//    A nonlinearity φ, given by the expectations E[φ(u)φ(v)] and E[φ'(u)φ'(v)] for Gaussian u and
//    v. DualFunction::closed() takes a closed form and checks it; DualFunction::numeric()
//    integrates any function. Do not write a closed form for speed before numeric() has shown that
//    its cost matters.
//
// 5. infinite::GramExecutor   (infinite/gram/executor.h, for the library itself)
//    Which processes compute the tiles of a Gram matrix, and where finished tiles are kept. An
//    executor does not affect the values: the result is bitwise the same with each.

#include "ladon/layers/attention/attention_hook.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/layer.h"
#include "ladon/layers/module.h"
