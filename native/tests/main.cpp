#include "check.hpp"

int main() {
  int failed = 0;
  for (const TestCase& test : test_cases()) {
    const int before = failures();
    test.run();
    const bool ok = failures() == before;
    failed += ok ? 0 : 1;
    std::printf("%s %s\n", ok ? "ok    " : "FAILED", test.name);
  }
  std::printf("%d passed, %d failed\n", static_cast<int>(test_cases().size()) - failed, failed);
  return failed == 0 ? 0 : 1;
}
