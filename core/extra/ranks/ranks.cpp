#include "ladon/core/extra/ranks/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/kernels/fingerprint.h"
#include "ladon/core/machine/machine.h"
#include "ladon/core/machine/parallel.h"

#ifdef LADON_MPI
#include <mpi.h>
#include <unistd.h>
#endif

namespace ladon::ranks {
namespace {

bool in_session = false;
int alone = 0;  // number of Alone scopes that are alive

/// A number that must be the same in all ranks, in addition to the size of their data.
struct Detail {
  std::uint64_t value = 0;
  const char* what = "";
};

#ifdef LADON_MPI

/// Whether mpirun (of Open MPI, MPICH or Slurm) started this process. (MPI could be initialized in
/// any other process too, but that takes long.)
bool launched() {
  const auto set = [](const char* name) { return std::getenv(name) != nullptr; };
  return set("OMPI_COMM_WORLD_SIZE") || set("PMI_SIZE") || set("PMIX_RANK");
}

bool joined = false;  // this process works with other ranks
bool began = false;   // the session initialized MPI, and so must finalize it
int on_machine = 1;

bool together() { return joined && alone == 0; }

void check(int status, const char* operation) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  detail::fail(operation, "MPI reports: ", text);
}

/// Description of a collective call, which ranks exchange before the call itself.
struct Call {
  char operation[24] = {};
  std::uint64_t size = 0;    // of this rank's data
  std::uint64_t detail = 0;  // Detail::value
  std::string_view name() const { return {operation, strnlen(operation, sizeof operation)}; }
  /// The first characters of a name, as many as a Call has room for.
  static std::string_view name_of(std::string_view whole) {
    return whole.substr(0, sizeof operation);
  }
};

/// Name that a Call has if the session of its rank has ended.
constexpr std::string_view ended = "the end";

/// The calls of all ranks, in the order of ranks; empty if MPI fails.
std::vector<Call> calls(std::string_view operation, std::uint64_t size, const Detail& detail) {
  Call own{.size = size, .detail = detail.value};
  Call::name_of(operation).copy(own.operation, sizeof own.operation);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Call> all(ranks);
  const int status =
      MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  if (status != MPI_SUCCESS) all.clear();
  return all;
}

/// Ends a session. Until all ranks have ended, this function answers each call that another rank
/// still makes, and so tells that rank that this one has ended.
void wait_for_others() {
  std::vector<Call> all;
  do {
    all = calls(ended, 0, {});
  } while (!std::all_of(all.begin(), all.end(), [](const Call& c) { return c.name() == ended; }));
}

/// MPI counts bytes in 32 bits, so longer messages are sent in pieces.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

void broadcast_bytes(std::byte* bytes, std::size_t n, int from, const char* operation) {
  for (std::size_t at = 0; at < n; at += piece_bytes)
    check(MPI_Bcast(bytes + at, static_cast<int>(std::min(piece_bytes, n - at)), MPI_BYTE, from,
                    MPI_COMM_WORLD),
          operation);
}

/// Fills to[r], in all ranks and for every r, with the lengths[r] bytes that rank r has in its own
/// to[r].
void gather_parts(const std::vector<std::uint64_t>& lengths, const std::vector<std::byte*>& to,
                  const char* operation) {
  const auto own = static_cast<std::size_t>(rank());
  // Data are gathered in pieces, so that no rank holds much of them twice.
  const std::uint64_t most = (std::uint64_t{1} << 26) / lengths.size();
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<int> sizes(lengths.size()), starts(lengths.size());
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < longest; at += most) {
    int end = 0;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      starts[r] = end;
      sizes[r] = static_cast<int>(std::min(most, lengths[r] - std::min(at, lengths[r])));
      end += sizes[r];
    }
    piece.resize(end);
    check(MPI_Allgatherv(sizes[own] > 0 ? to[own] + at : nullptr, sizes[own], MPI_BYTE,
                         piece.data(), sizes.data(), starts.data(), MPI_BYTE, MPI_COMM_WORLD),
          operation);
    for (std::size_t r = 0; r < lengths.size(); ++r)
      if (r != own && sizes[r] > 0) std::copy_n(piece.data() + starts[r], sizes[r], to[r] + at);
  }
}

