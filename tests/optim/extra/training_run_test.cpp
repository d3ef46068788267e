#include "ladon/optim/extra/training/training_run.h"

#include <sys/resource.h>

#include <csignal>

#include "ladon/core/extra/data/loader.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/core/io/damaged.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::training_run_test {
namespace {

// Parts of a run, and its beginning; `seed` alone tells two of them apart.
struct Parts {
  explicit Parts(std::uint64_t seed)
      : rng(seed),
        model(Linear({.in = 3, .out = 4}, rng), Dropout(0.5, rng),
              Linear({.in = 4, .out = 1}, rng)),
        adam(model.parameters(), {.lr = 0.05}),
        average(model, {.decay = 0.9}),
        order(rng.split(1)),
        data(tensor_loader({cast(gaussian({10, 3}, 5), f32), cast(gaussian({10, 1}, 6), f32)},
                           {.batch_size = 4}, order)) {
    adam.set_schedule(schedule::cosine({.steps = 30}));
    run.add("model", model);
    run.add("optimizer", adam);
    run.add("average", average);
    run.add("data", data);
    run.add("plateau", plateau);
    run.add("noise", rng);
    run.add("best", best);
    run.add("count", count);
    run.add("losses", losses);
  }
  void train(int steps) {
    for (int t = 0; t < steps; ++t) {
      const std::vector<Tensor> batch = data.next();
      adam.zero_grad();
      const Tensor noisy = batch[0] + normal(batch[0].shape(), rng, 0, 0.1);
      const Tensor loss = mse_loss(model(noisy), batch[1]);
      backward(loss);
      adam.step();
      average.update();
      plateau.watch(loss.item(), adam);
      best = std::min(best, loss.item());
      ++count;
      losses = concat({losses, reshape(loss.detach(), {1})}, 0);
    }
  }
  StateDict everything() {
    TemporaryFolder folder;
    run.save(folder / "all");
    return load_safetensors((folder / "all").string());
  }

