#include "ladon/examples/char_gpt/page.h"

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/page/attention.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

Page page(LanguageModel& model, const Corpus& corpus, std::int64_t context) {
  model.eval();
  const std::vector<SeenText> texts =
      seen_texts(model, corpus.text.validation, std::min<std::int64_t>(context, 32),
                 [&](std::int64_t token) { return corpus.characters.decode({token}); });
  return attention_page(
      "A head of a GPT looks at several characters at once, not at one",
      join("Attention of this run's small GPT in ", texts.size(), " pieces of ", corpus.name,
           " that it was not trained on. Choose a piece (or type words of it), a layer, a head and "
           "a character: the row of the map is where the head looks from there, and the bars are "
           "what the model expects next."),
      {{"question", "How many of the characters before it does a head look at?"},
       {"answers",
        {"one: attention chooses", "several: fewer at some places, more at others", "all alike"}},
       {"right", 1},
       {"because",
        "A row with one dark cell looks at one character; most rows have several paler cells."}},
      texts);
}

}  // namespace ladon::example