/// Exchanges the calls of all ranks, and returns the sizes of their data. Throws Error, in all
/// ranks, if a rank makes another call.
std::vector<std::uint64_t> meet(const char* operation, std::uint64_t size,
                                const Detail& detail = {}) {
  const std::vector<Call> all = calls(operation, size, detail);
  LADON_CHECK(!all.empty(), operation,
              "MPI cannot compare the calls of all ranks; has a rank ended or crashed?");
  std::vector<std::uint64_t> sizes;
  for (std::size_t r = 0; r < all.size(); ++r) {
    LADON_CHECK(all[r].name() != ended, operation, "rank ", rank(), " makes this call, but rank ",
                r, " has ended; all ranks must make the same calls in the same order");
    LADON_CHECK(all[r].name() == Call::name_of(operation), operation, "rank ", rank(),
                " makes this call, but rank ", r, " calls ", all[r].name(),
                "; all ranks must make the same calls in the same order");
    sizes.push_back(all[r].size);
  }
  for (std::size_t r = 0; r < all.size(); ++r)
    LADON_CHECK(all[r].detail == detail.value, operation, "rank ", rank(), " has ", detail.value,
                " ", detail.what, ", rank ", r, " has ", all[r].detail,
                "; all ranks must pass the same");
  return sizes;
}

#endif

/// Throws Error, in all ranks, unless all make the same call with the same number `own`. `what`
/// says in the message what is counted.
void check_same([[maybe_unused]] const char* operation, [[maybe_unused]] std::uint64_t own,
                [[maybe_unused]] const char* what, [[maybe_unused]] const Detail& detail = {}) {
#ifdef LADON_MPI
  if (!together()) return;
  const std::vector<std::uint64_t> all = meet(operation, own, detail);
  for (std::size_t r = 0; r < all.size(); ++r)
    LADON_CHECK(all[r] == own, operation, "rank ", rank(), " has ", own, " ", what, ", rank ", r,
                " has ", all[r], "; all ranks must pass the same");
#endif
}

/// all_gather() on behalf of `operation`, the name that errors show.
std::vector<std::vector<std::byte>> gather([[maybe_unused]] const char* operation,
                                           std::span<const std::byte> own) {
  std::vector<std::vector<std::byte>> all(count());
  all[rank()].assign(own.begin(), own.end());
#ifdef LADON_MPI
  if (!together()) return all;
  const std::vector<std::uint64_t> lengths = meet(operation, own.size());
  std::vector<std::byte*> to;
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].resize(lengths[r]);
    to.push_back(all[r].data());
  }
  gather_parts(lengths, to, operation);
#endif
  return all;
}

std::size_t bytes_of(const Tensor& x) {
  return static_cast<std::size_t>(x.count()) * item_size(x.dtype());
}

void check_contiguous(const char* operation, const Tensor& x) {
  LADON_CHECK(x.defined(), operation, "needs a contiguous tensor, got an undefined tensor");
  LADON_CHECK(x.contiguous(), operation, "needs a contiguous tensor, got shape ", x.shape(),
              " with strides ", x.strides(), "; pass contiguous(x)");
}

Share share_of_rank(std::int64_t rows, int of) {
  const std::int64_t ranks = count();
  return {rows / ranks * of + std::min<std::int64_t>(rows % ranks, of),
          rows / ranks * (of + 1) + std::min<std::int64_t>(rows % ranks, of + 1)};
}

#ifdef LADON_MPI

/// Sends part r of x to rank r; x has n elements for each of the ranks. `gathered` receives the
/// parts that all ranks have for this rank, in the order of ranks.
template <class T>
void exchange(const T* x, T* gathered, std::int64_t n) {
  check(MPI_Alltoall(x, static_cast<int>(n * sizeof(T)), MPI_BYTE, gathered,
                     static_cast<int>(n * sizeof(T)), MPI_BYTE, MPI_COMM_WORLD),
        "all_reduce");
}

/// Replaces x by its sum over ranks, in pieces. Each piece is divided into parts of equal length,
/// one per rank; the last piece is padded with zeros.
template <class T>
void sum_in_order(Tensor& x) {
  T* sum = x.mutable_data<T>();
  const std::int64_t ranks = count();
  constexpr std::int64_t most = std::int64_t{1} << 20;
  for (std::int64_t at = 0, here = 0; at < x.count(); at += here) {
    here = std::min(most, x.count() - at);
    const std::int64_t n = (here + ranks - 1) / ranks;
    std::vector<T> padded(n * ranks), parts(padded.size());
    std::copy_n(sum + at, here, padded.data());
    exchange(padded.data(), parts.data(), n);
    for (std::int64_t r = 1; r < ranks; ++r)
      for (std::int64_t i = 0; i < n; ++i) parts[i] += parts[r * n + i];
    const int bytes = static_cast<int>(n * static_cast<std::int64_t>(sizeof(T)));
    check(MPI_Allgather(parts.data(), bytes, MPI_BYTE, padded.data(), bytes, MPI_BYTE,
                        MPI_COMM_WORLD),
          "all_reduce");
    std::copy_n(padded.data(), here, sum + at);
  }
}

