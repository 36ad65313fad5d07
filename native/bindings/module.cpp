#include "bindings.hpp"

#include "marginboost/stumps/kernels.hpp"
#include "marginboost/threads/thread_pool.hpp"

NB_MODULE(_native, m) {
  // A model that lives until the interpreter ends is no leak, and its user should read of none.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled core of marginboost. Private: use marginboost's classes.";
  m.attr("MAX_THREADS") = marginboost::kMaxThreads;
  m.def("kernels", [] { return marginboost::kernels().name; },
        "Name of the instruction set in use.");
  m.def(
      "use_kernels",
      [](const char* name) {
        if (!marginboost::use_kernels(name)) {
          throw std::invalid_argument(std::string("This CPU or build has no kernels named '") + name +
                                      "'; known names are avx512, avx2, neon, portable and auto.");
        }
      },
      nb::arg("name"), "Choose the instruction set: avx512, avx2, neon, portable or auto.");
  marginboost::bind_binning(m);
  marginboost::bind_calibration(m);
  marginboost::bind_coefficients(m);
  marginboost::bind_explain(m);
  marginboost::bind_leaf_step(m);
  marginboost::bind_monotone(m);
  marginboost::bind_predict(m);
  marginboost::bind_regression(m);
  marginboost::bind_round_draws(m);
  marginboost::bind_round_numbers(m);
  marginboost::bind_row_hashes(m);
  marginboost::bind_scans(m);
  marginboost::bind_stump_shard(m);
  marginboost::bind_tree_shard(m);
  marginboost::bind_sparse_binning(m);
  marginboost::bind_trace(m);
  marginboost::bind_value_tables(m);
}
