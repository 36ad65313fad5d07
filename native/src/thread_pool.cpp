#include "marginboost/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace marginboost {
namespace {

using Body = std::function<void(std::int64_t, int)>;

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

class Pool {
 public:
  void run(std::int64_t n_tasks, int n_threads, const Body& body) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) {  // another Python thread is using the workers: do not wait for it
      for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
      return;
    }
    const int helpers = grow(n_threads - 1);
    body_ = &body;
    n_tasks_ = n_tasks;
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    failure_ = nullptr;
    busy_.store(helpers, std::memory_order_relaxed);
    const std::uint64_t number = (call_.load(std::memory_order_relaxed) >> kHelperBits) + 1;
    call_.store(number << kHelperBits | static_cast<std::uint64_t>(helpers),
                std::memory_order_release);
    call_.notify_all();
    work(0);
    for (int busy = busy_.load(std::memory_order_acquire); busy != 0;
         busy = busy_.load(std::memory_order_acquire)) {
      wait_while_equal(busy_, busy);
    }
    body_ = nullptr;
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Starts workers up to `wanted`; says how many there are to help (fewer where the system refuses).
  int grow(int wanted) {
    while (n_workers_ < wanted) {
      const int number = n_workers_ + 1;
      try {
        std::thread(&Pool::serve, this, number, call_.load(std::memory_order_relaxed)).detach();
      } catch (const std::system_error&) {
        break;
      }
      ++n_workers_;
    }
    return std::min(wanted, n_workers_);
  }

  void serve(int number, std::uint64_t seen) {
    for (;;) {
      wait_while_equal(call_, seen);
      seen = call_.load(std::memory_order_acquire);
      if (number > static_cast<int>(seen & ((1u << kHelperBits) - 1))) continue;
      work(number);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    }
  }

  void work(int slot) {
    try {
      for (;;) {
        const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= n_tasks_ || failed_.load(std::memory_order_relaxed)) return;
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
  // Number of the call, and how many workers it asks for, in one word: a worker that wakes late must
  // not mix one call's number with another's count, or it would answer the same call twice.
  static constexpr int kHelperBits = 16;
  std::atomic<std::uint64_t> call_{0};
  std::atomic<int> busy_{0};
  const Body* body_ = nullptr;
  std::int64_t n_tasks_ = 0;
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

void parallel_for(std::int64_t n_tasks, int n_threads, const Body& body) {
  const auto threads =
      static_cast<int>(std::min<std::int64_t>(std::min(n_threads, kMaxThreads), n_tasks));
  if (threads <= 1) {
    for (std::int64_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  the_pool().run(n_tasks, threads, body);
}

}  // namespace marginboost
