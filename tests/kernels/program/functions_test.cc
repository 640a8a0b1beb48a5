#include "kernels/program/functions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace shoal::kernels::program {
namespace {

TEST(FunctionsTest, NoNameStandsTwiceAndEachHasItsSentence) {
  std::set<std::string> names;
  for (const OpInfo& op : AllOps()) names.emplace(op.name);
  for (const Function& function : AllFunctions()) {
    EXPECT_TRUE(names.emplace(function.name).second) << std::string(function.name);
    EXPECT_EQ(function.doc.back(), '.') << std::string(function.name);
    EXPECT_EQ(FindFunction(function.name), &function);
  }
  EXPECT_EQ(FindFunction("nonsense"), nullptr);
}

TEST(FunctionsTest, OtherNamesLeadToOps) {
  EXPECT_EQ(FindOpOrAlias("abs"), FindOp("absolute"));
  EXPECT_EQ(FindOpOrAlias("add"), FindOp("add"));
  EXPECT_EQ(FindOpOrAlias("nonsense"), nullptr);
}

// Every function makes something of as many arrays as it takes.
TEST(FunctionsTest, EachIsMadeOfOps) {
  for (const Function& function : AllFunctions()) {
    GraphBuilder builder;
    std::vector<Value> operands;
    for (int i = 0; i < function.operands_max; ++i) {
      operands.push_back(builder.Input({DType::kFloat32, *Shape::Create({5})}));
    }
    EXPECT_TRUE(function.make(builder, operands).ok()) << std::string(function.name);
  }
}

}  // namespace
}  // namespace shoal::kernels::program
