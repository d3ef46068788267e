#pragma once
// Translation word for word: what can be had without order and agreement.

#include <string>
#include <unordered_map>

#include "ladon/core/text/text.h"

namespace ladon::example {

/// For every source word the target word that it most probably becomes, by IBM Model 1 (Brown,
/// Della Pietra, Della Pietra and Mercer 1993): each target word of a pair comes from one of the
/// source words, or from none, with t(target | source), which a few rounds of EM find. Words are
/// those of BLEU.
class Lexicon {
 public:
  explicit Lexicon(const ParallelText& pairs);
  /// One word for each, in the source's order; words that it does not know stay as they are.
  std::string translate(const std::string& source) const;

 private:
  std::unordered_map<std::string, std::string> words_;
};

}  // namespace ladon::example
