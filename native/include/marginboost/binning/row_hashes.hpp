// Hashes of binned rows, and rows that share one.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// hashes[i] += the sum over features f of table[begins[f] + bins[f][i]], modulo 2^64; `bins` holds one
/// feature after the other. Throws std::invalid_argument where a bin is not in the table.
template <class Bin>
void add_row_hashes(std::span<const Bin> bins, std::span<const std::uint64_t> table,
                    std::span<const std::int64_t> begins, int n_threads,
                    std::span<std::uint64_t> hashes);

/// For each hash, whether another one is equal to it.
void find_repeated(std::span<const std::uint64_t> hashes, int n_threads,
                   std::span<std::uint8_t> repeated);

}  // namespace marginboost
