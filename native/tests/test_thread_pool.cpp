#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "marginboost/threads/thread_pool.hpp"

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

using marginboost::parallel_for;

TEST(every_task_runs_once) {
  for (int threads : {1, 2, 5, 16}) {
    std::vector<std::atomic<int>> seen(1000);
    parallel_for(1000, threads, [&](std::int64_t task, int slot) {
      CHECK(slot >= 0 && slot < threads);
      ++seen[static_cast<std::size_t>(task)];
    });
    for (const auto& count : seen) CHECK(count == 1);
  }
}

TEST(short_calls_in_a_row) {
  std::atomic<std::int64_t> sum{0};
  for (int call = 0; call < 5000; ++call) {
    parallel_for(3, 3, [&](std::int64_t task, int) { sum += task; });
  }
  CHECK(sum == 15000);
}

TEST(calls_for_few_and_many_threads_in_turn) {  // workers that sleep through calls, and wake late
  for (int call = 0; call < 3000; ++call) {
    const int threads = call % 3 == 0 ? 7 : 2;
    std::atomic<int> inside{0};
    parallel_for(20, threads, [&](std::int64_t, int) { ++inside; });
    CHECK(inside == 20);
  }
}

TEST(an_exception_reaches_the_caller) {
  std::string said;
  try {
    parallel_for(100, 4, [](std::int64_t task, int) {
      if (task == 37) throw std::runtime_error("task 37");
    });
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  CHECK(said == "task 37");
  std::atomic<int> count{0};
  parallel_for(10, 4, [&](std::int64_t, int) { ++count; });
  CHECK(count == 10);
}

TEST(calls_from_several_threads) {
  std::atomic<int> count{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int call = 0; call < 200; ++call) {
        parallel_for(8, 3, [&](std::int64_t, int) { ++count; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(count == 4 * 200 * 8);
}

TEST(calls_side_by_side_share_the_workers) {
  // Two callers and a worker: tasks of both calls meet, so both calls are served at the same time, and
  // one of three tasks that wait for each other is a worker's.
  for (int again = 0; again < 50; ++again) {
    std::atomic<int> inside{0};
    const auto meet = [&](std::int64_t, int) {
      ++inside;
      while (inside < 3) std::this_thread::yield();
    };
    std::thread other([&] { parallel_for(1, 1, meet); });
    parallel_for(2, 4, meet);
    other.join();
    CHECK(inside == 3);
    std::atomic<int> both{0};
    const auto wait_for_four = [&](std::int64_t, int slot) {
      CHECK(slot >= 0 && slot < 4);
      ++both;
      while (both < 4) std::this_thread::yield();
    };
    std::thread second([&] { parallel_for(2, 4, wait_for_four); });
    parallel_for(2, 4, wait_for_four);
    second.join();
    CHECK(both == 4);
  }
}

TEST(nested_calls) {
  std::atomic<int> count{0};
  parallel_for(4, 4, [&](std::int64_t, int) {
    parallel_for(4, 4, [&](std::int64_t, int) { ++count; });
  });
  CHECK(count == 16);
}

#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)
TEST(a_forked_child_has_a_pool_of_its_own) {
  parallel_for(8, 4, [](std::int64_t, int) {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang becomes a failure
    std::atomic<int> count{0};
    parallel_for(64, 4, [&](std::int64_t, int) { ++count; });
    _exit(count == 64 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif
