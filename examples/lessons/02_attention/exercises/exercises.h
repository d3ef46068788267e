#pragma once
// Exercises of lesson 2: a softmax that is never NaN, one head, several heads.

#include "exercise.h"

/// 1. Softmax of every row of the logits, along the last axis. −∞ marks a masked key, which gets
/// weight 0. A row in which all keys are masked gives zeros.
ladon::Tensor safe_softmax(const ladon::Tensor& logits);
void check_safe_softmax(decltype(safe_softmax)* yours);

/// 2. Output of one causal head: q, k [T, d_k], v [T, d_v] → [T, d_v]. Query i attends to the keys
/// 0 … i.
ladon::Tensor causal_head(const ladon::Tensor& q, const ladon::Tensor& k, const ladon::Tensor& v);
void check_causal_head(decltype(causal_head)* yours);

/// 3. Self-attention by several heads, without mask: x [B, T, D] → [B, T, D]. The projection is
/// fused, [D, 3D]: the first D columns of x·projection are the queries of all heads, the next D
/// their keys, the last D their values. In each of these blocks head h has columns h·d … (h + 1)·d
/// − 1, d = D/heads. The rows of output [D, D] are in the same order.
ladon::Tensor several_heads(const ladon::Tensor& x, const ladon::Tensor& projection,
                            const ladon::Tensor& output, int heads);
void check_several_heads(decltype(several_heads)* yours);
