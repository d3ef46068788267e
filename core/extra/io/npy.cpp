#include "ladon/core/extra/io/npy.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/npy_format.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
// Largest header that version 1 can express; the longest shape of rank 8 needs 300 bytes.
constexpr std::uint64_t largest_header = 65535;

struct Header {
  FileType type;
  bool big_endian;
  bool fortran_order;
  Shape shape;
};

// Reads the header's Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }:
// the three keys once each in any order, spaces anywhere between tokens, nothing else.
class HeaderParser {
 public:
  HeaderParser(const std::string& where, std::string_view text) : where_(where), text_(text) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    expected(at_ == text_.size(), "nothing after the dictionary");
    expected(descr_ && order_ && shape_, "the keys 'descr', 'fortran_order' and 'shape'");
    const std::optional<FileType> type = type_of(*descr_);
    LADON_CHECK(type.has_value(), "load_npy", where_, ": the element type '", *descr_,
                "' is not one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 after < > = or |");
    return {*type, (*descr_)[0] == '>', *order_, *shape_};
  }

 private:
  void parse_entry() {
    const std::string key = parse_string();
    expect(':');
    if (key == "descr" && !descr_) {
      descr_ = parse_string();
    } else if (key == "fortran_order" && !order_) {
      order_ = parse_bool();
    } else if (key == "shape" && !shape_) {
      shape_ = parse_shape();
    } else {
      detail::fail("load_npy", where_, ": the header's key '", key, "' is unknown or repeated");
    }
  }

  static std::optional<FileType> type_of(std::string_view descr) {
    static constexpr std::pair<std::string_view, FileType> types[] = {
        {"b1", FileType::b1}, {"i1", FileType::i1}, {"i2", FileType::i2}, {"i4", FileType::i4},
        {"i8", FileType::i8}, {"u1", FileType::u1}, {"u2", FileType::u2}, {"u4", FileType::u4},
        {"u8", FileType::u8}, {"f2", FileType::f2}, {"f4", FileType::f4}, {"f8", FileType::f8}};
    if (descr.empty() || std::string_view("<>=|").find(descr[0]) == std::string_view::npos)
      return std::nullopt;
    for (const auto& [name, type] : types) {
      // '|' means that the order of bytes does not matter: elements are single bytes.
      if (descr.substr(1) == name && (descr[0] != '|' || item_size(type) == 1)) return type;
    }
    return std::nullopt;
  }

  std::string parse_string() {
    skip_spaces();
    const char quote = peek();
    expected(quote == '\'' || quote == '"', "a quoted string");
    const std::size_t end = text_.find(quote, at_ + 1);
    expected(end != std::string_view::npos && end - at_ <= 64, "the end of a quoted string");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    expected(value.find('\\') == std::string::npos, "a string without escapes");
    at_ = end + 1;
    return value;
  }

  bool parse_bool() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    expected(false, "True or False");
    return false;
  }

  // (), (2,), (2, 3), (2, 3,): as in Python, a single size needs its comma.
  Shape parse_shape() {
    std::vector<std::int64_t> sizes;
    bool comma = true;
    expect('(');
    while (!accept(')')) {
      expected(comma, "',' or ')'");
      sizes.push_back(parse_size());
      comma = accept(',');
    }
    expected(sizes.size() != 1 || comma, "',' after the only size of a tuple");
    LADON_CHECK(sizes.size() <= Shape::max_rank, "load_npy", where_, ": the array has ",
                sizes.size(), " axes; a tensor has at most ", Shape::max_rank);
    return Shape(sizes);
  }

  std::int64_t parse_size() {
    skip_spaces();
    std::int64_t size = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
    expected(error == std::errc(), "an integer below 2^63");
    at_ = static_cast<std::size_t>(end - text_.data());
    return size;
  }

  void skip_spaces() {
    while (peek() == ' ' || peek() == '\n') ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) { expected(accept(c), detail::join("'", c, "'")); }
  void expected(bool ok, const std::string& what) const {
    LADON_CHECK(ok, "load_npy", where_, ": the header needs ", what, " at its byte ", at_,
                ", but has '", text_.substr(std::min(at_, text_.size()), 20), "'");
  }

  const std::string& where_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> order_;
  std::optional<Shape> shape_;
};

