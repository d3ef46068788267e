// Fuzz targets that read texts, vocabularies, tokenizers, word vectors and settings of models.

#include "ladon/core/extra/text/bleu.h"
#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/core/extra/text/characters.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/io/utf8.h"
#include "ladon/layers/extra/sequence/pretrained.h"
#include "ladon/tests/fuzz/target.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::fuzz {

bool read_glove(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  return accepted([&] { ladon::read_glove(path); });
}

bool read_text(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  const TsvColumns three{.columns = 3, .label_column = 2, .text_column = 1};
  return any_accepted([&] { read_trec(path); },
                      [&] {
                        read_trec(path, {"A", "B"});
                      },
                      [&] {
                        read_lines({path, path}, {"A", "B"});
                      },
                      [&] { read_tsv(path); }, [&] { read_tsv(path, three); },
                      [&] { read_tsv(path, guess_columns(path)); },
                      [&] { read_parallel(path, path); });
}

bool read_vocabulary(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  return accepted([&] {
    const Vocabulary vocabulary = Vocabulary::load(path);
    for (std::int64_t i = 0; i < vocabulary.size(); ++i)
      require(vocabulary.at(vocabulary.words()[static_cast<std::size_t>(i)]) == i,
              "a word has another's index");
  });
}

// encoder.json and, after a byte of 0, vocab.bpe.
bool read_byte_pair(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view encoder = bytes.substr(0, end),
                         merges = bytes.substr(std::min(end + 1, bytes.size()));
  return accepted([&] {
    const auto tokenizer = BytePairTokenizer::parse(encoder, "encoder", merges, "merges");
    for (const SpecialTokens special : {SpecialTokens::as_text, SpecialTokens::as_tokens})
      require(tokenizer.decode(tokenizer.encode(merges, special)) == merges,
              "a text does not come back");
  });
}

bool read_tokenizer_json(std::string_view bytes) {
  return accepted([&] {
    const auto tokenizer = BytePairTokenizer::parse(bytes, "tokenizer.json");
    for (const SpecialTokens special : {SpecialTokens::as_text, SpecialTokens::as_tokens})
      require(tokenizer.decode(tokenizer.encode(bytes, special)) == bytes,
              "a text does not come back");
  });
}

// The configuration of a model of no weights: what is read is then refused.
bool read_model_config(std::string_view bytes) {
  static const test::TemporaryFolder folder;  // of a model whose file of weights is empty
  const std::string& path = file_of(bytes);
  static const bool prepared = [&] {
    std::filesystem::create_symlink(path, folder / "config.json");
    save_safetensors(folder / "model.safetensors", {});
    return true;
  }();
  require(prepared && !accepted([&] { load_language_model(folder.path()); }), "a model of nothing");
  return accepted([&] {
    const LanguageModelConfig config = parse_language_model_config(bytes, "config.json");
    require(!accepted([&] { make_language_model(config, {}); }), "a model of nothing");
  });
}

// Any bytes are a text.
bool read_utf8(std::string_view bytes) {
  const std::string text = to_utf8(std::string(bytes));
  require(is_utf8(text), "to_utf8 gives what is none");
  if (is_utf8(bytes)) require(bytes.ends_with(text), "UTF-8 was changed");
  for (const std::string& token : tokenize(bytes)) require(!token.empty(), "a token is empty");
  for (const std::string& token : metrics::tokenize_13a(bytes))
    require(!token.empty(), "a token of 13a is empty");
  std::size_t length = 0;
  for (const std::string_view word : byte_pair_words(bytes)) {
    require(!word.empty() && word.data() == bytes.data() + length, "words are not the text");
    length += word.size();
  }
  require(length == bytes.size(), "words are not all of the text");
  const std::string& path = file_of(text);
  require(ladon::read_text(path) == to_utf8(text), "a file of the text is another text");
  const CharacterVocabulary characters = CharacterVocabulary::load(path);
  require(characters.decode(characters.encode(text)) == text, "characters do not come back");
  const Vocabulary vocabulary = Vocabulary::from_texts({text});
  for (const std::int64_t i : vocabulary.encode(text))
    require(i > Vocabulary::unknown, "a token of the text is unknown");
  return true;
}

}  // namespace ladon::fuzz
