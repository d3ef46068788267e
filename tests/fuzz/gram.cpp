// Fuzz target that reads the checkpoint of a Gram matrix: its manifest and its parts.

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/tiles/checkpoint.h"
#include "ladon/layers/infinite/gram/executor.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/fuzz/target.h"
#include "ladon/tests/support.h"

namespace ladon::fuzz {
namespace {

using namespace infinite;
namespace fs = std::filesystem;

// Three inputs of two positions: tiles of 2 × 2, 2 × 1 and 1 × 1 pairs, a part each.
class Computation {
 public:
  Computation() : plan_(plan_gram(limit_, x_, x_, true, options(""), GramExecutor())) {
    plan_.a = plan_.b = x_;
    result_.nngp = zeros(plan_.shape, f64);
    for (const char* name : {"manifest", "parts"}) {
      const GramCheckpoint stored(limit_, plan_, options(name));
      for (std::int64_t part = 0; part < parts(stored); ++part) stored.write(part, result_);
    }
    part_ = read_file(folder_ / "parts" / first_part);
    manifest_ = read_file(folder_ / "manifest" / "manifest.txt");
  }

  /// `text`, in which a % stands for what this computation has there.
  bool read_manifest(std::string_view text) {
    std::string filled(text);
    for (std::size_t at = 0; at < manifest_.size();) {
      const std::size_t end = manifest_.find('\n', at);
      const std::string line = manifest_.substr(at, end - at);
      const std::string sign = line.substr(0, line.find(": ")) + ": %";
      if (const std::size_t found = filled.find(sign); found != std::string::npos)
        filled.replace(found, sign.size(), line);
      at = end + 1;
    }
    link(folder_ / "manifest" / "manifest.txt", filled);
    return accepted([&] {
      const GramCheckpoint stored(limit_, plan_, options("manifest"));
      for (std::int64_t part = 0; part < parts(stored); ++part) stored.read(part, result_);
    });
  }

  /// The first part, with `changes` as its difference (exclusive or) from the right one.
  bool read_part(std::string_view changes, bool anew) {
    std::string bytes(changes);
    for (std::size_t i = 0; i < std::min(bytes.size(), part_.size()); ++i)
      bytes[i] = static_cast<char>(bytes[i] ^ part_[i]);
    link(folder_ / "parts" / first_part, bytes);
    if (anew) stored_.reset();
    if (!stored_) stored_.emplace(limit_, plan_, options("parts"));
    return stored_->read(0, result_);
  }

 private:
  static constexpr const char* first_part = "part_000000.bin";

  GramOptions options(const std::string& name) const {
    GramOptions options{.get = Get::nngp, .tile = 2};
    if (name.empty()) return options;
    options.checkpoint = folder_ / name;
    options.checkpoint_seconds = 0;
    return options;
  }
  std::int64_t parts(const GramCheckpoint& stored) const {
    const auto tiles = plan_.tiles.count();
    return (tiles - 1) / stored.part_tiles() + 1;
  }
  /// Puts a link to a file in memory that holds `bytes` in the place of a file.
  static void link(const fs::path& path, const std::string& bytes) {
    const std::string& file = file_of(bytes);
    if (fs::is_symlink(path)) return;
    fs::remove(path);
    fs::create_symlink(file, path);
  }

  test::TemporaryFolder folder_;
  Generator rng_{1};
  Linear model_{{.in = 1, .out = 1, .parameterization = Parameterization::ntk}, rng_};
  Limit limit_ = infinite::limit(model_);
  Inputs x_{ones({3, 2, 1}, f64)};
  GramPlan plan_;
  Gram result_;
  std::string part_, manifest_;
  std::optional<GramCheckpoint> stored_;
};

}  // namespace

// The first byte says what follows it: m, a manifest; p, the first part, read by a run that goes
// on; anything else, the first part as a run that begins finds it.
bool read_gram(std::string_view bytes) {
  static Computation computation;
  if (bytes.empty()) return false;
  const char kind = bytes[0];
  bytes.remove_prefix(1);
  return kind == 'm' ? computation.read_manifest(bytes) : computation.read_part(bytes, kind != 'p');
}

}  // namespace ladon::fuzz
