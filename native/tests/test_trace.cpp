#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "marginboost/threads/trace.hpp"

using namespace marginboost;

TEST(a_trace_runs_tasks_in_order_on_its_own_thread) {
  const auto here = std::this_thread::get_id();
  std::vector<std::int64_t> order;
  std::vector<int> slots(4, 0);
  start_trace();
  parallel_for(20, 4, [&](std::int64_t task, int slot) {
    CHECK(std::this_thread::get_id() == here);
    order.push_back(task);
    ++slots.at(static_cast<std::size_t>(slot));
    const std::int64_t until = thread_nanoseconds() + 20000;
    while (thread_nanoseconds() < until) continue;
    parallel_for(3, 2, [](std::int64_t, int) {});  // inside of a task: part of it
  }, "work");
  parallel_for(5, 1, [](std::int64_t, int) {}, "serial");
  const Trace trace = stop_trace();
  for (std::int64_t task = 0; task < 20; ++task) CHECK(order.at(static_cast<std::size_t>(task)) == task);
  for (const int count : slots) CHECK(count >= 1);  // every thread would have had a task
  CHECK(trace.calls.size() == 1);
  CHECK(std::string(trace.calls[0].name) == "work");
  CHECK(trace.calls[0].n_threads == 4 && trace.calls[0].n_tasks == 20);
  CHECK(trace.tasks.size() == 20);
  std::int64_t sum = 0;
  for (const std::int64_t task : trace.tasks) {
    CHECK(task >= 10000);  // less the reading of the clock
    sum += task;
  }
  CHECK(sum == trace.calls[0].end - trace.calls[0].begin);
}

TEST(a_trace_outlives_a_task_that_fails) {
  start_trace();
  bool failed = false;
  try {
    parallel_for(4, 2, [](std::int64_t, int) { throw std::runtime_error("a task"); });
  } catch (const std::runtime_error&) {
    failed = true;
  }
  CHECK(failed);
  parallel_for(4, 2, [](std::int64_t, int) {});
  CHECK(stop_trace().calls.size() == 1);
}

TEST(a_trace_is_of_one_thread_and_one_at_a_time) {
  start_trace();
  bool refused = false;
  try {
    start_trace();
  } catch (const std::logic_error&) {
    refused = true;
  }
  CHECK(refused);
  std::thread([] { parallel_for(8, 2, [](std::int64_t, int) {}); }).join();
  CHECK(stop_trace().calls.empty());
  start_trace();
  CHECK(stop_trace().calls.empty());
}
