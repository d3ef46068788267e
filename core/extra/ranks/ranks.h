#pragma once
// The only interface to MPI: processes that work together, on one machine or many ("ranks").
//
//   int main() {
//     const ladon::ranks::Session session;   // mpirun -n 4 ./program
//     ...
//   }
//
// Every process runs the same program. Shared work is divided by its size and the number of ranks;
// afterwards each rank has all results. A process without a session, a process that was not started
// by mpirun, and every process of a library built without LADON_MPI is a group of one rank. There,
// the functions below communicate with nobody, so code that is written for many ranks also works
// for one.
//
// All ranks must make the same calls in the same order, each on one thread at a time. Ranks
// exchange the name of each call before it: if the names differ, all ranks throw Error, and no rank
// waits for a call that never comes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::ranks {

/// Joins the processes that mpirun started, until the end of main. Throws Error if there is a
/// session already, or if MPI has been finalized. At its end, a session waits for the sessions of
/// the other ranks to end; a call that another rank still makes throws an Error there that says
/// that this rank has ended. If an exception leaves the session's block, or fail() was called, all
/// other ranks, which would wait for this rank forever, are ended with a message. If the program
/// has initialized MPI itself, the session uses it and does not finalize it. Ranks on one machine
/// divide its cores: each uses at most (cores/ranks) threads, until it calls set_num_threads().
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Marks this process as failed, for a program that catches its exceptions.
  void fail() { failed_ = true; }

 private:
  [[maybe_unused]] int exceptions_;  // exceptions in flight at construction; not used without MPI
  bool failed_ = false;
};

/// While an object of this class is alive, this process is a group of one rank, for work that a
/// rank does by itself, or differently from the other ranks. It affects the whole process, not one
/// thread, and may be nested.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

/// Index of this process among the ranks, from 0; count() is the number of ranks.
int rank();
int count();
/// Number of ranks, including this one, that run on this machine and share its memory.
int neighbours();

/// Waits for all ranks. Throws Error, in all ranks, if a rank makes a different call, or calls
/// barrier() with a different name `of`.
void barrier(const char* of = "barrier");

/// Throws Error naming `operation`, in all ranks, if `description` differs between ranks; the error
/// shows the first line that differs. A description has a line per operand, such as
/// "`bias` f32 [3]": sizes alone might agree by chance.
void check_alike(const char* operation, const std::string& description);
/// Throws Error naming `operation`, in all ranks, if the elements of x are not the same in all
/// ranks. `what` names x in the message.
void check_alike(const char* operation, const char* what, const Tensor& x);

/// The bytes `own` of all ranks, in the order of ranks; lengths may differ.
std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> own);

/// Copies the bytes of rank `from` to all ranks. Throws Error, in all ranks, if the length or
/// `from` differs between ranks.
void broadcast(std::span<std::byte> bytes, int from);
/// Copies the elements of x in rank `from` to x in all ranks, for any dtype. Throws Error unless x
/// is contiguous and has the same number of bytes in every rank.
void broadcast(Tensor x, int from);

/// Returns, in all ranks, the result of make(), which only rank 0 calls. An Error that make()
/// throws is thrown in all ranks.
std::string from_first(const std::function<std::string()>& make);

/// Returns, in all ranks, make(0), …, make(n − 1): rank i mod count() computes make(i), as a group
/// of one rank (Alone). This distributes the seeds and settings of an experiment, or the members of
/// an ensemble, over ranks.
std::vector<std::vector<std::byte>> each_task(
    std::int64_t n, const std::function<std::vector<std::byte>(std::int64_t)>& make);

/// Replaces x, in all ranks, by the sum of x over ranks. The sum is taken in the order of ranks, so
/// it has the same bits in all ranks, and in every run with as many ranks. Throws Error unless x is
/// contiguous, f32 or f64, and has the same shape and dtype in all ranks. Each rank sums a part of
/// the elements, so that at most twice the bytes of x pass through any rank.
void all_reduce(Tensor x);

/// Rows [first, last) that belong to this rank, if `rows` rows are divided as evenly as possible,
/// in the order of ranks.
struct Share {
  std::int64_t first, last;
};
Share share_of(std::int64_t rows);

/// Completes x [rows, ...] in all ranks, after each rank has filled its rows share_of(rows), with
/// the rows of the other ranks. Any dtype. Throws Error unless x is contiguous.
void gather_rows(Tensor x);

}  // namespace ladon::ranks
