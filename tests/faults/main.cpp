// Makes every system call fail once by which Ladon writes and reads files: the k-th call of each
// function, for every k (or for Operation::most of them, if there are more), with every errno, with
// a short count, and by killing the process (SIGKILL). Each time the operation runs in a new
// process, and must meet these conditions:
//
// - it ends in success, or in an Error that names path and reason (where memory fails: in
//   bad_alloc);
// - what stands under a name is the old file or the new one, whole;
// - done again without a fault, it ends in the right bits, and nothing else lies in the folder.
//
// Prints a table with a row per operation, call and outcome: how many cases succeeded and how many
// ended in an Error.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/faults/calls.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::faults {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

struct Operation {
  const char* name;
  std::function<void(const fs::path&folder)> before, act;
  /// Whether these files are what may stand there, whatever happened; `done`: after a success.
  std::function<bool(const Files& files, bool done)> fits;
  /// Of a call that is made more often, that many are spread out: a tile is written row by row.
  std::int64_t most = 1000;
};

struct Outcome {
  const char* name;
  int value;
};
constexpr Outcome outcomes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR},
                                {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"short", short_count},
                                {"SIGKILL", killed}};

/// End of a process, from its exit status.
enum class End { success, error, no_memory, other, nameless, killed };

[[noreturn]] void wrong(const std::string& what) {
  std::cout << "WRONG: " << what << std::endl;
  std::_Exit(1);
}

// --- files ---

/// Without the lock, which stays. Of temporaries their number.
Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != ".ladon-lock")
      files[fs::relative(entry.path(), folder)] = read_file(entry.path());
  return files;
}

bool is_temporary(const std::string& name) { return name.ends_with(".tmp"); }

/// The file "x", old or new, and besides at most one that a killed process left.
auto old_or_new(std::string old, std::string fresh) {
  return [old = std::move(old), fresh = std::move(fresh)](const Files& files, bool done) {
    const auto x = files.find("x");
    if (x == files.end()) return false;
    return (x->second == fresh || (!done && x->second == old)) && files.size() <= (done ? 1u : 2u);
  };
}

// --- a process that meets a fault ---

End end_of(const Operation& operation, const fs::path& folder, int outcome) {
  try {
    operation.act(folder);
    disarm();
    return End::success;
  } catch (const Error& error) {
    disarm();
    const std::string text = error.what();
    const bool named = text.find(folder.native()) != text.npos;
    const bool reason = outcome <= 0 || text.find(std::strerror(outcome)) != text.npos;
    if (named && reason) return End::error;
    if (outcome == ENOMEM) return End::no_memory;
    std::cout << "  nameless: " << text << std::endl;
    return End::nameless;
  } catch (const std::bad_alloc&) {
    disarm();
    return End::no_memory;
  } catch (const std::exception& error) {
    disarm();
    std::cout << "  not an Error: " << error.what() << std::endl;
    return End::other;
  }
}

