// Run by mpirun on some ranks: what ranks.h says, and how a rank that fails ends the others.
//   ranks                all collectives
//   ranks throw | exit   the last rank fails so while the others wait for it

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/core/ranks.h"

namespace {

using namespace ladon;

void require(bool held, const char* what) {
  if (!held)
    throw std::runtime_error("rank " + std::to_string(ranks::rank()) + ": not so: " + what);
}

template <class F>
void require_error(const F& f, const char* what) {
  try {
    f();
  } catch (const Error&) {
    return;
  }
  require(false, what);
}

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
        "lengths must agree");
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

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  ranks::Session session;
  try {
    const bool last = ranks::rank() == ranks::count() - 1;
    if (how == "exit" && last) std::_Exit(3);
    if (how == "throw" && last) throw std::runtime_error("the last rank fails");
    ranks::barrier();
    gather();
    broadcast();
    reduce<float>(f32, 1000);
    reduce<double>(f64, (1 << 20) + 7);
    rows();
    if (ranks::rank() == 0) std::cout << ranks::count() << " ranks agree\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ranks: " << error.what() << '\n';
    session.fail();
    return 1;
  }
}
