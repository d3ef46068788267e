#pragma once
// Interfaces of layers: what a model is built from, and what is derived from to extend it. Each
// entry says what the interface is for, when not to derive from it, and why it has its form; the
// contract stands in the header it includes.
//
// 1. Module   (module.h)
//    Anything that owns trained tensors. One method, visit(), lists its members; names, copies,
//    saving and modes follow from that list. Derive from Layer instead where it maps one tensor to
//    one tensor. Do not list a tensor that is computed from others (a cache, a mask): it would be
//    saved, and be trained.
//    Why one list, and not a registration in each constructor: a copy of a module then needs no
//    code of its own, and a member cannot be saved under one name and loaded under another.
//
// 2. Layer, Callable   (layer.h)
//    forward() maps a tensor to a tensor, and limit() maps the kernel of its input to that of its
//    output at infinite width, side by side in one class. Derive from Callable<Self> for several
//    inputs. Do not derive from Layer for a function without trained tensors inside a forward() of
//    your own: call the operation. Leave limit() out where no derivation is known: the default is
//    an Error, and a limit that is nearly right is worse than none.
//    Why the limit is a method, and not a table elsewhere: whoever changes forward() sees the
//    limit that it must agree with, and a test compares the two for each layer.
//
// 3. AttentionHook   (attention/attention_hook.h)
//    A variant of MultiHeadAttention that changes heads (rotary positions) or adds to the logits
//    (ALiBi). Do not use it for another normalization of the weights: that is an AttentionForm.
//    Why a hook, and not a subclass: a variant needs no code for masks, windows and caches.
//
// 4. infinite::DualFunction   (infinite/dual/dual.h)
//    A nonlinearity by its expectations E[φ(u)φ(v)] and E[φ'(u)φ'(v)]. DualFunction::closed()
//    takes a closed form and checks it; DualFunction::numeric() integrates any function. Do not
//    write a closed form for speed before numeric() has shown that its cost matters.
//
// 5. infinite::GramExecutor   (infinite/gram/executor.h, for the library itself)
//    Which processes compute the tiles of a Gram matrix, and where finished tiles are kept. The
//    numbers are no concern of it: the result has the same bits with every executor.

#include "ladon/layers/attention/attention_hook.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/layer.h"
#include "ladon/layers/module.h"
