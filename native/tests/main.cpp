// Runs all tests, or those whose names contain one of the arguments: emulators are slow.
#include <cstring>

#include "check.hpp"

namespace {

bool chosen(const char* name, int n_parts, char** parts) {
  for (int i = 0; i < n_parts; ++i) {
    if (std::strstr(name, parts[i]) != nullptr) return true;
  }
  return n_parts == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int passed = 0, failed = 0;
  for (const TestCase& test : test_cases()) {
    if (!chosen(test.name, argc - 1, argv + 1)) continue;
    const int before = failures();
    test.run();
    const bool ok = failures() == before;
    (ok ? passed : failed) += 1;
    std::printf("%s %s\n", ok ? "ok    " : "FAILED", test.name);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
