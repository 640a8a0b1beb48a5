#include "kernels/map.h"

#include <gtest/gtest.h>

#include "kernels/registry.h"

namespace shoal::kernels {
namespace {

TEST(MapKernelTest, ValuesAreInputsScalarsTheIndexAndSteps) {
  MapKernel kernel = OpKernel(*FindOp("axpy"), DType::kFloat64);
  EXPECT_EQ(kernel.inputs.size(), 2U);
  EXPECT_EQ(kernel.ScalarValue(0), 2);
  EXPECT_EQ(kernel.IndexValue(), 3);
  EXPECT_EQ(kernel.StepValue(0), 4);
  EXPECT_EQ(kernel.value_count(), 5U);
  EXPECT_EQ(kernel.outputs, std::vector<int16_t>{4});
  EXPECT_EQ(kernel.DTypeOf(kernel.IndexValue()), DType::kInt64);
  EXPECT_EQ(kernel.OutputDType(0), DType::kFloat64);
}

TEST(MapKernelTest, AnOpsKernelHasItsDTypes) {
  const MapKernel less = OpKernel(*FindOp("less"), DType::kInt16);
  EXPECT_EQ(less.OutputDType(0), DType::kBool);
  const MapKernel where = OpKernel(*FindOp("where"), DType::kInt16);
  EXPECT_EQ(where.inputs, (std::vector<DType>{DType::kBool, DType::kInt16, DType::kInt16}));
  const MapKernel real = OpKernel(*FindOp("real"), DType::kComplex64);
  EXPECT_EQ(real.OutputDType(0), DType::kFloat32);
  const MapKernel identity = IdentityKernel(DType::kBool);
  EXPECT_TRUE(identity.steps.empty());
  EXPECT_EQ(identity.OutputDType(0), DType::kBool);
}

TEST(MapKernelTest, CostGrowsWithTheStepsAndTheElements) {
  const double narrow = CostOf(OpKernel(*FindOp("add"), DType::kInt8));
  EXPECT_GT(CostOf(OpKernel(*FindOp("add"), DType::kFloat64)), narrow);
  MapKernel longer = OpKernel(*FindOp("add"), DType::kInt8);
  longer.steps.push_back(longer.steps[0]);
  EXPECT_GT(CostOf(longer), narrow);
}

}  // namespace
}  // namespace shoal::kernels
