// A small pool of worker threads.
//
// Our own, not OpenMP: it survives fork (a child gets a fresh pool), it never clashes with another
// runtime in the process, and calls from several threads share the workers: each takes them where it
// has tasks and the others have none, and no worker joins a call where as many threads as it asks for
// are at work on all calls together. Work handed to it must give the same result in any order on any
// number of threads; all of ours does, because every shared sum is a sum of integers.
#pragma once

#include <cstdint>
#include <functional>

namespace marginboost {

/// The most threads one call may use; asking for more is an error the caller reports.
inline constexpr int kMaxThreads = 1024;

using ParallelBody = std::function<void(std::int64_t task, int slot)>;

/// Runs `body(task, slot)` for every task in [0, n_tasks). `slot` < n_threads numbers the thread that
/// runs it, so a body may keep scratch memory by slot. The first exception a body throws is rethrown
/// here, after all threads have let go of the work. `name` says in a trace what the work was.
void parallel_for(std::int64_t n_tasks, int n_threads, const ParallelBody& body,
                  const char* name = "other");

}  // namespace marginboost
