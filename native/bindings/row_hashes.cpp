#include "marginboost/binning/row_hashes.hpp"

#include "bindings.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

using Hashes = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

int checked_threads(int n_threads) {
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  return n_threads;
}

template <class Bin>
void bind_hashes(nb::module_& m) {
  m.def(
      "add_row_hashes",
      [](const Input<Bin, 2>& bins, const Input<std::uint64_t, 1>& table,
         const Input<std::int64_t, 1>& begins, const Hashes& hashes, int n_threads) {
        const int threads = checked_threads(n_threads);
        const ReleasedLock release;
        add_row_hashes<Bin>({bins.data(), bins.size()}, span_of(table), span_of(begins), threads,
                            {hashes.data(), hashes.size()});
      },
      nb::arg("bins"), nb::arg("table"), nb::arg("begins"), nb::arg("hashes"),
      nb::arg("n_threads"), "Add the numbers of the rows' bins to their hashes, in place.");
}

}  // namespace

void bind_row_hashes(nb::module_& m) {
  bind_hashes<std::uint8_t>(m);
  bind_hashes<std::uint16_t>(m);
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
