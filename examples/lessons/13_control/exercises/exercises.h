#pragma once
// Exercises of lesson 13: standard errors of a difference between two arms (methods) of an
// experiment, and p values of many differences.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "exercise.h"

/// 1. Mean over questions of the difference arm − base of two arms that answered the same
/// questions, and its standard error over questions. Both lists have one score per question, such
/// as 1 for right and 0 for wrong; there are at least two questions.
ladon::Measured paired_difference(const std::vector<double>& arm, const std::vector<double>& base);
void check_paired_difference(decltype(paired_difference)* yours);

/// 2. Standard error, after Nadeau and Bengio 2003, of the mean of `differences` (one per question)
/// in a cross-validation with J ≥ 2 folds of equal size. Question i was tested in fold fold[i],
/// from 0 to J − 1, by a fit that was trained on all other folds.
double corrected_error(const std::vector<double>& differences, const std::vector<int>& fold);
void check_corrected_error(decltype(corrected_error)* yours);

/// 3. Holm's adjusted p values of a family of comparisons, in the order of the p values given:
/// entry i is the lowest level at which Holm's procedure finds comparison i significant, at most 1.
std::vector<double> holm(const std::vector<double>& p);
void check_holm(decltype(holm)* yours);
