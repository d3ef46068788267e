#include "ladon/core/extra/text/glove.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "ladon/core/cxx20.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"

namespace ladon {
namespace {

// Collects vectors, one number after the other, and checks that all have the same length.
class Builder {
 public:
  explicit Builder(const std::string& path) : path_(path) {}

  void begin(std::string word) {
    word_ = std::move(word);
    start_ = values_.size();
  }

  void add(double value) {
    const auto narrow = static_cast<float>(value);
    LADON_CHECK(std::isfinite(narrow), "read_glove", path_, ": word '", word_, "' has the number ",
                value, ", which is not finite in f32");
    values_.push_back(narrow);
  }

  void end() {
    const std::size_t length = values_.size() - start_;
    LADON_CHECK(length > 0, "read_glove", path_, ": word '", word_, "' has no numbers");
    if (glove_.words.empty()) dimension_ = length;
    LADON_CHECK(length == dimension_, "read_glove", path_, ": word '", word_, "' has ", length,
                " numbers, but the first word, '",
                glove_.words.empty() ? word_ : glove_.words.front(), "', has ", dimension_);
    if (seen_.emplace(word_, true).second) {
      glove_.words.push_back(word_);
    } else {
      values_.resize(start_);
      ++glove_.duplicates;
    }
  }

  Glove finish() {
    LADON_CHECK(!glove_.words.empty(), "read_glove", path_,
                ": holds 0 word vectors, but needs at least 1");
    glove_.vectors = from_vector(values_, {static_cast<std::int64_t>(glove_.words.size()),
                                           static_cast<std::int64_t>(dimension_)});
    return std::move(glove_);
  }

 private:
  const std::string& path_;
  std::string word_;
  std::size_t start_ = 0, dimension_ = 0;
  std::vector<float> values_;
  std::unordered_map<std::string, bool> seen_;
  Glove glove_;
};

// Passes the events of a JSON parser to a Builder; `false` or an exception stops the parser.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(const std::string& path, Builder& builder) : path_(path), builder_(builder) {}

