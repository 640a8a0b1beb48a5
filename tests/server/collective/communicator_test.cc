#include "server/collective/communicator.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace shoal::collective {
namespace {

TEST(ReduceOpTest, OnlyComplexNumbersLackAnOrder) {
  for (const kernels::DType dtype : kernels::kAllDTypes) {
    const bool is_complex =
        dtype == kernels::DType::kComplex64 || dtype == kernels::DType::kComplex128;
    EXPECT_TRUE(IsDefined(ReduceOp::kSum, dtype));
    EXPECT_TRUE(IsDefined(ReduceOp::kProduct, dtype));
    EXPECT_EQ(IsDefined(ReduceOp::kMin, dtype), !is_complex);
    EXPECT_EQ(IsDefined(ReduceOp::kMax, dtype), !is_complex);
  }
}

TEST(NameTest, NamesAreDistinct) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Operation::kBarrier); ++i) {
    names.emplace(Name(static_cast<Operation>(i)));
  }
  EXPECT_EQ(names.size(), 10U);
  EXPECT_EQ(Name(ReduceOp::kMin), "min");
}

}  // namespace
}  // namespace shoal::collective
