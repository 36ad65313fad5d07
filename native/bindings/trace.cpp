#include "marginboost/threads/trace.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "bindings.hpp"

namespace marginboost {
namespace {

nb::tuple records_of(const Trace& trace) {
  nb::list calls;
  for (const TracedCall& call : trace.calls) {
    calls.append(nb::make_tuple(std::string(call.name), call.n_threads, call.begin, call.end,
                                call.first_task, call.n_tasks));
  }
  return nb::make_tuple(calls, array_of(trace.tasks));
}

std::int64_t shortest_call(int n_threads, std::int64_t nanoseconds, int n_calls) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  };
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int call = 0; call < n_calls; ++call) {
    const auto start = Clock::now();
    parallel_for(n_threads, n_threads, [&](std::int64_t, int) {
      const auto began = Clock::now();
      while (since(began) < nanoseconds) continue;
    });
    best = std::min<std::int64_t>(best, since(start));
  }
  return best;
}

}  // namespace

void bind_trace(nb::module_& m) {
  m.def("start_trace", &start_trace,
        "Run this thread's parallel work on this thread alone, cut for as many threads as it asks for, "
        "and record the time of every task.");
  m.def("stop_trace", [] { return records_of(stop_trace()); },
        "End a trace; return the parallel calls (name, n_threads, begin, end, first_task, n_tasks) and "
        "the nanoseconds of their tasks.");
  m.def("trace_nanoseconds", &trace_nanoseconds,
        "Return the CPU time of this thread, which a trace is of, less that of reading the clock.");
  m.def(
      "time_threads",
      [](int n_threads, std::int64_t nanoseconds, int n_calls) {
        require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
        const ReleasedLock release;
        return shortest_call(n_threads, nanoseconds, n_calls);
      },
      nb::arg("n_threads"), nb::arg("nanoseconds"), nb::arg("n_calls"),
      "Give every thread a task that lasts so long; return the nanoseconds of the quickest call.");
}

}  // namespace marginboost
