// An opt-in record of parallel work, for predictions of the time with more threads than there are.
//
// While a trace runs, the calls of parallel_for that the tracing thread makes are cut for as many
// threads as they ask for, but run on that thread alone, one task after the other, and the CPU time of
// every task is kept, less what it takes to read the clock. A task gets the slot of the thread that
// would be the first to be free, so what is kept per slot is kept as by real threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {

/// One call of parallel_for that asked for more than one thread.
struct TracedCall {
  const char* name = "";
  int n_threads = 1;
  std::int64_t begin = 0, end = 0;  ///< nanoseconds of CPU time of this thread
  std::int64_t first_task = 0, n_tasks = 0;
};

struct Trace {
  std::vector<TracedCall> calls;
  std::vector<std::int64_t> tasks;  ///< nanoseconds of each, call by call
  std::int64_t reading_cost = 0;    ///< nanoseconds that it takes to read the clock
  std::int64_t n_readings = 0, last = 0;
};

/// Begins a trace of this thread's calls. Throws std::logic_error where one runs already.
void start_trace();
/// Ends it.
Trace stop_trace();

/// Nanoseconds of CPU time of the calling thread; of the wall clock where there is no such clock.
std::int64_t thread_nanoseconds();

/// The same less the time of the trace's own readings, of which this is one. A trace must run.
std::int64_t trace_nanoseconds();

/// Whether this thread is at work on a traced task: calls of the task's own are part of it.
bool is_inside_traced();
/// Whether this thread's calls are traced, and not already inside of a task.
bool is_traced();
void run_traced(std::int64_t n_tasks, int n_threads, const ParallelBody& body, const char* name);

}  // namespace marginboost