/// Limits the number of threads to this rank's share of the machine's cores.
void share_cores() {
  MPI_Comm here;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
        "ranks");
  MPI_Comm_size(here, &on_machine);
  MPI_Comm_free(&here);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN) / on_machine;
  if (on_machine > 1) set_num_threads(static_cast<int>(std::clamp<long>(cores, 1, num_threads())));
}

#endif

}  // namespace

Session::Session() : exceptions_(std::uncaught_exceptions()) {
  LADON_CHECK(!in_session, "ranks",
              "a session is already there; a program must have only one, in main");
#ifdef LADON_MPI
  int was = 0, over = 0, support = 0;
  check(MPI_Initialized(&was), "ranks");
  check(MPI_Finalized(&over), "ranks");
  LADON_CHECK(over == 0, "ranks",
              "this program has ended MPI already; MPI can be initialized only once");
  if (was != 0 || launched()) {
    if (was == 0) {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &support), "ranks");
      began = true;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    joined = true;
    share_cores();
  }
#endif
  detail::processes_here = neighbours;
  in_session = true;
}

Session::~Session() {
  in_session = false;
#ifdef LADON_MPI
  if (!joined) return;
  if (failed_ || std::uncaught_exceptions() > exceptions_) MPI_Abort(MPI_COMM_WORLD, 1);
  wait_for_others();
  joined = false;
  if (began) MPI_Finalize();
  began = false;
#endif
}

Alone::Alone() { ++alone; }
Alone::~Alone() { --alone; }

int rank() {
  int r = 0;
#ifdef LADON_MPI
  if (together()) MPI_Comm_rank(MPI_COMM_WORLD, &r);
#endif
  return r;
}

int count() {
  int n = 1;
#ifdef LADON_MPI
  if (together()) MPI_Comm_size(MPI_COMM_WORLD, &n);
#endif
  return n;
}

int neighbours() {
#ifdef LADON_MPI
  if (together()) return on_machine;
#endif
  return 1;
}

void barrier(const char* of) { check_same(of, 0, "arguments"); }

