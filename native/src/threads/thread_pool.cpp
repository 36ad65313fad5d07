#include "marginboost/threads/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "marginboost/threads/trace.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace marginboost {
namespace {

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// The CPUs that this process may use.
int usable_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// A round of boosting is a handful of short calls, so a thread looks again for some tens of
// microseconds before it goes to sleep: waking a sleeping thread costs more than that. With more threads
// than CPUs it does not: others need its CPU.
constexpr int kSpins = 2000;

template <class T>
void wait_while_equal(const std::atomic<T>& value, T old, int spins) {
  for (int spin = 0; spin < spins; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

// What the caller and the workers agree on, in one word, so that nobody ever sees half of a change:
// the number of the call, how many workers it may use, whether it is over, and how many are at work.
struct State {
  std::uint64_t word = 0;

  static constexpr std::uint64_t kClosed = 1u << 15;
  static State open(std::uint64_t call, int helpers) {
    return {call << 32 | static_cast<std::uint64_t>(helpers) << 16};
  }
  std::uint64_t call() const { return word >> 32; }
  int helpers() const { return static_cast<int>(word >> 16 & 0xFFFF); }
  bool closed() const { return (word & kClosed) != 0; }
  int at_work() const { return static_cast<int>(word & (kClosed - 1)); }
};

// A call of parallel_for.
struct alignas(64) Job {
  std::atomic<bool> taken{false};
  std::atomic<std::uint64_t> state{State::kClosed};
  const ParallelBody* body = nullptr;
  std::atomic<std::int64_t> n_tasks{0};
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;

  bool has_tasks() const {
    return next.load(std::memory_order_relaxed) < n_tasks.load(std::memory_order_relaxed);
  }
};

// Whether this thread is at work on a task: calls of the task's own run inside of it.
thread_local bool inside = false;

class Pool {
 public:
  void run(std::int64_t n_tasks, int n_threads, const ParallelBody& body) {
    Job* job = inside ? nullptr : claim();
    if (job == nullptr) {
      for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
      return;
    }
    const int helpers = grow(n_threads - 1);
    job->body = &body;
    job->n_tasks.store(n_tasks, std::memory_order_relaxed);
    job->next.store(0, std::memory_order_relaxed);
    job->failed.store(false, std::memory_order_relaxed);
    job->failure = nullptr;
    const int n_busy = n_busy_.fetch_add(1) + 1;
    n_open_.fetch_add(1);
    const std::uint64_t call = State{job->state.load(std::memory_order_relaxed)}.call() + 1;
    job->state.store(State::open(call & 0xFFFFFFFF, helpers).word, std::memory_order_release);
    if (n_busy <= helpers) wake();
    work(*job, 0);
    n_busy_.fetch_sub(1);
    // There may be workers that left another call because of this one. Of two threads that work on two
    // calls side by side, none did.
    if (n_open_.fetch_sub(1) > 1 && helpers > 1) wake();
    close(*job);
    const std::exception_ptr failure = std::exchange(job->failure, nullptr);
    job->taken.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  // A place for a call; null where too many Python threads call at once.
  Job* claim() {
    for (Job& job : jobs_) {
      if (!job.taken.load(std::memory_order_relaxed) && !job.taken.exchange(true)) return &job;
    }
    return nullptr;
  }

  void wake() {
    signal_.fetch_add(1, std::memory_order_acq_rel);
    signal_.notify_all();
  }

  int spins() const { return n_workers_.load(std::memory_order_relaxed) < n_cpus_ ? kSpins : 0; }

  // Waits for the workers that came. One that has not woken by now need not: its tasks are done.
  void close(Job& job) {
    for (;;) {
      std::uint64_t word = job.state.load(std::memory_order_acquire);
      if (State{word}.at_work() > 0) {
        wait_while_equal(job.state, word, spins());
      } else if (job.state.compare_exchange_weak(word, word | State::kClosed,
                                                 std::memory_order_acq_rel)) {
        return;
      }
    }
  }

  // Starts workers up to `wanted`; returns how many there are to help (fewer where the system refuses).
  int grow(int wanted) {
    if (n_workers_.load(std::memory_order_relaxed) < wanted) {
      const std::lock_guard<std::mutex> hold(grow_mutex_);
      while (n_workers_.load(std::memory_order_relaxed) < wanted) {
        try {
          std::thread(&Pool::serve, this, n_workers_.load(std::memory_order_relaxed) + 1,
                      signal_.load(std::memory_order_relaxed))
              .detach();
        } catch (const std::system_error&) {
          break;
        }
        n_workers_.fetch_add(1);
      }
    }
    return std::min(wanted, n_workers_.load(std::memory_order_relaxed));
  }

  void serve(int number, std::uint32_t seen) {
    inside = true;
    for (;;) {
      wait_while_equal(signal_, seen, spins());
      seen = signal_.load(std::memory_order_acquire);
      while (help(number)) continue;
    }
  }

  // Works on the open call that has the fewest workers, if that is allowed: a call's threads include
  // those that are at work on other calls. Returns whether there was one.
  bool help(int number) {
    Job* least = nullptr;
    std::uint64_t word = 0;
    for (Job& job : jobs_) {
      const std::uint64_t now = job.state.load(std::memory_order_acquire);
      const State state{now};
      if (state.closed() || number > state.helpers() || !job.has_tasks()) continue;
      if (n_busy_.load(std::memory_order_relaxed) > state.helpers()) continue;
      if (least == nullptr || state.at_work() < State{word}.at_work()) {
        least = &job;
        word = now;
      }
    }
    if (least == nullptr) return false;
    if (!least->state.compare_exchange_strong(word, word + 1, std::memory_order_acq_rel)) return true;
    n_busy_.fetch_add(1);
    work(*least, number);
    n_busy_.fetch_sub(1);
    if (State{least->state.fetch_sub(1, std::memory_order_acq_rel) - 1}.at_work() == 0) {
      least->state.notify_all();
    }
    return true;
  }

  void work(Job& job, int slot) {
    const bool was_inside = std::exchange(inside, true);
    const int most = State{job.state.load(std::memory_order_relaxed)}.helpers() + 1;
    try {
      for (;;) {
        // A worker leaves where a caller has come that needs its CPU.
        if (slot > 0 && n_busy_.load(std::memory_order_relaxed) > most) break;
        const std::int64_t task = job.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= job.n_tasks.load(std::memory_order_relaxed) ||
            job.failed.load(std::memory_order_relaxed))
          break;
        (*job.body)(task, slot);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> hold(job.failure_mutex);
      if (!job.failure) job.failure = std::current_exception();
      job.failed.store(true, std::memory_order_relaxed);
    }
    inside = was_inside;
  }

  static constexpr int kMostJobs = 8;
  Job jobs_[kMostJobs];
  std::mutex grow_mutex_;
  const int n_cpus_ = usable_cpus();
  std::atomic<int> n_workers_{0};
  std::atomic<int> n_busy_{0};  // callers and workers inside of calls
  std::atomic<int> n_open_{0};
  std::atomic<std::uint32_t> signal_{0};  // changes when there may be something to do
};

// Never destroyed: its threads are detached and may outlive static destructors.
Pool* pool = nullptr;

Pool& the_pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    pool = new Pool;
#if !defined(_WIN32)
    // The child of a fork has none of the workers, and perhaps a locked mutex: it starts anew.
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
#endif
  });
  return *pool;
}

}  // namespace

void parallel_for(std::int64_t n_tasks, int n_threads, const ParallelBody& body,
                  const char* name) {
  const auto threads =
      static_cast<int>(std::min<std::int64_t>(std::min(n_threads, kMaxThreads), n_tasks));
  if (threads <= 1 || is_inside_traced()) {
    for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  if (is_traced()) {
    run_traced(n_tasks, threads, body, name);
    return;
  }
  // With few tasks too, any of the workers may take them: some are at work on other calls.
  the_pool().run(n_tasks, std::min(n_threads, kMaxThreads), body);
}

}  // namespace marginboost
