#pragma once
// Translation word for word: a baseline without word order and agreement.

#include <string>
#include <vector>

#include "ladon/core/extra/text/text.h"

namespace ladon::example {

/// Replaces each source word by its most probable target word, in the source's order, by IBM Model
/// 1 (Brown, Della Pietra, Della Pietra and Mercer 1993): each target word of a pair comes from one
/// of the source words, or from none, with probability t(target | source), estimated by a few
/// rounds of EM. Words are tokenized as for BLEU; words that do not occur in the pairs stay as they
/// are.
std::vector<std::string> word_for_word(const ParallelText& pairs,
                                       const std::vector<std::string>& sources);

}  // namespace ladon::example
