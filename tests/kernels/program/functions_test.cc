#include "kernels/program/functions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shoal::kernels::program {
namespace {

TEST(FunctionsTest, NoNameStandsTwiceAndEachHasItsSentence) {
  std::set<std::string> names;
  for (const OpInfo& op : AllOps()) names.emplace(op.name);
  for (const Function& function : AllFunctions()) {
    // A function goes before the op of its name, and is it where there is nothing better.
    EXPECT_TRUE(names.emplace(function.name).second ||
                FindOp({function.name.data(), function.name.size()}) != nullptr)
        << std::string(function.name);
    EXPECT_EQ(function.doc.back(), '.') << std::string(function.name);
    EXPECT_EQ(FindFunction(function.name), &function);
  }
  EXPECT_EQ(FindFunction("nonsense"), nullptr);
}

TEST(FunctionsTest, OtherNamesLeadToOps) {
  EXPECT_EQ(FindOpOrAlias("conj"), FindOp("conjugate"));
  EXPECT_EQ(FindOpOrAlias("add"), FindOp("add"));
  EXPECT_EQ(FindOpOrAlias("nonsense"), nullptr);
}

// Every function makes something of as many arrays as it takes.
TEST(FunctionsTest, EachIsMadeOfOps) {
  for (const Function& function : AllFunctions()) {
    GraphBuilder builder;
    std::vector<Value> operands;
    for (int i = 0; i < function.operands; ++i) {
      operands.push_back(builder.Input({DType::kFloat32, *Shape::Create({5})}));
    }
    const absl::StatusOr<Value> made = function.reduce != nullptr
                                           ? function.reduce(builder, operands[0], {})
                                           : function.make(builder, operands);
    EXPECT_TRUE(made.ok()) << std::string(function.name);
  }
}

/// What `power` of an array of the dtype and an exponent is made of: the op, or its error.
std::string PowerOf(DType dtype, const Value& exponent) {
  GraphBuilder builder;
  const Value base = builder.Input({dtype, *Shape::Create({5})});
  const absl::StatusOr<Value> power = FindFunction("power")->make(builder, {base, exponent});
  if (!power.ok()) return std::string(power.status().message());
  const Graph graph = std::move(builder).Finish();
  const Node& node = graph.nodes[static_cast<size_t>(power->node)];
  return std::string(node.op->name) + " of " + std::string(Name(node.type.dtype));
}

TEST(FunctionsTest, PowersForWhichThereIsSomethingBetterTakeThat) {
  const auto whole = [](int64_t n) { return GraphBuilder::Number(n, WeakKind::kInt); };
  const auto number = [](double x) { return GraphBuilder::Number(x, WeakKind::kFloat); };
  EXPECT_EQ(PowerOf(DType::kFloat32, whole(2)), "square of float32");
  EXPECT_EQ(PowerOf(DType::kInt32, whole(2)), "square of int32");
  EXPECT_EQ(PowerOf(DType::kInt32, number(2)), "square of float64");
  EXPECT_EQ(PowerOf(DType::kFloat64, whole(1)), "positive of float64");
  EXPECT_EQ(PowerOf(DType::kFloat64, number(0.5)), "sqrt of float64");
  EXPECT_EQ(PowerOf(DType::kInt16, number(0.5)), "sqrt of float64");
  EXPECT_EQ(PowerOf(DType::kFloat32, whole(-1)), "divide of float32");
  EXPECT_EQ(PowerOf(DType::kFloat32, whole(3)), "power of float32");
  EXPECT_EQ(PowerOf(DType::kInt8, whole(3)), "power of int8");
  EXPECT_EQ(PowerOf(DType::kInt8, number(-2)), "power of float64");
  EXPECT_EQ(PowerOf(DType::kInt8, whole(-2)),
            "integers have no negative powers; a float exponent makes them floats");
}

}  // namespace
}  // namespace shoal::kernels::program
