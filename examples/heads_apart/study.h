#pragma once
// Distance of heads in weights and in attention maps, after training and epoch by epoch.

#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

/// Cosine between the heads' attention maps at the token where answers are read, mean over layers
/// and test sequences: [heads, heads].
Tensor similarity(const Classifier& model, const Task& task);
/// Mean of a matrix [heads, heads] over pairs of different heads; NaN with one head.
double off_diagonal_mean(const Tensor& matrix);
/// Mean distance between two heads' parameters: the blocks W_q, W_k, W_v of all layers.
double head_distance(const Particles& heads);

/// Observer of training that measures the figures of columns().
Watch apart(const Task& task);
const std::vector<Column>& columns();
/// Draws heads_apart.svg: the similarity of the heads' attention before and after training.
void draw(const Settings& settings, const Outcomes& outcomes);

/// Interactive page: the heads after each epoch of training by each method, with the seed of the
/// run that typical() chooses. Throws Interrupted.
Page page(const Settings& settings, const Task& task, const Outcomes& outcomes);

}  // namespace ladon::example
