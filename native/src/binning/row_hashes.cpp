#include "marginboost/binning/row_hashes.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::int64_t kRowsATask = 1 << 12;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Bin>
void hash_rows(std::span<const Bin> bins, std::span<const std::uint64_t> table,
               std::span<const std::int64_t> begins, std::span<const std::uint64_t> of_class,
               std::span<const std::int64_t> class_offsets, int n_threads,
               std::span<std::uint64_t> hashes) {
  const auto m = static_cast<std::int64_t>(hashes.size());
  const auto d = static_cast<std::int64_t>(begins.size()) - 1;
  if (d < 0 || static_cast<std::int64_t>(bins.size()) != d * m || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end()) ||
      begins.back() != static_cast<std::int64_t>(table.size())) {
    throw std::invalid_argument("bins, table and begins must describe the same features.");
  }
  if (class_offsets.size() != of_class.size() + 1 || class_offsets.front() != 0 ||
      class_offsets.back() != m || !std::is_sorted(class_offsets.begin(), class_offsets.end())) {
    throw std::invalid_argument("class_offsets must divide the rows among the classes.");
  }
  parallel_for((m + kRowsATask - 1) / kRowsATask, n_threads, [&](std::int64_t task, int) {
    const std::int64_t first = task * kRowsATask, n = std::min(kRowsATask, m - first);
    std::uint64_t* sums = hashes.data() + first;
    auto end = std::upper_bound(class_offsets.begin(), class_offsets.end(), first);
    for (std::int64_t i = first; i < first + n; ++end) {
      const std::int64_t stop = std::min(*end, first + n);
      const auto number = static_cast<std::size_t>(end - class_offsets.begin()) - 1;
      std::fill(hashes.begin() + i, hashes.begin() + stop, of_class[number]);
      i = stop;
    }
    for (std::int64_t f = 0; f < d; ++f) {
      const Bin* column = bins.data() + f * m + first;
      const std::uint64_t* numbers = table.data() + begins[at(f)];
      if (*std::max_element(column, column + n) >= begins[at(f + 1)] - begins[at(f)]) {
        throw std::invalid_argument("every bin must be below its feature's number of bins.");
      }
      for (std::int64_t i = 0; i < n; ++i) sums[i] += numbers[column[i]];
    }
  }, "hash rows");
}

template void hash_rows(std::span<const std::uint8_t>, std::span<const std::uint64_t>,
                        std::span<const std::int64_t>, std::span<const std::uint64_t>,
                        std::span<const std::int64_t>, int, std::span<std::uint64_t>);
template void hash_rows(std::span<const std::uint16_t>, std::span<const std::uint64_t>,
                        std::span<const std::int64_t>, std::span<const std::uint64_t>,
                        std::span<const std::int64_t>, int, std::span<std::uint64_t>);

// Hashes are dealt out to buckets by their highest bits; equal ones meet in one bucket.
void find_repeated(std::span<const std::uint64_t> hashes, int n_threads,
                   std::span<std::uint8_t> repeated) {
  struct Entry {
    std::uint64_t hash;
    std::int64_t row;
  };
  constexpr std::int64_t kBuckets = 256;
  const auto m = static_cast<std::int64_t>(hashes.size());
  const std::int64_t block =
      std::clamp<std::int64_t>(m / (4 * n_threads) + 1, kRowsATask, 16 * kRowsATask);
  const std::int64_t n_blocks = (m + block - 1) / block;
  const auto bucket_of = [](std::uint64_t hash) { return at(static_cast<std::int64_t>(hash >> 56)); };
  std::vector<std::int64_t> places(at(n_blocks * kBuckets), 0);
  const auto for_blocks = [&](const auto& visit) {
    parallel_for(n_blocks, n_threads, [&](std::int64_t task, int) {
      std::int64_t* mine = places.data() + task * kBuckets;
      for (std::int64_t i = task * block; i < std::min(m, (task + 1) * block); ++i) visit(i, mine);
    }, "deal hashes");
  };
  for_blocks([&](std::int64_t i, std::int64_t* counts) { ++counts[bucket_of(hashes[at(i)])]; });
  std::vector<std::int64_t> begins(at(kBuckets + 1), 0);
  std::int64_t place = 0;
  for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    begins[at(bucket)] = place;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      std::int64_t& here = places[at(b * kBuckets + bucket)];
      const std::int64_t count = here;
      here = place;
      place += count;
    }
  }
  begins.back() = place;
  const auto entries = std::make_unique_for_overwrite<Entry[]>(hashes.size());
  for_blocks([&](std::int64_t i, std::int64_t* next) {
    entries[at(next[bucket_of(hashes[at(i)])]++)] = {hashes[at(i)], i};
  });
  parallel_for(kBuckets, m < kRowsATask ? 1 : n_threads, [&](std::int64_t bucket, int) {
    Entry* begin = entries.get() + begins[at(bucket)];
    Entry* end = entries.get() + begins[at(bucket) + 1];
    std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.hash < b.hash; });
    for (const Entry* here = begin; here != end; ++here) {
      const bool again = (here != begin && here[-1].hash == here->hash) ||
                         (here + 1 != end && here[1].hash == here->hash);
      repeated[at(here->row)] = again ? 1 : 0;
    }
  }, "find copies");
}

}  // namespace marginboost
