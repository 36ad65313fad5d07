// Native work without the interpreter's lock, safe where the interpreter ends meanwhile.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace marginboost {

/// Lets go of the interpreter's lock for as long as it lives.
///
/// A daemon thread may still be at work when the interpreter ends. Taking the lock back then never
/// returns: up to Python 3.13 the interpreter ends the thread by `pthread_exit`, which glibc carries out
/// as an exception (a forced unwinding). It must neither leave a destructor, nor the `noexcept` frames
/// of nanobind, nor be swallowed: each of these ends the process by `std::terminate`. So the thread sleeps
/// in the handler until the process is gone, which is what Python does by itself from 3.14 on.
/// The frames below it stay as they are, and nothing that other threads use is destroyed.
class ReleasedLock {
 public:
  ReleasedLock() : state_(PyEval_SaveThread()) {}
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;
  ~ReleasedLock() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace marginboost