Header read_header(InputFile& file, const std::string& where) {
  unsigned char start[12] = {};
  file.read(start, 8);
  LADON_CHECK(std::equal(magic.begin(), magic.end(), reinterpret_cast<const char*>(start)),
              "load_npy", where, ": does not start with the six bytes \\x93NUMPY of an array file");
  const int version = start[6];
  LADON_CHECK(version >= 1 && version <= 3 && start[7] == 0, "load_npy", where, ": version ",
              version, ".", int{start[7]}, " is not 1.0, 2.0 or 3.0");
  const int digits = version == 1 ? 2 : 4;
  file.read(start + 8, static_cast<std::size_t>(digits));
  std::uint64_t length = 0;
  for (int i = digits - 1; i >= 0; --i) length = length << 8 | start[8 + i];
  LADON_CHECK(length <= file.remaining(), "load_npy", where, ": the header claims ", length,
              " bytes, but only ", file.remaining(), " are left; the file is truncated or damaged");
  LADON_CHECK(length <= largest_header, "load_npy", where, ": the header claims ", length,
              " bytes, more than the limit of ", largest_header);
  std::string text(length, '\0');
  file.read(text.data(), text.size());
  return HeaderParser(where, text).parse();
}

}  // namespace

Tensor read_npy(InputFile& file, const std::string& where) {
  const Header header = read_header(file, where);
  const std::uint64_t bytes = checked_bytes("load_npy", where, header.type, header.shape);
  LADON_CHECK(bytes == file.remaining(), "load_npy", where, ": shape ", header.shape, " with ",
              item_size(header.type), " bytes per element needs ", bytes, " bytes, but ",
              file.remaining(), " follow the header");
  if (!header.fortran_order)
    return read_elements(file, header.type, header.shape, header.big_endian);
  // Fortran order is row-major order with the axes reversed.
  Shape reversed = header.shape;
  std::reverse(reversed.begin(), reversed.end());
  std::vector<int> order(reversed.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  const Tensor x = read_elements(file, header.type, reversed, header.big_endian);
  return kernels::contiguous(view::permute(x, order));
}

std::string npy_header(std::string_view operation, const std::string& where, const Tensor& x) {
  LADON_CHECK(x.defined(), operation, where, ": the tensor is undefined; there is nothing to save");
  const DType t = x.dtype();
  LADON_CHECK(t != bf16, operation, where,
              ": NumPy has no bf16; save cast(x, f32), which holds it exactly");
  const std::string_view descr = t == boolean ? "|b1"
                                 : t == i64   ? "<i8"
                                 : t == f16   ? "<f2"
                                 : t == f32   ? "<f4"
                                              : "<f8";
  std::string text = detail::join("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (std::int64_t size : x.shape()) text += std::to_string(size) + ", ";
  text += "), }";
  // The magic has 6 bytes, the version 2 and the length 2. Spaces and a newline are added so that
  // the elements begin at a multiple of 64 bytes.
  const std::size_t preamble = magic.size() + 4;
  text.append(63 - (preamble + text.size()) % 64, ' ').append("\n");
  const std::string length = {static_cast<char>(text.size() & 255),
                              static_cast<char>(text.size() >> 8)};
  return std::string(magic) + std::string("\1\0", 2) + length + text;
}

Tensor load_npy(const std::string& path) {
  InputFile file(path);
  return read_npy(file, path);
}

void save_npy(const std::string& path, const Tensor& x) {
  const std::string header = npy_header("save_npy", path, x);
  write_atomically(path, [&](OutputFile& file) {
    file.write(header);
    write_elements(file, x);
  });
}

}  // namespace ladon
