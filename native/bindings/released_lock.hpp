// Native work without the interpreter's lock, safe where the interpreter ends meanwhile.
#pragma once

#include <Python.h>

#include "restored_lock.hpp"

namespace marginboost {

/// Lets go of the interpreter's lock for as long as it lives.
///
/// A daemon thread may still be at work when the interpreter ends. Taking the lock back then never
/// returns: the frames below stay as they are, and nothing that other threads use is destroyed.
class ReleasedLock {
 public:
  ReleasedLock() : state_(PyEval_SaveThread()) {}
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;
  ~ReleasedLock() { restore_lock(state_); }

 private:
  PyThreadState* state_;
};

}  // namespace marginboost
