// The files encoder.json and vocab.bpe, and tokenizer.json, which holds both.

#include "ladon/core/error.h"
#include "ladon/core/extra/io/json.h"
#include "ladon/core/extra/text/byte_alphabet.h"
#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

using nlohmann::json;

constexpr std::string_view version = "#version";

// Reads {"token": number, …} from the events of a JSON parser, and stores only tokens and numbers.
class EncoderReader : public nlohmann::json_sax<json> {
 public:
  explicit EncoderReader(const std::string& name) : name_(name) {}

  detail::TextMap<std::int64_t> numbers;

  bool start_object(std::size_t) override {
    check(!open_);
    return open_ = true;
  }
  bool key(string_t& token) override {
    token_ = token;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    check(open_ && value < std::uint64_t{1} << 31);
    const auto number = static_cast<std::int64_t>(value);
    const auto [entry, fresh] = numbers.emplace(token_, number);
    LADON_CHECK(fresh, "byte_pair", name_, ": the token '", shortened(token_),
                "' occurs twice, as ", entry->second, " and ", number);
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return check(false); }
  bool end_array() override { return check(false); }
  bool number_integer(number_integer_t) override { return check(false); }
  bool number_float(number_float_t, const string_t&) override { return check(false); }
  bool null() override { return check(false); }
  bool boolean(bool) override { return check(false); }
  bool string(string_t&) override { return check(false); }
  bool binary(binary_t&) override { return check(false); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    detail::fail("byte_pair", name_, ": is not JSON: ", std::string(e.what()).substr(0, 200));
  }

 private:
  bool check(bool ok) const {
    LADON_CHECK(ok, "byte_pair", name_,
                ": needs {\"token\": number, …} with numbers from 0 to 2^31 − 1, but has something "
                "else ",
                token_.empty() ? "at its start" : "at token '" + shortened(token_) + "'");
    return true;
  }

  const std::string& name_;
  std::string token_;
  bool open_ = false;
};

// Pointers to the tokens in the map, as the file writes them, ordered by their numbers.
std::vector<const std::string*> in_order(const detail::TextMap<std::int64_t>& numbers,
                                         const std::string& name) {
  std::vector<const std::string*> written(numbers.size(), nullptr);
  for (const auto& [token, number] : numbers) {
    LADON_CHECK(number < static_cast<std::int64_t>(written.size()), "byte_pair", name,
                ": the token '", shortened(token), "' has number ", number, ", but there are ",
                written.size(), " tokens, which need 0 to ", written.size() - 1);
    const std::string*& place = written[number];
    LADON_CHECK(!place, "byte_pair", name, ": the tokens '", shortened(place ? *place : ""),
                "' and '", shortened(token), "' both have number ", number);
    place = &token;
  }
  return written;
}

// Calls merge(line, left, right) for every line after the first.
template <class F>
void for_each_merge(std::string_view text, const std::string& name, F merge) {
  LADON_CHECK(text.starts_with(version), "byte_pair", name, ":1: needs '", version, ": 0.2', got '",
              shortened(text.substr(0, text.find('\n'))), "'");
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == 1) continue;
    if (content.ends_with('\r')) content.remove_suffix(1);
    const std::size_t blank = content.find(' ');
    LADON_CHECK(blank != std::string_view::npos && blank > 0 && blank + 1 < content.size() &&
                    content.find(' ', blank + 1) == std::string_view::npos,
                "byte_pair", name, ":", line, ": needs 'left right', got '", shortened(content),
                "'");
    merge(line, content.substr(0, blank), content.substr(blank + 1));
  }
}

// Converts tokens and merges from the format of the files to the format of the tokenizer.
class Written {
 public:
  /// `numbers` and `name` must outlive this object.
  Written(const detail::TextMap<std::int64_t>& numbers, const std::string& name)
      : numbers_(numbers),
        name_(name),
        written_(in_order(numbers, name)),
        made_(written_.size(), false) {}

  std::vector<BytePairTokenizer::Merge> merges;

  /// `where` and `place` name the merge in messages.
  void merge(const std::string& where, std::int64_t place, std::string_view left,
             std::string_view right) {
    const auto number = [&](std::string_view token) {
      const auto entry = numbers_.find(token);
      LADON_CHECK(entry != numbers_.end(), "byte_pair", where, place, ": '", shortened(token),
                  "' is not a token of ", name_);
      return entry->second;
    };
    made_[number(detail::join(left, right))] = true;
    merges.emplace_back(number(left), number(right));
  }