  Generator rng;
  Sequential model;
  Adam adam;
  WeightAverage average;
  Generator order;
  Loader<std::vector<Tensor>> data;
  Plateau plateau{{.patience = 5}};
  double best = 1e9;
  std::int64_t count = 0;
  Tensor losses = zeros({0});
  TrainingRun run;
};

void expect_same(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_TRUE(same_bits(value, b.at(name))) << name;
}

TEST(TrainingRun, GoesOnBitForBit) {
  TemporaryFolder folder;
  Parts whole(1);
  for (const int steps : {0, 1, 6, 9}) {
    whole.train(steps);
    whole.run.save(folder / "run");
    Parts resumed(2);
    resumed.train(3);
    resumed.run.load(folder / "run");
    expect_same(resumed.everything(), whole.everything());
    resumed.train(5);
    Parts again(3);
    again.run.load(folder / "run");
    again.train(5);
    expect_same(resumed.everything(), again.everything());
    whole.train(5);
    expect_same(resumed.everything(), whole.everything());
  }
  EXPECT_EQ(whole.count, 36);
  EXPECT_EQ(whole.losses.count(), 36);
}

TEST(TrainingRun, IsOneSafetensorsFile) {
  Parts parts(1);
  parts.train(1);
  const StateDict all = parts.everything();
  EXPECT_TRUE(all.contains("model/tensor.layers.0.weight"));
  EXPECT_TRUE(all.contains("model/generator.layers.1.rng"));
  EXPECT_TRUE(all.contains("optimizer/parameter.0.first_moment"));
  EXPECT_EQ(all.at("count/integer").item<std::int64_t>(), 1);
}

TEST(TrainingRun, GivesOnePartOfItsFile) {
  TemporaryFolder folder;
  Parts parts(1);
  parts.train(4);
  parts.run.save(folder / "run");
  Parts other(2);
  other.average.load_state_dict(TrainingRun::saved(folder / "run", "average"));
  expect_same(other.average.state_dict(), parts.average.state_dict());
  EXPECT_TRUE(same_bits(TrainingRun::saved(folder / "run", "losses").at("tensor"), parts.losses));
  expect_error([&] { TrainingRun::saved(folder / "run", "aver"); }, "has no part `aver`");
  save_safetensors((folder / "other").string(), {{"average/updates", zeros({}, i64)}});
  expect_error([&] { TrainingRun::saved(folder / "other", "average"); },
               "is not a saved training run");
}

TEST(TrainingRun, RefusesAFileThatDoesNotFitAndChangesNothing) {
  TemporaryFolder folder;
  const std::string path = (folder / "run").string();
  Parts parts(1);
  parts.train(3);
  parts.run.save(path);
  std::map<std::string, std::string> metadata;
  const StateDict good = load_safetensors(path, &metadata);
  Parts mine(2);
  mine.train(2);
  const StateDict before = mine.everything();
  const auto refuse = [&](const std::string& message, const std::function<void(StateDict&)>& edit) {
    StateDict bad = good;
    edit(bad);
    save_safetensors(path, bad, metadata);
    expect_error([&] { mine.run.load(path); }, message);
    expect_same(mine.everything(), before);
  };
  refuse("the part `plateau`", [](StateDict& s) { s.erase("plateau/best"); });
  refuse("no entry \"items\"", [](StateDict& s) { s.erase("data/items"); });
  refuse("the part `optimizer`: [load_state_dict] the state has no entry \"lr\"",
         [](StateDict& s) { s.erase("optimizer/lr"); });
  refuse("is f64 of shape [4, 3], expected f32 of shape [4, 3]", [](StateDict& s) {
    s["model/tensor.layers.0.weight"] = zeros({4, 3}, f64);
  });
  refuse("no entry \"generator.layers.1.rng\"",
         [](StateDict& s) { s.erase("model/generator.layers.1.rng"); });
  refuse("the state has entries that this module does not know: \"more\"",
         [](StateDict& s) { s["model/more"] = zeros({1}); });
  refuse("this run has no part `other`", [](StateDict& s) { s["other/x"] = zeros({1}); });
  refuse("this run has no part `losses`", [](StateDict& s) {
    s.erase("losses/tensor");
    s["losses"] = zeros({1});
  });
  refuse("\"tensor\" is f64 of shape [2], expected f32",
         [](StateDict& s) { s["losses/tensor"] = zeros({2}, f64); });
  refuse("\"number\" is f32", [](StateDict& s) { s["best/number"] = scalar(1, f32); });
  save_safetensors(path, good);
  expect_error([&] { mine.run.load(path); }, "is not a saved training run");
  expect_error([&] { mine.run.load(folder / "absent"); }, "absent");
  save_safetensors(path, good, metadata);
  const std::string bytes = read_file(path);
  for (const std::size_t length :
       {std::size_t(0), std::size_t(7), bytes.size() / 2, bytes.size() - 1}) {
    write_atomically(path, bytes.substr(0, length));
    EXPECT_THROW(mine.run.load(path), Error) << length;
    expect_same(mine.everything(), before);
  }
  write_atomically(path, bytes);
  mine.run.load(path);
  expect_same(mine.everything(), parts.everything());
}

TEST(TrainingRun, RefusesBadParts) {
  TrainingRun run;
  std::int64_t n = 0;
  Tensor x = leaf(tensor({1})), none;
  run.add("n", n);
  expect_error([&] { run.add("n", n); }, "already is a part named `n`");
  expect_error([&] { run.add("", n); }, "names must not be empty");
  expect_error([&] { run.add("a/b", n); }, "must not be empty or contain '/'");
  expect_error([&] { run.add("x", x); }, "requires a gradient");
  expect_error([&] { run.add("x", none); }, "is undefined");
}

/// Files of this process may have `bytes` bytes at most while it lives: a write beyond fails, as on
/// a full disk.
class FileLimit {
 public:
  explicit FileLimit(std::size_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(TrainingRun, AFullDiskLeavesTheOldFile) {
  TemporaryFolder folder;
  const std::string path = (folder / "run").string();
  Parts parts(1);
  parts.train(2);
  parts.run.save(path);
  const std::string old = read_file(path);
  parts.train(2);
  for (std::size_t room = 0; room < old.size(); room += 97) {
    const FileLimit limit(room);
    expect_error([&] { parts.run.save(path); }, "cannot write");
  }
  EXPECT_EQ(read_file(path), old);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);  // no temporary is left
  parts.run.save(path);
  Parts resumed(2);
  resumed.run.load(path);
  expect_same(resumed.everything(), parts.everything());
}

// Permissions do not bind an administrator; a folder that is none, or the system's own, binds
// everybody.
TEST(TrainingRun, AFolderThatCannotBeWrittenInIsAnError) {
  TemporaryFolder folder;
  Parts parts(1);
  write_atomically((folder / "file").string(), "text");
  expect_error([&] { parts.run.save(folder / "file" / "run"); }, "cannot write in its folder");
  expect_error([&] { parts.run.save(folder / "absent" / "run"); }, "cannot write in its folder");
  expect_error([&] { parts.run.save("/proc/run"); }, "cannot write in its folder");
  EXPECT_EQ(read_file((folder / "file").string()), "text");
  if (geteuid() == 0) return;
  const std::string path = (folder / "run").string();
  parts.run.save(path);
  const std::string old = read_file(path);
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path(), perms::owner_read | perms::owner_exec);
  parts.train(1);
  expect_error([&] { parts.run.save(path); }, "cannot write in its folder");
  std::filesystem::permissions(folder.path(), perms::owner_all);
  EXPECT_EQ(read_file(path), old);
}

TEST(TrainingRun, IsNoStateOfAModule) {
  TemporaryFolder folder;
  const std::string path = (folder / "run").string();
  Parts parts(1);
  parts.run.save(path);
  expect_error([&] { parts.model.load(path); },
               "[load] " + path + ": the file holds a training run, not the weights of a module");
  Linear other({.in = 3, .out = 4}, parts.rng);
  other.save(path);
  expect_error([&] { parts.model.load(path); }, "[load] " + path + ": [load_state_dict] `");
}

TEST(TrainingRun, AnyByteThatIsDamagedIsFound) {
  const TemporaryFolder folder;
  Generator rng(1);
  Linear model({.in = 2, .out = 1}, rng);
  Sgd sgd(model.parameters(), {.lr = 0.1});
  std::int64_t count = 3;
  TrainingRun run;
  run.add("model", model);
  run.add("sgd", sgd);
  run.add("noise", rng);
  run.add("count", count);
  const std::string path = folder / "run";
  run.save(path);
  const std::string bytes = read_file(path);
  EXPECT_EQ(silent_flips(bytes,
                         [&](const std::string& flipped) {
                           run.load(flipped);
                           run.save(path);
                           return read_file(path) != bytes;
                         }),
            0);
}

}  // namespace
}  // namespace ladon::test::training_run_test
