#include "marginboost/binning/row_hashes.hpp"

#include <array>
#include <vector>

#include "bindings.hpp"
#include "marginboost/binning/row_order.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

int checked_threads(int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  return n_threads;
}

template <class Bin>
void bind_hashes(nb::module_& m) {
  m.def(
      "hash_rows",
      [](const Input<Bin, 2>& bins, const Input<std::uint64_t, 1>& table,
         const Input<std::int64_t, 1>& begins, const Input<std::uint64_t, 1>& of_class,
         const Input<std::int64_t, 1>& class_offsets, int n_threads) {
        const int threads = checked_threads(n_threads);
        std::uint64_t* out;
        auto hashes = new_array<std::uint64_t>({bins.shape(1)}, &out);
        {
          const ReleasedLock release;
          hash_rows<Bin>({bins.data(), bins.size()}, span_of(table), span_of(begins),
                         span_of(of_class), span_of(class_offsets), threads, {out, bins.shape(1)});
        }
        return hashes;
      },
      nb::arg("bins"), nb::arg("table"), nb::arg("begins"), nb::arg("of_class"),
      nb::arg("class_offsets"), nb::arg("n_threads"),
      "Return the sum of the numbers of each row's class and bins.");
  m.def(
      "take_rows",
      [](const Input<Bin, 2>& bins, const Input<std::int64_t, 1>& rows, int n_threads) {
        const int threads = checked_threads(n_threads);
        for (const std::int64_t row : span_of(rows))
          require(row >= 0 && row < static_cast<std::int64_t>(bins.shape(1)),
                  "rows must be below the number of rows.");
        Bin* out;
        auto taken = new_array<Bin>({bins.shape(0), rows.size()}, &out);
        {
          const ReleasedLock release;
          take_rows<Bin>({bins.data(), bins.size()}, static_cast<std::int64_t>(bins.shape(1)),
                         span_of(rows), threads, {out, bins.shape(0) * rows.size()});
        }
        return taken;
      },
      nb::arg("bins"), nb::arg("rows"), nb::arg("n_threads"),
      "Return bins of some rows: those of one feature after the other.");
}

}  // namespace

void bind_row_hashes(nb::module_& m) {
  bind_hashes<std::uint8_t>(m);
  bind_hashes<std::uint16_t>(m);
  m.def(
      "order_by_class",
      [](const Input<std::uint8_t, 1>& codes, int n_threads) {
        const int threads = checked_threads(n_threads);
        std::int64_t* out;
        auto order = new_array<std::int64_t>({codes.size()}, &out);
        std::array<std::int64_t, 256> found;
        {
          const ReleasedLock release;
          found = order_by_class(span_of(codes), threads, {out, codes.size()});
        }
        return nb::make_tuple(order, array_of(std::vector<std::int64_t>(found.begin(), found.end())));
      },
      nb::arg("codes"), nb::arg("n_threads"),
      "Return the rows by class, those of a class in their order, and the number of each class's rows.");
  m.def(
      "find_repeated",
      [](const Input<std::uint64_t, 1>& hashes, int n_threads) {
        const int threads = checked_threads(n_threads);
        std::uint8_t* out;
        auto repeated = new_array<std::uint8_t>({hashes.size()}, &out);
        {
          const ReleasedLock release;
          find_repeated(span_of(hashes), threads, {out, hashes.size()});
        }
        return repeated;
      },
      nb::arg("hashes"), nb::arg("n_threads"),
      "Return 1 for each hash that another one is equal to, and 0 for the others.");
}

}  // namespace marginboost
