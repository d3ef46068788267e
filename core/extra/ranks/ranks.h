#pragma once
// The only interface to MPI: processes that work together, on one machine or many ("ranks").
//
//   int main() {
//     const ladon::ranks::Session session;   // mpirun -n 4 ./program
//     ...
//   }
//
// Every process runs the same program. Shared work is divided by its size and the number of ranks;
// afterwards each rank has all results. A process without a session, one that was not started by
// mpirun, and every process of a library built without LADON_MPI is a group of one, in which
// nothing here has an effect: code that is written for many ranks needs no second version for one.
//
// All ranks make the same calls in the same order, each on one thread at a time. Before each call
// they exchange which one it is: if they differ, all ranks throw Error, and none waits for a call
// that never comes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::ranks {

/// Joins the processes that mpirun started, until the end of main. Throws Error if there is a
/// session already. At its end a session waits for those of the other ranks; calls that they still
/// make throw Error there, which says that this rank has ended. If an exception leaves the
/// session's block, or fail() was called, the other ranks, which would wait for this one forever,
/// are ended with a message. If the program has initialized MPI itself, the session uses that and
/// leaves MPI running; a session after MPI's end is an Error. Ranks on one machine divide its
/// cores: each has at most its share of them as threads, until set_num_threads().
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Marks this process as failed, for a program that catches its exceptions.
  void fail() { failed_ = true; }

 private:
  [[maybe_unused]] int exceptions_;  // in flight when it began; not used without MPI
  bool failed_ = false;
};

/// While one is alive, this process is a group of one, for work that a rank does by itself, or
/// differently from the others. It acts on the process, not on one thread, and may be nested.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

/// Index of this process among the ranks, from 0, and number of ranks.
int rank();
int count();
/// Number of ranks that run on this machine, and share its memory.
int neighbours();

/// Waits for all ranks. Throws Error, in all of them, if a rank makes another call; `of` is a name
/// that distinguishes barriers.
void barrier(const char* of = "barrier");

/// Throws Error of `operation`, in all ranks, if their descriptions of their operands differ, and
/// shows the first line that does: "`bias` f32 [3]". Sizes alone might agree by chance.
void check_alike(const char* operation, const std::string& description);
/// Throws Error of `operation`, in all ranks, if the elements of x, which must be the same in all
/// of them, differ.
void check_alike(const char* operation, const char* what, const Tensor& x);

/// Contributions of all ranks, in their order; lengths may differ.
std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> own);

/// Copies the bytes of rank `from` to all ranks. Throws Error, in all of them, if the length or
/// `from` differs in one.
void broadcast(std::span<std::byte> bytes, int from);
/// Copies the elements of x in rank `from` to x in all ranks. x has any dtype, is contiguous, and
/// has as many bytes in every rank; throws Error otherwise.
void broadcast(Tensor x, int from);

/// The result of make(), which only rank 0 calls, in all ranks. An Error in it is thrown in all.
std::string from_first(const std::function<std::string()>& make);

/// make(0), …, make(n − 1), in all ranks: rank i mod count() computes task i, under Alone. This
/// distributes seeds and arms of an experiment, or the members of an ensemble, over ranks.
std::vector<std::vector<std::byte>> each_task(
    std::int64_t n, const std::function<std::vector<std::byte>(std::int64_t)>& make);

/// x ← Σ over ranks of their x, in the order of ranks: the same bits in all of them, and in every
/// run with as many ranks. f32 and f64, of one shape and dtype everywhere, contiguous; throws Error
/// otherwise. A group of one leaves x as it is. Each rank sums its share of the elements, so that
/// at most twice the bytes of x pass through any of them.
void all_reduce(Tensor x);

/// Rows [first, last) of `rows` that belong to this rank: as even as possible, in the order of
/// ranks.
struct Share {
  std::int64_t first, last;
};
Share share_of(std::int64_t rows);

/// Completes x [rows, ...], of which each rank has filled its share_of(rows), with the rows of the
/// others. Any dtype, contiguous; throws Error otherwise.
void gather_rows(Tensor x);

}  // namespace ladon::ranks
