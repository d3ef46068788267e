// The files encoder.json and vocab.bpe.

#include <nlohmann/json.hpp>

#include "ladon/core/data/byte_alphabet.h"
#include "ladon/core/data/byte_pair.h"
#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

constexpr std::string_view version = "#version";

// {"token": number, …} from the events of a JSON parser, which keeps no more of it than this.
class EncoderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit EncoderReader(const std::string& name) : name_(name) {}

  TextMap<std::int64_t> numbers;

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
                "' stands twice, as ", entry->second, " and ", number);
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

// Tokens as the file writes them, by number. They point into the map.
std::vector<const std::string*> in_order(const TextMap<std::int64_t>& numbers,
                                         const std::string& name) {
  std::vector<const std::string*> written(numbers.size(), nullptr);
  for (const auto& [token, number] : numbers) {
    LADON_CHECK(number < static_cast<std::int64_t>(written.size()), "byte_pair", name,
                ": the token '", shortened(token), "' has number ", number, ", but there are ",
                written.size(), " tokens, which need 0 to ", written.size() - 1);
    const std::string*& place = written[static_cast<std::size_t>(number)];
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

}  // namespace

BytePairTokenizer BytePairTokenizer::parse(std::string_view encoder,
                                           const std::string& encoder_name, std::string_view merges,
                                           const std::string& merges_name) {
  EncoderReader reader(encoder_name);
  nlohmann::json::sax_parse(encoder, &reader);
  const TextMap<std::int64_t>& numbers = reader.numbers;
  const std::vector<const std::string*> written = in_order(numbers, encoder_name);

  std::vector<Merge> pairs;
  std::vector<bool> made(written.size(), false);
  for_each_merge(merges, merges_name,
                 [&](std::int64_t line, std::string_view left, std::string_view right) {
                   const auto number = [&](std::string_view token) {
                     const auto entry = numbers.find(token);
                     LADON_CHECK(entry != numbers.end(), "byte_pair", merges_name, ":", line, ": '",
                                 shortened(token), "' is no token of ", encoder_name);
                     return entry->second;
                   };
                   const auto whole = number(detail::join(left, right));
                   made[static_cast<std::size_t>(whole)] = true;
                   pairs.emplace_back(number(left), number(right));
                 });

  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::optional<std::string> bytes = from_byte_letters(*written[i]);
    if (!made[i] && !(bytes && bytes->size() == 1)) bytes = *written[i];  // special
    LADON_CHECK(bytes.has_value(), "byte_pair", encoder_name, ": the token '",
                shortened(*written[i]), "' has a character that writes no byte");
    tokens.push_back(*std::move(bytes));
  }
  return {std::move(tokens), std::move(pairs), encoder_name + ", " + merges_name + ": "};
}

BytePairTokenizer BytePairTokenizer::load(const std::string& encoder, const std::string& merges) {
  return parse(read_file(encoder), encoder, read_file(merges), merges);
}

void BytePairTokenizer::save(const std::string& encoder, const std::string& merges) const {
  std::vector<std::string> written;
  for (const std::string& token : tokens_) written.push_back(to_byte_letters(token));
  for (const std::int64_t i : special_)
    written[static_cast<std::size_t>(i)] = tokens_[static_cast<std::size_t>(i)];
  TextMap<std::size_t> numbers;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto [entry, fresh] = numbers.emplace(written[i], i);
    LADON_CHECK(fresh, "byte_pair", "tokens ", entry->second, " and ", i,
                " would both be written '", written[i], "', one of them being special");
  }
  std::string json = "{", lines = std::string(version) + ": 0.2\n";
  for (std::size_t i = 0; i < written.size(); ++i)
    json +=
        detail::join(i == 0 ? "" : ", ", nlohmann::json(written[i]).dump(-1, ' ', true), ": ", i);
  for (const auto& [left, right] : merges_)
    lines += written[static_cast<std::size_t>(left)] + " " +
             written[static_cast<std::size_t>(right)] + "\n";
  write_atomically(encoder, json + "}");
  write_atomically(merges, lines);
}

}  // namespace ladon
