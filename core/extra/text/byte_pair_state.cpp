// State of a tokenizer as tensors.

#include <algorithm>

#include "ladon/core/error.h"
#include "ladon/core/extra/text/byte_pair.h"

namespace ladon {

StateDict BytePairTokenizer::state_dict() const {
  std::vector<std::int64_t> bytes, lengths, merges;
  for (const std::string& token : tokens_) {
    for (const char c : token) bytes.push_back(static_cast<unsigned char>(c));
    lengths.push_back(std::ssize(token));
  }
  for (const auto& [left, right] : merges_) merges.insert(merges.end(), {left, right});
  return {{"bytes", from_vector(bytes, {std::ssize(bytes)})},
          {"lengths", from_vector(lengths, {std::ssize(lengths)})},
          {"merges", from_vector(merges, {std::ssize(merges_), 2})}};
}

void BytePairTokenizer::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const auto numbers = [&](const char* name, std::int64_t rank) {
    const Tensor& x = reader.entry(name);
    LADON_CHECK(x.dtype() == i64 && x.rank() == rank, "load_state_dict", "\"", name, "\" is ",
                x.dtype(), " of shape ", x.shape(), ", expected i64 of rank ", rank);
    return x.to_vector<std::int64_t>();
  };
  const auto bytes = numbers("bytes", 1), lengths = numbers("lengths", 1),
             merges = numbers("merges", 2);
  reader.finish("a tokenizer");
  LADON_CHECK(state.at("merges").size(1) == 2, "load_state_dict", "\"merges\" has shape ",
              state.at("merges").shape(), ", expected [n, 2]");
  std::vector<std::string> tokens;
  auto next = bytes.begin();
  for (const std::int64_t length : lengths) {
    LADON_CHECK(length >= 0 && length <= bytes.end() - next, "load_state_dict", "token ",
                tokens.size(), " has ", length, " bytes, but only ", bytes.end() - next,
                " are left in \"bytes\"; the state is damaged");
    tokens.emplace_back();
    for (const auto end = next + length; next != end; ++next) {
      LADON_CHECK(*next >= 0 && *next < 256, "load_state_dict", *next,
                  " is not a byte; elements of \"bytes\" must be 0 to 255");
      tokens.back() += static_cast<char>(*next);
    }
  }
  LADON_CHECK(next == bytes.end(), "load_state_dict", bytes.end() - next, " of the ", bytes.size(),
              " bytes belong to no token; the state is damaged");
  std::vector<Merge> pairs;
  for (std::size_t i = 0; i < merges.size(); i += 2) pairs.emplace_back(merges[i], merges[i + 1]);
  *this = BytePairTokenizer(std::move(tokens), std::move(pairs));
}

}  // namespace ladon
