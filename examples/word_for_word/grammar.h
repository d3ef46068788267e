#pragma once
// English sentences and their German translations, from a grammar of a few rules, so that one can
// tell which rules a model has learned.

#include "ladon/core/extra/text/text.h"
#include "ladon/core/random.h"

namespace ladon::example {

/// `count` different pairs. A subject does something to an object:
///
///   the small dog sees a bird                der kleine Hund sieht einen Vogel
///   today the small dog sees a bird          heute sieht der kleine Hund einen Vogel
///   she says that the small dog sees a bird  sie sagt, dass der kleine Hund einen Vogel sieht
///   the small dog has seen a bird            der kleine Hund hat einen Vogel gesehen
///
/// German verbs are second in a main clause, and last in a subordinate one; participles are last,
/// except before "hat" in a subordinate clause. Articles and adjectives agree with gender, number
/// and case of their noun, verbs with the number of the subject.
ParallelText grammar_pairs(std::int64_t count, Generator& rng);

}  // namespace ladon::example
