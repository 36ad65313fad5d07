// A test is a function registered by TEST; CHECK says where it failed and what was there.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

struct TestCase {
  const char* name;
  void (*run)();
};

inline std::vector<TestCase>& test_cases() {
  static std::vector<TestCase> cases;
  return cases;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* name, void (*run)()) { test_cases().push_back({name, run}); }
};

#define TEST(name)                                   \
  static void name();                                \
  static const Register register_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition);      \
      ++failures();                                                                 \
    }                                                                               \
  } while (false)
