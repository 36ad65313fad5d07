// Hashes of binned rows, and rows that share one.
#pragma once

#include <cstdint>
#include <span>

namespace marginboost {

/// hashes[i] = of_class[the row's class] + the sum over features f of table[begins[f] + bins[f][i]],
/// modulo 2^64; `bins` holds one feature after the other, and class c has the rows from
/// class_offsets[c] to class_offsets[c + 1]. Throws std::invalid_argument where a bin is not in the table.
template <class Bin>
void hash_rows(std::span<const Bin> bins, std::span<const std::uint64_t> table,
               std::span<const std::int64_t> begins, std::span<const std::uint64_t> of_class,
               std::span<const std::int64_t> class_offsets, int n_threads,
               std::span<std::uint64_t> hashes);

/// For each hash, whether another one is equal to it.
void find_repeated(std::span<const std::uint64_t> hashes, int n_threads,
                   std::span<std::uint8_t> repeated);

}  // namespace marginboost
