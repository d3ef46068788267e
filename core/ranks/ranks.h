#pragma once
// The only door to MPI: processes that work together, on one machine or many ("ranks").
//
//   int main() {
//     const ladon::ranks::Session session;   // mpirun -n 4 ./program
//     ...
//   }
//
// Every process runs the same program. What is shared out is cut by its size and the number of
// ranks; each then has all results. A process without a session, one that was not started by
// mpirun, and every process of a library built without LADON_MPI is a group of one, to which
// nothing here does anything: what is written for many ranks needs no second version for one.
//
// All ranks make the same calls in the same order, each on one thread at a time. Before each, they
// tell one another which it is: where they differ it is an Error in all of them, and nobody waits
// for a call that never comes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::ranks {

/// Joins the processes that mpirun started, and leaves them at the end of main. At most one at a
/// time; throws Error for a second. At its end the session waits for the others': whatever they
/// still call is an Error there, which says that this rank has ended. If an exception leaves main's
/// block with it, or fail() was called, the other ranks, which would wait for this one for ever,
/// are ended with a message. Where the program has begun MPI itself, the session joins what is
/// there and leaves MPI running; one after MPI's end is an Error. Ranks on one machine divide its
/// cores: each is left with that many threads at most, until set_num_threads().
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Says that this process gives up, for a program that catches its errors.
  void fail() { failed_ = true; }

 private:
  [[maybe_unused]] int exceptions_;  // in flight when it began; without MPI nobody asks
  bool failed_ = false;
};

/// While it lives, this process is a group of one: for what a rank does by itself, or not at all
/// like the others. Of the process, not of a thread; one may stand inside another.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

/// This process among them, from 0, and how many there are.
int rank();
int count();
/// Number of ranks that run on this machine, and share its memory.
int neighbours();

/// Waits for all. Throws Error, in all, where another rank is in another call; `of` tells barriers
/// apart.
void barrier(const char* of = "barrier");

/// Throws Error of `operation`, in all ranks, where their descriptions of what they bring to it
/// differ, and tells the first line in which they do: "`bias` f32 [3]". Sizes alone would agree by
/// chance.
void check_alike(const char* operation, const std::string& description);
/// Throws Error of `operation`, in all ranks, where x, which each needs whole, has other elements
/// in one of them.
void check_alike(const char* operation, const char* what, const Tensor& x);

/// Contributions of all ranks, in their order; lengths may differ.
std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> own);

/// Copies the bytes of rank `from` to all. Another length or `from` in one of them is an Error in
/// all.
void broadcast(std::span<std::byte> bytes, int from);
/// Copies the elements of x in rank `from` to x in all ranks. x has any dtype, is contiguous, and
/// has as many bytes in every rank; throws Error otherwise.
void broadcast(Tensor x, int from);

/// Result of make() in rank 0, which alone calls it, for all. An Error there is an Error in all.
std::string from_first(const std::function<std::string()>& make);

/// make(0), …, make(n − 1), in all ranks: task i is done by rank i mod count(), Alone. So seeds and
/// arms of an experiment, or the members of an ensemble, go over ranks.
std::vector<std::vector<std::byte>> each_task(
    std::int64_t n, const std::function<std::vector<std::byte>(std::int64_t)>& make);

/// x ← Σ over ranks of their x, in the order of ranks: the same bits in all of them, and in every
/// run with as many ranks. f32 and f64, of one shape and dtype everywhere, contiguous; throws Error
/// otherwise. In a group of one, x stays. Each rank sums its share of the elements, so that no more
/// than twice x passes through any of them.
void all_reduce(Tensor x);

/// Rows [first, last) of `rows` that are this rank's: as even as can be, in the order of ranks.
struct Share {
  std::int64_t first, last;
};
Share share_of(std::int64_t rows);

/// x [rows, ...], of which this rank has filled its share_of(rows), is completed by those of the
/// others. Any dtype, contiguous; throws Error otherwise.
void gather_rows(Tensor x);

}  // namespace ladon::ranks
