#pragma once
// Byte-pair tokens: texts as numbers, as in GPT-2 (Sennrich, Haddow and Birch, "Neural
// machine translation of rare words with subword units", ACL 2016; on bytes: Radford et al.,
// "Language models are unsupervised multitask learners", 2019).
//
// A merge is a rule that replaces two adjacent tokens by one token; a tokenizer has an ordered list
// of merges. A text is split into words, and each word into its bytes, which are the first tokens.
// Then, as long as any merge applies to two adjacent tokens, the earliest such merge in the list is
// applied to all its pairs in the word, from the left. So every text, valid UTF-8 or not, has
// tokens, and decoding them gives exactly its bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ladon/core/extra/text/text_map.h"
#include "ladon/core/state.h"

namespace ladon {

/// Splits a text into GPT-2's words. From the left, each word is the first of these that matches:
///   's 't 're 've 'm 'll 'd   |  a run of letters, of numbers, or of other characters that are not
///   white space, with or without a blank before it  |  white space before a word, without its last
///   character  |  white space
/// Classes of characters are those of class_of (Unicode 14.0); a byte that is not UTF-8 is `other`.
std::vector<std::string_view> byte_pair_words(std::string_view text);

struct BytePairOptions {
  std::int64_t size = 1024;                              ///< maximum number of tokens in total
  std::int64_t min_count = 2;                            ///< rarer pairs are not merged
  std::vector<std::string> special = {"<|endoftext|>"};  ///< added as the last tokens
};

/// How encode() treats the text of a special token in its input. `as_tokens`: it becomes this token
/// (the longest that matches). `as_text`: it is encoded like any other text, so that untrusted text
/// cannot contain the token that ends a document.
enum class SpecialTokens { as_text, as_tokens };

/// Tokenizer with its tokens and merges. A token is a byte, the result of a merge of two tokens, or
/// else special: text is encoded as a special token only if this is requested.
class BytePairTokenizer {
 public:
  using Merge = std::pair<std::int64_t, std::int64_t>;  ///< two tokens that become one token

  /// Token i stands for the bytes tokens[i]; merges are in order, the earliest first. Throws Error
  /// unless all 256 bytes are tokens, tokens are distinct and not empty, special tokens are UTF-8,
  /// and each merge joins two tokens that are bytes or made by an earlier merge, makes one of the
  /// tokens, and occurs once.
  BytePairTokenizer(std::vector<std::string> tokens, std::vector<Merge> merges)
      : BytePairTokenizer(std::move(tokens), std::move(merges), "") {}

  /// Reads GPT-2's files, encoder.json and vocab.bpe, or other files of these formats:
  ///   {"token": number, …}, numbers being 0, 1, …, n − 1 in any order
  ///   `#version: 0.2`, and then a line `left right` for every merge, the earliest first
  /// where a byte is written as a visible character (byte_alphabet.h). Throws Error, naming the
  /// path, line or token, for files of other formats. `parse` takes the contents of the files and
  /// their names.
  static BytePairTokenizer load(const std::string& encoder, const std::string& merges);
  static BytePairTokenizer parse(std::string_view encoder, const std::string& encoder_name,
                                 std::string_view merges, const std::string& merges_name);
  /// Writes the two files, byte for byte as GPT-2's files are. Throws Error if a special token and
  /// another token would be written as the same characters.
  void save(const std::string& encoder, const std::string& merges) const;

  /// Reads a tokenizer.json of Hugging Face's library `tokenizers`: byte-level BPE of GPT-2's
  /// words. Throws Error for a malformed file, as load(encoder, merges) does, and for a file that
  /// would split a text differently (another model, another expression for words, a normalizer,
  /// added tokens that include blanks around them, …). Special tokens that its post-processor would
  /// add to a text are not added here.
  static BytePairTokenizer load(const std::string& path);
  static BytePairTokenizer parse(std::string_view text, const std::string& name);
  /// Writes a tokenizer.json. Throws Error whenever save(encoder, merges) throws it.
  void save(const std::string& path) const;

  /// State with the entries "bytes" (i64: the bytes of all tokens, one after the other), "lengths"
  /// (i64 [size()]: the number of bytes of each token) and "merges" (i64 [n, 2]), to be saved in
  /// one file with the model that was trained with this tokenizer.
  StateDict state_dict() const;
  /// Replaces the tokens and merges by those of this state. Throws Error, and changes nothing, if
  /// an entry is missing or has another dtype or shape, or if the constructor would throw it.
  void load_state_dict(const StateDict& state);

  /// Learns a tokenizer from texts. Each merge joins the most frequent pair of tokens in the words
  /// of the texts; on a tie, the pair with the lowest left token, then with the lowest right token.
  /// Ends at `size` tokens, or when no pair occurs min_count times. Tokens are the bytes in GPT-2's
  /// order, then the tokens that merges make, then the special tokens. Throws Error if size is
  /// below 256 plus the number of special tokens, or min_count below 1.
  static BytePairTokenizer train(const std::vector<std::string>& texts,
                                 const BytePairOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// The bytes that each token stands for.
  const std::vector<std::string>& tokens() const& { return tokens_; }
  std::vector<std::string> tokens() && { return std::move(tokens_); }
  const std::vector<Merge>& merges() const& { return merges_; }
  std::vector<Merge> merges() && { return std::move(merges_); }
  /// The token that stands for these bytes; throws Error if there is none.
  std::int64_t at(std::string_view bytes) const;
  /// The special tokens, in ascending order.
  const std::vector<std::int64_t>& special() const& { return special_; }
  std::vector<std::int64_t> special() && { return std::move(special_); }

  /// The tokens of a text; a word of n bytes takes time proportional to n·log n.
  std::vector<std::int64_t> encode(std::string_view text,
                                   SpecialTokens special = SpecialTokens::as_text) const;
  /// The bytes of the tokens, one after the other; a character may extend over several tokens.
  /// Throws Error for a token outside [0, size()).
  std::string decode(const std::vector<std::int64_t>& tokens) const;

 private:
  struct Made {
    std::int64_t rank, token;
  };
  struct Scratch;
  BytePairTokenizer(std::vector<std::string> tokens, std::vector<Merge> merges,
                    const std::string& where);
  void add_merges(const std::string& where);
  std::int64_t special_at(std::string_view text) const;
  std::vector<std::string> written() const;  // each token in the characters of GPT-2's files
  const Made* find(std::int64_t left, std::int64_t right) const;
  void encode_words(std::string_view text, std::vector<std::int64_t>& out) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<std::int64_t>& out) const;

  std::vector<std::string> tokens_;
  std::vector<Merge> merges_;
  std::vector<std::int64_t> special_, special_by_bytes_;  // special_by_bytes_ is sorted by bytes
  detail::TextMap<std::int64_t> index_;
  std::unordered_map<std::uint64_t, Made> made_;  // rank and result of the merge of each pair
};

}  // namespace ladon
