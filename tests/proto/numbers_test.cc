#include <gtest/gtest.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/dtype.h"
#include "server/plan/call.h"
#include "server/telemetry/throughput.h"
#include "shoal/v1/array.pb.h"
#include "shoal/v1/compute.pb.h"

// Where a number of the contract is cast to one of ours, they are the same.
namespace shoal {
namespace {

TEST(ContractNumbersTest, DTypes) {
  for (const kernels::DType dtype : kernels::kAllDTypes) {
    EXPECT_EQ(v1::Dtype_Name(static_cast<v1::Dtype>(dtype)),
              absl::StrCat("DTYPE_", absl::AsciiStrToUpper(std::string(kernels::Name(dtype)))));
  }
  // And none more, but the one for "absent".
  EXPECT_EQ(v1::Dtype_descriptor()->value_count(),
            static_cast<int>(kernels::kAllDTypes.size()) + 1);
}

TEST(ContractNumbersTest, Routes) {
  EXPECT_EQ(v1::ROUTE_FRONT, static_cast<int>(plan::Route::kFront));
  EXPECT_EQ(v1::ROUTE_WORKER, static_cast<int>(plan::Route::kWorker));
  EXPECT_EQ(v1::ROUTE_DEVICE, static_cast<int>(plan::Route::kDevice));
  EXPECT_EQ(v1::ROUTE_FRONT, static_cast<int>(telemetry::Route::kFront));
  EXPECT_EQ(v1::ROUTE_WORKER, static_cast<int>(telemetry::Route::kWorker));
  EXPECT_EQ(v1::ROUTE_DEVICE, static_cast<int>(telemetry::Route::kDevice));
}

TEST(ContractNumbersTest, Distributions) {
  using plan::DistributionKind;
  EXPECT_EQ(v1::Distribution::KIND_BLOCK, static_cast<int>(DistributionKind::kBlock));
  EXPECT_EQ(v1::Distribution::KIND_REPLICATED, static_cast<int>(DistributionKind::kReplicated));
  EXPECT_EQ(v1::Distribution::KIND_SINGLE, static_cast<int>(DistributionKind::kSingle));
}

}  // namespace
}  // namespace shoal
