#include "ladon/autograd/ops/shape.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/study.h"
#include "ladon/examples/word_for_word/lexicon.h"

namespace ladon::example {

std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator) {
  const std::vector<std::string>& sources = corpus.test.sources;
  std::vector<Translations> all = {
      timed("word for word", [&] { return word_for_word(corpus.train, sources); }),
      timed("greedy", [&] { return translate(translator, sources, 0); })};
  if (s.beams > 0)
    all.push_back(
        timed(join(s.beams, " beams"), [&] { return translate(translator, sources, s.beams); }));
  return all;
}

Table table_of(const Course& course) {
  Table table("step",
              {{"train", "loss on pairs that are trained on, nats a token", Better::lower},
               {"validation", "on others, without dropout as those", Better::lower},
               {"BLEU", "of 100, on the first 200 validation pairs, greedily", Better::higher},
               {"seconds", "for the steps since the last look, without the look"}});
  for (const auto& look : rows_of(course.looks))
    table.add({join(look[Course::steps]),
               {{look[Course::train]},
                {look[Course::validation]},
                {look[Course::bleu]},
                {look[Course::seconds]}}});
  return table;
}

}  // namespace ladon::example
