// Compiled without exceptions: then the C library does not need this file's language to end a thread here.
#include "restored_lock.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

namespace marginboost {

#if defined(_WIN32)
void restore_lock(PyThreadState* state) { PyEval_RestoreThread(state); }
#else
namespace {

void sleep_for_ever(void*) {
  for (;;) pause();
}

}  // namespace

void restore_lock(PyThreadState* state) {
  pthread_cleanup_push(&sleep_for_ever, nullptr);
  PyEval_RestoreThread(state);
  pthread_cleanup_pop(0);
}
#endif

}  // namespace marginboost
