#pragma once
// Quality of translations, as tables and pictures.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/translate/train.h"

namespace ladon::example {

/// Translations of the test sources, by one method.
struct Translations {
  std::string method;
  std::vector<std::string> texts;
  double seconds = 0;
};

/// Word for word, greedily, and by beam search if there are beams.
std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator);

Table table_of(const Course& course);
Table table_of(const std::vector<Translations>& all, const Corpus& corpus);

/// The first test sentences: source, reference, and what each method says.
std::string shown(const std::vector<Translations>& all, const Corpus& corpus);

/// Draws translate.svg, where the decoder looks at the first look and at last, and
/// translate_course.svg, losses and BLEU against steps, above what translation word for word gives.
/// Returns their paths; none without gnuplot.
std::vector<std::filesystem::path> draw(const Settings& s, const std::string& corpus,
                                        const Course& course, const Attention& last,
                                        double word_for_word);

}  // namespace ladon::example
