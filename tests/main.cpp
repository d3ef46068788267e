// main() of the programs of tests. One that skipped a case returns 77, and ctest then says
// "Skipped" (SKIP_RETURN_CODE in CMakeLists.txt); googletest's own main would return 0, which reads
// as passed. A failure takes precedence over a skip; a pattern in the output
// (SKIP_REGULAR_EXPRESSION) would hide the failure.

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (failed != 0) return failed;
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? 77 : 0;
}