  /// The tokens of the tokenizer; to be called after the last merge. A token is special if it is
  /// not a byte and no merge made it.
  std::vector<std::string> tokens() const {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      std::optional<std::string> bytes = from_byte_letters(*written_[i]);
      if (!made_[i] && !(bytes && bytes->size() == 1)) bytes = *written_[i];
      LADON_CHECK(bytes.has_value(), "byte_pair", name_, ": the token '", shortened(*written_[i]),
                  "' has a character that stands for no byte; such a token must be special");
      tokens.push_back(*std::move(bytes));
    }
    return tokens;
  }

 private:
  const detail::TextMap<std::int64_t>& numbers_;
  const std::string& name_;
  std::vector<const std::string*> written_;
  std::vector<bool> made_;
};

// The text {"token": number, …}, in ASCII.
std::string vocabulary_text(const std::vector<std::string>& written) {
  std::string text = "{";
  for (std::size_t i = 0; i < written.size(); ++i)
    text += detail::join(i == 0 ? "" : ", ", json(written[i]).dump(-1, ' ', true), ": ", i);
  return text + "}";
}

void check_one_of(const std::string& name, const json& value, std::initializer_list<json> allowed,
                  const std::string& what) {
  LADON_CHECK(std::find(allowed.begin(), allowed.end(), value) != allowed.end(), "byte_pair", name,
              ": ", what, " is ",
              shortened(value.dump(-1, ' ', false, json::error_handler_t::replace)),
              "; only byte-level BPE of GPT-2's words can be read");
}

// Checks settings in a tokenizer.json. Values other than those allowed would change the tokens of a
// text.
void check_byte_level(const json& all, const std::string& name) {
  const json &model = json_at(all, "model"), &words = json_at(all, "pre_tokenizer");
  const auto check = [&](const json& value, std::initializer_list<json> allowed, const char* what) {
    check_one_of(name, value, allowed, what);
  };
  check(json_at(model, "type"), {"BPE"}, "the model's type");
  check(json_at(model, "byte_fallback"), {nullptr, false}, "byte_fallback");
  check(json_at(model, "ignore_merges"), {nullptr, false}, "ignore_merges");
  check(json_at(model, "dropout"), {nullptr, 0}, "dropout");
  check(json_at(model, "continuing_subword_prefix"), {nullptr, ""}, "continuing_subword_prefix");
  check(json_at(model, "end_of_word_suffix"), {nullptr, ""}, "end_of_word_suffix");
  check(json_at(all, "normalizer"), {nullptr}, "the normalizer");
  check(json_at(words, "type"), {"ByteLevel"}, "the pre_tokenizer's type");
  check(json_at(words, "add_prefix_space"), {false}, "add_prefix_space");
  check(json_at(words, "use_regex"), {nullptr, true}, "use_regex");
}

// Checks the added tokens. Tokens with the flag "normalized" are searched for after all others; if
// there is no normalizer, the flag changes nothing as long as it is the same for all added tokens.
// Tokens without the flag "special" would be found in every text, and are refused.
void check_added(const json& added, const std::string& name) {
  for (const json& token : added) {
    const auto check = [&](const char* key, std::initializer_list<json> allowed) {
      const json& content = json_at(token, "content");
      check_one_of(
          name, json_at(token, key), allowed,
          detail::join(key, " of the added token '",
                       shortened(content.is_string() ? content.get<std::string>() : ""), "'"));
    };
    for (const char* key : {"lstrip", "rstrip", "single_word"}) check(key, {nullptr, false});
    check("special", {nullptr, true});
    const json& first = json_at(added.front(), "normalized");
    if (first == true)
      check("normalized", {true});
    else
      check("normalized", {nullptr, false});
  }
}

// Adds one entry of {"token": number, …} or of [{"content": token, "id": number}, …].
void add_numbers(detail::TextMap<std::int64_t>& numbers, const std::string& name, const json& token,
                 const json& number) {
  LADON_CHECK(token.is_string() && number.is_number_unsigned() &&
                  number.get<std::uint64_t>() < std::uint64_t{1} << 31,
              "byte_pair", name, ": needs tokens with numbers from 0 to 2^31 − 1, got ",
              shortened(token.dump()), ": ", shortened(number.dump()));
  const auto value = number.get<std::int64_t>();
  const auto [entry, fresh] = numbers.emplace(token.get<std::string>(), value);
  LADON_CHECK(fresh || entry->second == value, "byte_pair", name, ": the token '",
              shortened(entry->first), "' occurs twice, as ", entry->second, " and ", value);
}

