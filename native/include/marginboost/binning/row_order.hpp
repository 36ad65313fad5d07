// The order of rows by class, and copies of some rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace marginboost {

/// The numbers of the rows by class, those of a class in their order; returns how many each class has.
std::array<std::int64_t, 256> order_by_class(std::span<const std::uint8_t> codes, int n_threads,
                                             std::span<std::int64_t> order);

/// Copies bins of some rows; `bins` holds the `n_rows` bins of one feature after the other, and so does
/// `taken`.
template <class Bin>
void take_rows(std::span<const Bin> bins, std::int64_t n_rows, std::span<const std::int64_t> rows,
               int n_threads, std::span<Bin> taken);

}  // namespace marginboost
