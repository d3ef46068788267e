// Exercise 3 of lesson 9 (★★★): where two particles rest.
//
// By symmetry they rest at −a and a. Write the SVGD direction φ at a, as the lesson's page does for
// the density N(0, 1), for a score s with s(−x) = −s(x); both particles contribute to the driving
// and to the repulsive force. On N(0, 1) the equation φ(a) = 0 has a closed form; for other
// densities solve it by bisection. Hint: just right of 0 the force points outwards, and far out it
// points inwards; double an upper bound of a until the force there points inwards.

#include "09_particles/exercises/exercises.h"

using namespace ladon;

double pair_distance(const std::function<double(double)>& score, double alpha, double h2) {
  lessons::to_do("the root of the balance of two forces, and from it the distance");
}