detail::TextMap<std::int64_t> numbers_of(const json& all, const std::string& name) {
  const json &model = json_at(all, "model"), &vocabulary = json_at(model, "vocab"),
             &added = json_at(all, "added_tokens");
  LADON_CHECK(vocabulary.is_object() && (added.is_null() || added.is_array()), "byte_pair", name,
              ": needs model.vocab, an object, and added_tokens, a list or nothing");
  detail::TextMap<std::int64_t> numbers;
  for (const auto& [token, number] : vocabulary.items()) add_numbers(numbers, name, token, number);
  check_added(added, name);
  for (const json& token : added)
    add_numbers(numbers, name, json_at(token, "content"), json_at(token, "id"));
  return numbers;
}

// The two parts of a merge, which is written as "left right" or as ["left", "right"].
std::pair<std::string_view, std::string_view> parts_of(const json& merge, const std::string& name,
                                                       std::size_t rank) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>()};
  const std::string_view text =
      merge.is_string() ? merge.get_ref<const std::string&>() : std::string_view();
  const std::size_t blank = text.find(' ');
  LADON_CHECK(blank != text.npos && text.find(' ', blank + 1) == text.npos, "byte_pair", name,
              ": merge ", rank, " must be \"left right\" or [\"left\", \"right\"], got ",
              shortened(merge.dump()));
  return {text.substr(0, blank), text.substr(blank + 1)};
}

}  // namespace

BytePairTokenizer BytePairTokenizer::parse(std::string_view encoder,
                                           const std::string& encoder_name, std::string_view merges,
                                           const std::string& merges_name) {
  EncoderReader reader(encoder_name);
  json::sax_parse(encoder, &reader);
  Written written(reader.numbers, encoder_name);
  for_each_merge(merges, merges_name,
                 [&](std::int64_t line, std::string_view left, std::string_view right) {
                   written.merge(merges_name + ":", line, left, right);
                 });
  return {written.tokens(), std::move(written.merges), encoder_name + ", " + merges_name + ": "};
}

BytePairTokenizer BytePairTokenizer::parse(std::string_view text, const std::string& name) {
  const json all = parse_json("byte_pair", name, text);
  check_byte_level(all, name);
  const detail::TextMap<std::int64_t> numbers = numbers_of(all, name);
  const json& merges = json_at(json_at(all, "model"), "merges");
  LADON_CHECK(merges.is_array(), "byte_pair", name, ": needs model.merges, a list");
  Written written(numbers, name);
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto [left, right] = parts_of(merges[rank], name, rank);
    written.merge(name + ": merge ", static_cast<std::int64_t>(rank), left, right);
  }
  return {written.tokens(), std::move(written.merges), name + ": "};
}

BytePairTokenizer BytePairTokenizer::load(const std::string& encoder, const std::string& merges) {
  return parse(read_file(encoder), encoder, read_file(merges), merges);
}

BytePairTokenizer BytePairTokenizer::load(const std::string& path) {
  return parse(read_file(path), path);
}

std::vector<std::string> BytePairTokenizer::written() const {
  std::vector<std::string> written;
  for (const std::string& token : tokens_) written.push_back(to_byte_letters(token));
  for (const std::int64_t i : special_) written[i] = tokens_[i];
  detail::TextMap<std::size_t> numbers;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto [entry, fresh] = numbers.emplace(written[i], i);
    LADON_CHECK(fresh, "byte_pair", "tokens ", entry->second, " and ", i,
                " would both be written '", written[i],
                "', and one of them is special; change the text of the special token");
  }
  return written;
}

void BytePairTokenizer::save(const std::string& encoder, const std::string& merges) const {
  const std::vector<std::string> written = this->written();
  std::string lines = std::string(version) + ": 0.2\n";
  for (const auto& [left, right] : merges_) lines += written[left] + " " + written[right] + "\n";
  write_atomically(encoder, vocabulary_text(written));
  write_atomically(merges, lines);
}

void BytePairTokenizer::save(const std::string& path) const {
  const std::vector<std::string> written = this->written();
  const json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", true}};
  json added = json::array(), merges = json::array();
  for (const std::int64_t i : special_)
    added.push_back({{"id", i},
                     {"content", written[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  for (const auto& [left, right] : merges_) merges.push_back(written[left] + " " + written[right]);
  write_atomically(
      path,
      detail::join(R"({"version": "1.0", "truncation": null, "padding": null, )",
                   R"("added_tokens": )", added.dump(), R"(, "normalizer": null, )",
                   R"("pre_tokenizer": )", byte_level.dump(), R"(, "post_processor": null, )",
                   R"("decoder": )", byte_level.dump(), R"(, "model": {"type": "BPE", )",
                   R"("dropout": null, "unk_token": null, "continuing_subword_prefix": null, )",
                   R"("end_of_word_suffix": null, "fuse_unk": false, )",
                   R"("byte_fallback": false, "vocab": )", vocabulary_text(written),
                   R"(, "merges": )", merges.dump(), "}}"));
}

}  // namespace ladon
