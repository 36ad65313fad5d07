#include "marginboost/threads/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "marginboost/threads/trace.hpp"

#if !defined(_WIN32)
#include <pthread.h>
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

// A round of boosting is a handful of short calls, so a thread looks again for some tens of
// microseconds before it goes to sleep: waking a sleeping thread costs more than that.
constexpr int kSpins = 2000;

template <class T>
void wait_while_equal(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
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

class Pool {
 public:
  void run(std::int64_t n_tasks, int n_threads, const ParallelBody& body) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) {  // another Python thread is using the workers: do not wait for it
      for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
      return;
    }
    const int helpers = grow(n_threads - 1);
    body_ = &body;
    n_tasks_.store(n_tasks, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    failure_ = nullptr;
    const std::uint64_t call = State{state_.load(std::memory_order_relaxed)}.call() + 1;
    state_.store(State::open(call & 0xFFFFFFFF, helpers).word, std::memory_order_release);
    state_.notify_all();
    work(0);
    close();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Waits for the workers that came. One that has not woken by now need not: its tasks are done.
  void close() {
    for (;;) {
      std::uint64_t word = state_.load(std::memory_order_acquire);
      if (State{word}.at_work() > 0) {
        wait_while_equal(state_, word);
      } else if (state_.compare_exchange_weak(word, word | State::kClosed,
                                              std::memory_order_acq_rel)) {
        return;
      }
    }
  }

  // Starts workers up to `wanted`; says how many there are to help (fewer where the system refuses).
  int grow(int wanted) {
    while (n_workers_ < wanted) {
      const int number = n_workers_ + 1;
      try {
        std::thread(&Pool::serve, this, number, state_.load(std::memory_order_relaxed)).detach();
      } catch (const std::system_error&) {
        break;
      }
      ++n_workers_;
    }
    return std::min(wanted, n_workers_);
  }

  void serve(int number, std::uint64_t seen) {
    for (;;) {
      wait_while_equal(state_, seen);
      seen = state_.load(std::memory_order_acquire);
      while (!State{seen}.closed() && number <= State{seen}.helpers() &&
             next_.load(std::memory_order_relaxed) < n_tasks_.load(std::memory_order_relaxed)) {
        if (!state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) continue;
        work(number);
        seen = state_.fetch_sub(1, std::memory_order_acq_rel) - 1;
        if (State{seen}.at_work() == 0) state_.notify_all();
      }
    }
  }

  void work(int slot) {
    try {
      for (;;) {
        const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= n_tasks_.load(std::memory_order_relaxed) || failed_.load(std::memory_order_relaxed)) return;
        (*body_)(task, slot);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> hold(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  std::mutex turn_;  // held by the call in progress
  int n_workers_ = 0;
  std::atomic<std::uint64_t> state_{State::kClosed};
  const ParallelBody* body_ = nullptr;
  std::atomic<std::int64_t> n_tasks_{0};
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
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
  if (threads <= 1) {
    for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  if (is_traced()) {
    run_traced(n_tasks, threads, body, name);
    return;
  }
  the_pool().run(n_tasks, threads, body);
}

}  // namespace marginboost
