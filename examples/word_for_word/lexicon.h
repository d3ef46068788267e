#pragma once
// Translation word for word: what can be had without order and agreement.

#include <string>
#include <vector>

#include "ladon/core/text/text.h"

namespace ladon::example {

/// Each source word by the target word that it most probably becomes, in the source's order, by IBM
/// Model 1 (Brown, Della Pietra, Della Pietra and Mercer 1993): each target word of a pair comes
/// from one of the source words, or from none, with t(target | source), which a few rounds of EM
/// find. Words are those of BLEU; ones that the pairs do not have stay as they are.
std::vector<std::string> word_for_word(const ParallelText& pairs,
                                       const std::vector<std::string>& sources);

}  // namespace ladon::example