  bool start_object(std::size_t) override { return expect(depth_++ == 0); }
  bool key(string_t& word) override {
    word_ = word;
    builder_.begin(word);
    return true;
  }
  bool end_object() override { return expect(--depth_ == 0); }
  bool start_array(std::size_t) override { return expect(depth_++ == 1); }
  bool end_array() override {
    --depth_;
    builder_.end();
    return true;
  }
  bool number_integer(number_integer_t value) override { return number(double(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(double(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool null() override { return expect(false); }
  bool boolean(bool) override { return expect(false); }
  bool string(string_t&) override { return expect(false); }
  bool binary(binary_t&) override { return expect(false); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    detail::fail("read_glove", path_, ": is not JSON: ", std::string(e.what()).substr(0, 200));
  }

 private:
  bool number(double value) {
    expect(depth_ == 2);
    builder_.add(value);
    return true;
  }
  bool expect(bool ok) const {
    LADON_CHECK(ok, "read_glove", path_,
                ": needs {\"word\": [numbers], …}, but has something else at ",
                word_.empty() ? "its start" : "word '" + word_ + "'");
    return true;
  }

  const std::string& path_;
  Builder& builder_;
  std::string word_;
  int depth_ = 0;
};

const char* skip_spaces(const char* at, const char* end) {
  return std::find_if(at, end, [](char c) { return c != ' '; });
}

// The number that starts at `at`, if a space or the line's end follows it; moves `at` past it.
std::optional<double> parse_number(const char*& at, const char* end) {
  double value = 0;
  const char* next = detail::parse(at, end, value);
  if (next == at || (next != end && *next != ' ')) return std::nullopt;
  at = next;
  return value;
}

// Reads one line of the text format. The published files have words with spaces in them (". . ."),
// so a word ends only where a number follows.
void read_text_line(const std::string& path, std::int64_t number, std::string_view line,
                    Builder& builder) {
  const char *at = line.data(), *const end = at + line.size();
  std::optional<double> value;
  std::string_view word;
  while (!value) {
    at = std::find(skip_spaces(at, end), end, ' ');
    word = line.substr(0, static_cast<std::size_t>(at - line.data()));
    LADON_CHECK(at != end && !word.starts_with(' '), "read_glove", path, ":", number,
                ": needs 'word v1 … vd', got '", line.substr(0, 40), "'");
    at = skip_spaces(at, end);
    value = parse_number(at, end);
  }
  builder.begin(std::string(word));
  builder.add(*value);
  while ((at = skip_spaces(at, end)) != end) {
    value = parse_number(at, end);
    LADON_CHECK(value.has_value(), "read_glove", path, ":", number, ": '",
                line.substr(static_cast<std::size_t>(at - line.data()), 20),
                "' is not a number within the range of f64");
    builder.add(*value);
  }
  builder.end();
}

void read_text(const std::string& path, std::string_view text, Builder& builder) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find_last_not_of(" \r") + 1);
    read_text_line(path, number, line, builder);
  }
}

// JSON begins with {, which a quote follows (or the end of an empty object). In the text format, {
// can only be the word of the first line, which a number follows.
bool looks_like_json(std::string_view text) {
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", brace + 1);
  return next == std::string_view::npos || text[next] == '"' || text[next] == '}';
}

double root_mean_square(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += double(value) * double(value);
  return values.empty() ? 0 : std::sqrt(sum / double(values.size()));
}

}  // namespace

Glove read_glove(const std::string& path) {
  const std::string text = read_maybe_gzip(path, std::uint64_t{1} << 34, std::uint64_t{1} << 34);
  Builder builder(path);
  if (looks_like_json(text)) {
    JsonReader reader(path, builder);
    nlohmann::json::sax_parse(text, &reader);
  } else {
    read_text(path, text, builder);
  }
  return builder.finish();
}

EmbeddingTable embedding_table(const Vocabulary& vocabulary, const Glove& glove, Generator& rng,
                               double scale) {
  const Tensor& given = glove.vectors;
  LADON_CHECK(given.defined() && given.rank() == 2 && given.dtype() == f32, "embedding_table",
              "word vectors must be f32 [words, d], got ", detail::kind_in_words(given));
  LADON_CHECK(given.size(0) == std::ssize(glove.words), "embedding_table", "there are ",
              glove.words.size(), " words but ", given.size(0),
              " word vectors; each word needs one");
  LADON_CHECK(scale >= 0 && std::isfinite(scale), "embedding_table",
              "scale must be finite and must not be negative, got ", scale);
  std::unordered_map<std::string_view, std::int64_t> rows;
  for (std::size_t i = 0; i < glove.words.size(); ++i)
    rows.emplace(glove.words[i], static_cast<std::int64_t>(i));

  const std::int64_t n = vocabulary.size(), d = glove.vectors.size(1);
  const std::vector<float> vectors = glove.vectors.to_vector<float>();
  std::vector<std::int64_t> row_of(n, -1);
  std::vector<float> found;
  EmbeddingTable table{normal({n, d}, rng), 0, n - 2};
  for (std::int64_t i = 2; i < n; ++i) {
    const auto entry = rows.find(vocabulary.words()[i]);
    if (entry == rows.end()) continue;
    row_of[i] = entry->second;
    const auto start = vectors.begin() + entry->second * d;
    found.insert(found.end(), start, start + d);
    ++table.found;
  }
  const auto sigma = static_cast<float>(scale * root_mean_square(found.empty() ? vectors : found));
  float* weights = table.weights.mutable_data<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    float* row = weights + i * d;
    const std::int64_t source = row_of[i];
    for (std::int64_t k = 0; k < d; ++k)
      row[k] = i == Vocabulary::pad ? 0 : source < 0 ? sigma * row[k] : vectors[source * d + k];
  }
  return table;
}

}  // namespace ladon
