#include "marginboost/threads/trace.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace marginboost {
namespace {

thread_local Trace* traced = nullptr;  // of this thread; null inside of a task
thread_local bool inside_task = false;
std::atomic<bool> any{false};

// What one reading of the clock takes: a system call, longer than many a task.
std::int64_t reading_cost() {
  std::vector<std::int64_t> steps(201);
  std::int64_t last = thread_nanoseconds();
  for (std::int64_t& step : steps) {
    const std::int64_t now = thread_nanoseconds();
    step = now - last;
    last = now;
  }
  std::nth_element(steps.begin(), steps.begin() + 100, steps.end());
  return steps[100];
}

// The time less that of all readings since the trace began; never back.
std::int64_t read(Trace& trace) {
  const std::int64_t spent = ++trace.n_readings * trace.reading_cost;
  return trace.last = std::max(trace.last, thread_nanoseconds() - spent);
}

// Nested calls of a task run inside of it, as they do in the pool.
class Inside {
 public:
  Inside() : trace_(std::exchange(traced, nullptr)) { inside_task = true; }
  ~Inside() {
    traced = trace_;
    inside_task = false;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Trace& trace() const { return *trace_; }

 private:
  Trace* trace_;
};

}  // namespace

std::int64_t thread_nanoseconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#else
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
#endif
}

void start_trace() {
  if (any.exchange(true)) throw std::logic_error("A trace must be stopped before the next starts.");
  traced = new Trace;
  traced->reading_cost = reading_cost();
}

Trace stop_trace() {
  if (traced == nullptr) throw std::logic_error("A trace must be stopped by the thread that started it.");
  Trace* ended = std::exchange(traced, nullptr);
  Trace found = std::move(*ended);
  delete ended;
  any.store(false);
  return found;
}

std::int64_t trace_nanoseconds() {
  if (traced == nullptr) throw std::logic_error("No trace of this thread runs.");
  return read(*traced);
}

bool is_inside_traced() { return inside_task; }

bool is_traced() { return any.load(std::memory_order_relaxed) && traced != nullptr; }

void run_traced(std::int64_t n_tasks, int n_threads, const ParallelBody& body, const char* name) {
  const Inside inside;
  Trace& trace = inside.trace();
  TracedCall call{name, n_threads, 0, 0, static_cast<std::int64_t>(trace.tasks.size()), n_tasks};
  std::vector<std::int64_t> taken(static_cast<std::size_t>(n_threads), 0);
  std::int64_t last = call.begin = read(trace);
  for (std::int64_t task = 0; task < n_tasks; ++task) {
    const auto first_free = std::min_element(taken.begin(), taken.end());
    body(task, static_cast<int>(first_free - taken.begin()));
    const std::int64_t now = read(trace);
    trace.tasks.push_back(now - last);
    *first_free += now - last;
    last = now;
  }
  call.end = last;
  trace.calls.push_back(call);
}

}  // namespace marginboost
