// Tests the documented behaviour of each function of ranks.h.

#include <algorithm>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/tests/ranks/checks.h"

namespace ladon::test {
namespace {

void gather() {
  const int r = ranks::rank(), n = ranks::count();
  const std::vector<std::byte> own(static_cast<std::size_t>(3 * r), std::byte(r));
  const auto all = ranks::all_gather(own);
  require(all.size() == static_cast<std::size_t>(n), "one part a rank");
  for (int i = 0; i < n; ++i)
    require(all[static_cast<std::size_t>(i)] ==
                std::vector<std::byte>(static_cast<std::size_t>(3 * i), std::byte(i)),
            "parts are in the order of ranks");
}

void broadcast() {
  std::vector<std::byte> bytes(1000, std::byte(ranks::rank() + 1));
  ranks::broadcast(bytes, ranks::count() - 1);
  require(bytes == std::vector<std::byte>(1000, std::byte(ranks::count())), "all hold the last's");
  if (ranks::count() > 1)
    require_error(
        [] {
          std::vector<std::byte> other(static_cast<std::size_t>(ranks::rank()));
          ranks::broadcast(other, 0);
        },
        "bytes, rank", "lengths must agree");
}

/// Sums are those of one process that adds in the order of ranks, bit for bit.
template <class T>
void reduce(DType dtype, std::int64_t n) {
  const auto of_rank = [&](int r) -> Tensor {
    Generator rng(static_cast<std::uint64_t>(r));
    return normal({n}, rng, 0, 1, dtype);
  };
  const Tensor x = of_rank(ranks::rank());
  ranks::all_reduce(x);
  std::vector<T> sum(static_cast<std::size_t>(n));
  for (int r = 0; r < ranks::count(); ++r) {
    const std::vector<T> part = of_rank(r).template to_vector<T>();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  require(x.to_vector<T>() == sum, "sums run in the order of ranks");
}

void rows() {
  for (const std::int64_t count : {0, 1, 3, 17}) {
    const Tensor x = zeros({count, 5}, i64);
    const ranks::Share mine = ranks::share_of(count);
    Tensor y = x;
    for (std::int64_t i = mine.first * 5; i < mine.last * 5; ++i)
      y.mutable_data<std::int64_t>()[i] = i;
    ranks::gather_rows(x);
    for (std::int64_t i = 0; i < count * 5; ++i)
      require(x.data<std::int64_t>()[i] == i, "all rows are there");
  }
}

void broadcast_tensor() {
  const Tensor x = full({3, 2}, ranks::rank() + 1, f32);
  ranks::broadcast(x, ranks::count() - 1);
  require(x.to_vector<float>() == std::vector<float>(6, static_cast<float>(ranks::count())),
          "all hold the last's elements");
}

void alone() {
  const int n = ranks::count();
  if (ranks::rank() == 0) {  // the others do not take part
    const ranks::Alone outer;
    { const ranks::Alone inner; }
    require(ranks::rank() == 0 && ranks::count() == 1 && ranks::neighbours() == 1, "one alone");
    ranks::barrier();
    const Tensor x = ones({3});
    ranks::all_reduce(x);
    require(ranks::share_of(5).last == 5 && ranks::all_gather({}).size() == 1, "all is its own");
  }
  require(ranks::count() == n, "and then they are as many as before");
}

void first() {
  const int mine = ranks::rank();
  const std::string said = ranks::from_first([&] { return "rank " + std::to_string(mine); });
  require(said == "rank 0", "all hear the first");
  require(ranks::from_first([] { return std::string(); }).empty(), "it may say nothing");
  require_error([] { ranks::from_first([]() -> std::string { throw Error("the first fails"); }); },
                "the first fails", "its error is everybody's");
}

void tasks() {
  for (const std::int64_t n : {0, 1, 7}) {
    std::int64_t made = 0;
    const auto results = ranks::each_task(n, [&](std::int64_t i) {
      require(ranks::count() == 1, "a task is alone");
      ++made;
      return std::vector<std::byte>(static_cast<std::size_t>(i), std::byte(i));
    });
    require(std::ssize(results) == n, "one result a task");
    for (std::int64_t i = 0; i < n; ++i)
      require(results[static_cast<std::size_t>(i)] ==
                  std::vector<std::byte>(static_cast<std::size_t>(i), std::byte(i)),
              "results are in the order of tasks");
    require(made == (n - ranks::rank() + ranks::count() - 1) / ranks::count(), "shared out");
  }
}

/// Ranks that do not make the same call: an Error in all of them, and all go on together.
void order() {
  if (ranks::count() == 1) return;
  const bool first = ranks::rank() == 0;
  const auto expect = [&](const auto& call, const char* part) {
    require_error(call, part, "all learn of it");
    ranks::barrier();
  };
  const Tensor x = ones({2}), y = ones({1}, f64);
  expect([&] { first ? ranks::barrier() : ranks::all_reduce(x); },
         first ? "[barrier] rank 0 makes this call, but rank 1 calls all_reduce"
               : "[all_reduce] rank");
  expect(
      [&] {
        first ? static_cast<void>(ranks::from_first([] { return std::string("a"); }))
              : static_cast<void>(ranks::all_gather({}));
      },
      "the same calls in the same order");
  expect([&] { ranks::barrier(first ? "barrier" : "Cholesky"); }, "the same order");
  ranks::barrier("a_name_of_more_than_twenty_four_bytes");
  expect([&] { ranks::all_reduce(first ? x : y); }, "as the number of its dtype");
  expect([&] { ranks::broadcast(x, first ? 0 : 1); }, "as the source");
  expect([&] { ranks::gather_rows(zeros(first ? Shape{2, 3} : Shape{3, 2})); }, "rows");
}

}  // namespace

void check_collectives() {
  gather();
  broadcast();
  broadcast_tensor();
  reduce<float>(f32, 1000);
  reduce<double>(f64, (1 << 20) + 7);
  reduce<double>(f64, 1);
  rows();
  alone();
  first();
  tasks();
  order();
}

}  // namespace ladon::test