/// In a child: its end, and how many calls it made (−1 if it was killed).
struct Run {
  End end;
  std::int64_t count = -1;
};
Run run(const Operation& operation, const fs::path& folder, Call call, std::int64_t k,
        int outcome) {
  int ends[2];
  if (pipe(ends) != 0) wrong("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    arm(call, k, outcome);
    const End end = end_of(operation, folder, outcome);
    const std::int64_t said[2] = {static_cast<std::int64_t>(end), disarm()};
    std::_Exit(write(ends[1], said, sizeof said) == sizeof said ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t said[2] = {};
  const bool whole = read(ends[0], said, sizeof said) == sizeof said;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return {End::killed};
  if (!whole || status != 0)
    wrong(detail::join(operation.name, ": the process ended with status ", status));
  return {static_cast<End>(said[0]), said[1]};
}

// --- the cases ---

class Table {
 public:
  void add(const Operation& operation, const std::vector<Call>& all) {
    for (const Call call : all) {
      const std::int64_t count = clean(operation, call);
      if (count == 0) continue;
      std::cout << std::setw(22) << std::left << operation.name << std::setw(10)
                << names[static_cast<int>(call)] << std::right << std::setw(6) << count;
      if (call == Call::malloc) {
        row(operation, call, count, {"ENOMEM", ENOMEM});
      } else {
        for (const Outcome& outcome : outcomes)
          if (outcome.value != short_count || transfers(call))
            row(operation, call, count, outcome);
          else
            std::cout << std::setw(11) << "–";
      }
      std::cout << std::endl;
    }
  }
  int cases = 0;

 private:
  static bool transfers(Call call) {
    return call == Call::read || call == Call::write || call == Call::pread || call == Call::pwrite;
  }

  /// Number of calls without a fault.
  static std::int64_t clean(const Operation& operation, Call call) {
    const test::TemporaryFolder folder;
    operation.before(folder.path());
    const Run whole = run(operation, folder.path(), call, -1, 0);
    if (whole.end != End::success || !operation.fits(files_in(folder.path()), true))
      wrong(detail::join(operation.name, " fails without a fault"));
    return whole.count;
  }

  void row(const Operation& operation, Call call, std::int64_t count, const Outcome& outcome) {
    int successes = 0, errors = 0;
    const std::int64_t step = (count - 1) / operation.most + 1;
    for (std::int64_t k = 0; k < count; k += step, ++cases) {
      const std::string what = detail::join(operation.name, ", ", names[static_cast<int>(call)],
                                            " ", k, " of ", count, ", ", outcome.name);
      const test::TemporaryFolder folder;
      operation.before(folder.path());
      const End end = run(operation, folder.path(), call, k, outcome.value).end;
      const bool done = end == End::success, died = end == End::killed;
      if (died != (outcome.value == killed)) wrong(what + ": did not end as it was to");
      if (end == End::other || end == End::nameless) wrong(what + ": no Error of path and reason");
      if (!operation.fits(files_in(folder.path()), done))
        wrong(what + ": other files than may be there");
      if (!done && run(operation, folder.path(), call, -1, 0).end != End::success)
        wrong(what + ": cannot be done again");
      if (!operation.fits(files_in(folder.path()), true)) wrong(what + ": done again, other files");
      ++(done ? successes : errors);
    }
    std::cout << std::setw(11) << detail::join(successes, " + ", errors) << std::flush;
  }
};

// --- the operations ---

template <class Save>
Operation saving(const char* name, const Save& save) {
  const auto bytes = [&](int version) {
    const test::TemporaryFolder folder;
    save(folder / "x", version);
    return read_file(folder / "x");
  };
  const std::string old = bytes(0), fresh = bytes(1);
  return {name, [old](const fs::path& folder) { write_atomically(folder / "x", old); },
          [save](const fs::path& folder) { save(folder / "x", 1); }, old_or_new(old, fresh)};
}

std::map<std::string, Tensor> tensors(int version) {
  return {{"a", full({3, 2}, version, f32)}, {"b", arange(5 + version)}};
}

void save_run(const fs::path& path, int version) {
  Generator rng(1);
  Linear model({.in = 2, .out = 2}, rng);
  Sgd sgd(model.parameters(), {.lr = 0.1});
  std::int64_t steps = version;
  TrainingRun all;
  all.add("model", model);
  all.add("sgd", sgd);
  all.add("steps", steps);
  all.save(path);
}

struct Kernel {
  Generator rng{1};
  Sequential net{Linear({.in = 3, .out = 2, .parameterization = Parameterization::ntk}, rng),
                 Activation(Nonlinearity::relu),
                 Linear({.in = 2, .out = 1, .parameterization = Parameterization::ntk}, rng)};
  Tensor x = normal({2 * infinite::vector_unit + 3, 3}, rng, 0, 1, f64);
  Tensor whole = infinite::gram(infinite::limit(net), x).ntk;
};

void check(const Tensor& a, const Tensor& b) {
  if (!all_equal(a, b)) throw std::runtime_error("other bits");
}

Operation tiles(const char* name, const std::function<void(const fs::path&)>& act, bool resumed) {
  const auto before = [=](const fs::path& folder) {
    if (!resumed) return;
    act(folder);
    fs::remove(folder / "t" / "part_000001.bin");
    fs::resize_file(folder / "t" / "part_000002.bin", 50);
  };
  const auto fits = [](const Files& files, bool done) {
    std::size_t temporaries = 0;
    for (const auto& [file, bytes] : files) temporaries += is_temporary(file);
    return temporaries <= (done ? 0u : 1u);
  };
  return {name, before, act, fits, 20};
}

int main_of() {
  set_num_threads(1);
  std::vector<Call> files;
  for (int i = 0; i < calls - 1; ++i) files.push_back(static_cast<Call>(i));
  std::vector<Call> all = files;  // Gram matrices allocate where std::filesystem may not fail
  all.push_back(Call::malloc);
  std::cout << "How often each call fails once: successes + Errors (or processes killed).\n"
            << std::setw(22) << std::left << "operation" << std::setw(10) << "call" << std::right
            << std::setw(6) << "calls";
  for (const Outcome& outcome : outcomes) std::cout << std::setw(11) << outcome.name;
  std::cout << std::endl;

  Table table;
  table.add(saving("save_safetensors",
                   [](const fs::path& path, int v) { save_safetensors(path, tensors(v)); }),
            all);
  table.add(saving("save_npz", [](const fs::path& path, int v) { save_npz(path, tensors(v)); }),
            all);
  table.add(saving("TrainingRun::save", save_run), all);
  const auto saved = [](const fs::path& folder) { save_safetensors(folder / "x", tensors(1)); };
  const auto load = [](const fs::path& folder) {
    for (const auto& [name, x] : load_safetensors(folder / "x")) check(x, tensors(1).at(name));
  };
  table.add({"load_safetensors", saved, load, [](const Files& f, bool) { return f.size() == 1; }},
            all);

  const Kernel kernel;
  const auto gram = [&](const fs::path& folder) {
    check(infinite::gram(
              infinite::limit(kernel.net), kernel.x,
              {.tile = infinite::vector_unit, .checkpoint = folder / "t", .checkpoint_seconds = 0})
              .ntk,
          kernel.whole);
  };
  const auto store = [&](const fs::path& folder) {
    const auto stored =
        infinite::store_gram(infinite::limit(kernel.net), kernel.x, folder / "t",
                             {.get = infinite::Get::ntk, .tile = infinite::vector_unit});
    check(stored.rows(0, stored.size()), kernel.whole);
  };
  for (const bool resumed : {false, true}) {
    table.add(tiles(resumed ? "gram, resumed" : "gram, checkpoint", gram, resumed), files);
    table.add(tiles(resumed ? "store_gram, resumed" : "store_gram", store, resumed), files);
  }
  std::cout << table.cases << " cases, none wrong\n";
  return 0;
}

}  // namespace
}  // namespace ladon::faults

int main() { return ladon::faults::main_of(); }