namespace {

/// The numbers `own` of all ranks, in the order of ranks.
std::vector<std::uint64_t> numbers(const char* operation, std::uint64_t own) {
  std::vector<std::uint64_t> all;
  for (const std::vector<std::byte>& bytes : gather(operation, std::as_bytes(std::span(&own, 1)))) {
    all.emplace_back();
    if (bytes.size() == sizeof own) std::memcpy(&all.back(), bytes.data(), sizeof own);
  }
  return all;
}

bool all_equal(const std::vector<std::uint64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

std::vector<std::string> lines_of(const std::vector<std::byte>& bytes) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

void check_alike(const char* operation, const std::string& description) {
  if (count() == 1) return;
  if (all_equal(numbers(operation, detail::fingerprint(std::string_view(description))))) return;
  const auto all = gather(operation, std::as_bytes(std::span(description)));
  const std::vector<std::string> first = lines_of(all[0]);
  for (std::size_t r = 1; r < all.size(); ++r) {
    const std::vector<std::string> others = lines_of(all[r]);
    for (std::size_t i = 0; i < std::max(first.size(), others.size()); ++i) {
      const std::string a = i < first.size() ? first[i] : "nothing";
      const std::string b = i < others.size() ? others[i] : "nothing";
      LADON_CHECK(a == b, operation, "rank 0 has ", a, ", rank ", r, " has ", b, " as entry ", i,
                  " of ", first.size(), " and ", others.size(),
                  "; every rank must pass the same entries in the same order");
    }
  }
}

void check_alike(const char* operation, const char* what, const Tensor& x) {
  if (count() == 1) return;
  LADON_CHECK(
      all_equal(numbers(operation, detail::fingerprint(x))), operation, what,
      " differ between ranks; pass the same tensor in all: broadcast() it from one rank, or "
      "draw it from one seed");
}

std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> own) {
  return gather("all_gather", own);
}

void broadcast([[maybe_unused]] std::span<std::byte> bytes, int from) {
  LADON_CHECK(from >= 0 && from < count(), "broadcast", "the source, rank ", from,
              ", does not exist: this program has ranks 0 to ", count() - 1);
  check_same("broadcast", bytes.size(), "bytes",
             {static_cast<std::uint64_t>(from), "as the source"});
#ifdef LADON_MPI
  if (together()) broadcast_bytes(bytes.data(), bytes.size(), from, "broadcast");
#endif
}

void broadcast(Tensor x, int from) {
  check_contiguous("broadcast", x);
  broadcast(std::span(x.strided_bytes(), bytes_of(x)), from);
  x.storage().bump_version();
}

std::string from_first(const std::function<std::string()>& make) {
  if (count() == 1) return make();
  std::string text;
  std::exception_ptr failure;
  if (rank() == 0) {
    try {
      text = make();
    } catch (const Error& error) {
      text = error.what();
      failure = std::current_exception();
    }
    text += failure ? '!' : '.';
  }
  const std::vector<std::byte> all = gather("from_first", std::as_bytes(std::span(text)))[0];
  if (failure) std::rethrow_exception(failure);
  text.assign(reinterpret_cast<const char*>(all.data()), all.size() - 1);
  if (all.back() == std::byte('!')) throw Error(text);
  return text;
}

std::vector<std::vector<std::byte>> each_task(
    std::int64_t n, const std::function<std::vector<std::byte>(std::int64_t)>& make) {
  LADON_CHECK(n >= 0, "each_task", "the number of tasks must not be negative, got ", n);
  check_same("each_task", static_cast<std::uint64_t>(n), "tasks");
  const std::int64_t ranks = count();
  std::vector<std::vector<std::byte>> results(n);
  std::vector<std::byte> own;  // the length of each result, followed by the result
  for (std::int64_t i = rank(); i < n; i += ranks) {
    const Alone by_itself;
    const std::vector<std::byte> result = make(i);
    const std::uint64_t length = result.size();
    const auto* bytes = reinterpret_cast<const std::byte*>(&length);
    own.insert(own.end(), bytes, bytes + sizeof length);
    own.insert(own.end(), result.begin(), result.end());
  }
  const auto all = gather("each_task", own);
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::byte* at = all[r].data();
    for (std::size_t i = r; i < results.size(); i += all.size()) {
      std::uint64_t length = 0;
      std::memcpy(&length, at, sizeof length);
      results[i].assign(at + sizeof length, at + sizeof length + length);
      at += sizeof length + length;
    }
  }
  return results;
}

void all_reduce(Tensor x) {
  check_contiguous("all_reduce", x);
  visit_floating("all_reduce", x.dtype(), [&]<class T>() {
    check_same("all_reduce", bytes_of(x), "bytes",
               {static_cast<std::uint64_t>(x.dtype()), "as the number of its dtype"});
#ifdef LADON_MPI
    if (count() > 1) sum_in_order<T>(x);
#endif
  });
}

Share share_of(std::int64_t rows) { return share_of_rank(rows, rank()); }

void gather_rows(Tensor x) {
  check_contiguous("gather_rows", x);
  LADON_CHECK(x.rank() >= 1, "gather_rows",
              "a tensor of rank 0 has no rows; pass a tensor "
              "of rank 1 or more");
  check_same("gather_rows", bytes_of(x), "bytes", {static_cast<std::uint64_t>(x.size(0)), "rows"});
#ifdef LADON_MPI
  if (!together() || x.count() == 0) return;
  const std::int64_t rows = x.shape()[0];
  const std::size_t row_bytes = bytes_of(x) / static_cast<std::size_t>(rows);
  std::vector<std::uint64_t> lengths;
  std::vector<std::byte*> to;
  for (int r = 0; r < count(); ++r) {
    const Share share = share_of_rank(rows, r);
    lengths.push_back(static_cast<std::size_t>(share.last - share.first) * row_bytes);
    to.push_back(x.strided_bytes() + static_cast<std::size_t>(share.first) * row_bytes);
  }
  gather_parts(lengths, to, "gather_rows");
  x.storage().bump_version();
#endif
}

}  // namespace ladon::ranks
