// The interpreter's lock, taken back by a thread that must not be ended by that.
#pragma once

#include <Python.h>

namespace marginboost {

/// `PyEval_RestoreThread`; where the interpreter has ended meanwhile, sleeps until the process is gone.
///
/// Up to Python 3.13 the interpreter ends such a thread by `pthread_exit`, which glibc carries out by
/// unwinding the stack with its own library. In C++ frames that would call the exception handling of the
/// C++ library, which in a wheel is another one, linked statically. A cleanup handler in the manner of C
/// is found before any such frame, and does not return. Python itself sleeps from 3.14 on.
void restore_lock(PyThreadState* state);

}  // namespace marginboost
