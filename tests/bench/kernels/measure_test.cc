#include "bench/kernels/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace shoal::bench {
namespace {

constexpr RoundOptions kBrief = {.repeat = 2, .burst_s = 1e-5, .calls_max = 2};

TEST(CasesTest, HaveNamesOfTheirOwnAndDTypes) {
  std::set<std::string> names;
  for (const KernelCase& which : AllCases()) {
    EXPECT_TRUE(names.insert(which.name).second) << which.name;
    EXPECT_EQ(FindCase(which.name), &which);
    EXPECT_FALSE(which.dtypes.empty()) << which.name;
  }
  EXPECT_EQ(FindCase("no such case"), nullptr);
}

void ExpectRight(KernelMeasuring* measuring, const CasePoint& point) {
  const KernelCase& which = *point.which;
  SCOPED_TRACE(which.name + " " + std::string(kernels::Name(point.dtype)));
  const auto figures = measuring->Measure(point, kBrief, nullptr);
  ASSERT_TRUE(figures.ok()) << figures.status();
  if (!figures->not_built.empty()) {
    EXPECT_TRUE(which.optional);
    return;
  }
  const SubjectFigures& own = figures->subjects.front();
  EXPECT_EQ(own.name, "shoal");
  EXPECT_EQ(own.wrong, 0) << own.ulps.value_or(-1) << " ulps";
  EXPECT_GT(own.call_s, 0);
  EXPECT_GT(own.of_limit.value_or(0), 0);
  EXPECT_GT(figures->first_s, 0);
  EXPECT_GT(figures->again_s, 0);
  EXPECT_EQ(figures->subjects.size(), 1 + LimitsOf(which).size());
  EXPECT_EQ(own.ratio.size(), LimitsOf(which).size());
}

TEST(KernelMeasuringTest, EveryCaseIsRightOnEveryDTypeAndNumberOfThreads) {
  // More than a chunk, so that two threads share it; and one element.
  constexpr int64_t kMany = 200'003;
  const auto measuring = KernelMeasuring::Create(kMany);
  ASSERT_TRUE(measuring.ok()) << measuring.status();
  for (const KernelCase& which : AllCases()) {
    for (const kernels::DType dtype : which.dtypes) {
      ExpectRight(measuring->get(), {&which, dtype, 1, 1});
      ExpectRight(measuring->get(), {&which, dtype, kMany, 1});
      ExpectRight(measuring->get(), {&which, dtype, kMany, 2});
    }
  }
}

TEST(KernelMeasuringTest, AProgramThatIsMissingIsNotBuiltOnlyIfItMayBe) {
  const auto measuring = KernelMeasuring::Create(16);
  ASSERT_TRUE(measuring.ok()) << measuring.status();
  KernelCase which = *FindCase("sqrt");
  which.program = "no_such_function(x)";
  const CasePoint point = {&which, kernels::DType::kFloat32, 16, 1};
  EXPECT_EQ((*measuring)->Measure(point, kBrief, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
  which.optional = true;
  const auto figures = (*measuring)->Measure(point, kBrief, nullptr);
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_NE(figures->not_built.find("no_such_function"), std::string::npos);
  EXPECT_TRUE(figures->subjects.empty());
}

TEST(KernelMeasuringTest, NoticesAWrongResult) {
  const auto measuring = KernelMeasuring::Create(1000);
  ASSERT_TRUE(measuring.ok()) << measuring.status();
  KernelCase which = *FindCase("add");
  which.program = "x - y";
  const auto figures =
      (*measuring)->Measure({&which, kernels::DType::kFloat64, 1000, 1}, kBrief, nullptr);
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_GT(figures->subjects.front().wrong, 900);
}

}  // namespace
}  // namespace shoal::bench
