#include "marginboost/binning/row_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::int64_t kRowsATask = 1 << 13;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::array<std::int64_t, 256> order_by_class(std::span<const std::uint8_t> codes, int n_threads,
                                             std::span<std::int64_t> order) {
  const auto m = static_cast<std::int64_t>(codes.size());
  // No more blocks than threads need: each has a count of every class.
  const std::int64_t block = std::max(kRowsATask, m / (4 * n_threads) + 1);
  const std::int64_t n_blocks = (m + block - 1) / block;
  std::vector<std::array<std::int64_t, 256>> places(at(n_blocks));
  const auto for_blocks = [&](const auto& visit) {
    parallel_for(n_blocks, n_threads, [&](std::int64_t task, int) {
      auto& mine = places[at(task)];
      for (std::int64_t i = task * block; i < std::min(m, (task + 1) * block); ++i)
        visit(i, mine[codes[at(i)]]);
    }, "order rows");
  };
  for_blocks([](std::int64_t, std::int64_t& count) { ++count; });
  std::array<std::int64_t, 256> counts{};
  std::int64_t place = 0;
  for (std::size_t code = 0; code < 256; ++code)
    for (auto& of_block : places) {
      const std::int64_t count = of_block[code];
      counts[code] += count;
      of_block[code] = place;
      place += count;
    }
  for_blocks([&](std::int64_t i, std::int64_t& next) { order[at(next++)] = i; });
  return counts;
}

template <class Bin>
void take_rows(std::span<const Bin> bins, std::int64_t n_rows, std::span<const std::int64_t> rows,
               int n_threads, std::span<Bin> taken) {
  if (rows.empty() || n_rows == 0) return;
  const auto n = static_cast<std::int64_t>(rows.size());
  const auto d = static_cast<std::int64_t>(bins.size()) / n_rows;
  const int threads = d * n < kRowsATask ? 1 : n_threads;
  parallel_for(d, threads, [&](std::int64_t f, int) {
    const Bin* column = bins.data() + f * n_rows;
    Bin* to = taken.data() + f * n;
    for (std::int64_t i = 0; i < n; ++i) to[i] = column[rows[at(i)]];
  }, "take rows");
}

template void take_rows(std::span<const std::uint8_t>, std::int64_t, std::span<const std::int64_t>,
                        int, std::span<std::uint8_t>);
template void take_rows(std::span<const std::uint16_t>, std::int64_t, std::span<const std::int64_t>,
                        int, std::span<std::uint16_t>);

}  // namespace marginboost
