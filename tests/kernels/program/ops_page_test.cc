#include "kernels/program/ops_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

TEST(OpsPageTest, HasEveryOp) {
  const std::string page = OpsPage();
  for (const OpInfo& op : AllOps()) {
    EXPECT_NE(page.find("| `" + std::string(op.name) + "`"), std::string::npos) << op.name;
  }
  EXPECT_NE(page.find("| `exp` | 1 | e to the power of x. | floats | float |  | 0.76 / 0.76 |\n"),
            std::string::npos);
}

TEST(OpsPageTest, IsWhatTheDocumentsHave) {
  std::ifstream file(SHOAL_OPS_PAGE);
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(page == OpsPage())
      << "docs/ops.md is not up to date: run this program with\n"
         "--gtest_also_run_disabled_tests --gtest_filter=OpsPageTest.DISABLED_WriteIt";
}

TEST(OpsPageTest, DISABLED_WriteIt) { std::ofstream(SHOAL_OPS_PAGE) << OpsPage(); }

}  // namespace
}  // namespace shoal::kernels::program
