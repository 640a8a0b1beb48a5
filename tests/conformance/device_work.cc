// Every kind of work, against the kernels on the calling thread.
#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sort.h"
#include "kernels/half.h"
#include "tests/conformance/device_suite.h"
#include "tests/support/one_op.h"

namespace shoal::device {
namespace {

using kernels::DType;

constexpr int64_t kCounts[] = {0, 1, 31, 32, 33, 4095, 4096, 4097, 70'000, 1'100'003};

std::vector<float> Floats(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    value = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-20F;
  }
  return values;
}

/// The same for the same elements in whatever order; far cheaper than sorting them again.
uint64_t BitSum(std::vector<float>::const_iterator begin, std::vector<float>::const_iterator end) {
  return std::accumulate(begin, end, uint64_t{0}, [](uint64_t sum, float value) {
    return sum + std::bit_cast<uint32_t>(value) * uint64_t{0x9E3779B97F4A7C15};
  });
}

support::OneKernel Axpy(const void* x, const void* y, void* output, int64_t count) {
  return support::OneOp({*kernels::FindOp("axpy"), DType::kFloat32}, {x, y}, {output, count},
                        {1.7});
}

MapWork WorkOf(const support::OneKernel& one) { return {&one.kernel, one.args()}; }

TEST_P(DeviceSuite, MapsAreTheKernelsBits) {
  for (const int64_t count : kCounts) {
    const std::vector<float> x = Floats(count, 1);
    const std::vector<float> y = Floats(count, 2);
    std::vector<float> expected(x.size());
    const support::OneKernel axpy = Axpy(x.data(), y.data(), expected.data(), count);
    kernels::cpu::RunMap(axpy.kernel, axpy.args(), {0, count});
    const Buffer dx = Upload(x);
    const Buffer dy = Upload(y);
    const Buffer out = *device().Allocate(dx.bytes());
    const support::OneKernel apart = Axpy(dx.data(), dy.data(), out.data(), count);
    ASSERT_TRUE(Run(WorkOf(apart)).ok());
    ASSERT_TRUE(Download<float>(out) == expected) << count;
    const support::OneKernel in_place = Axpy(dx.data(), dy.data(), dy.data(), count);
    ASSERT_TRUE(Run(WorkOf(in_place)).ok());
    ASSERT_TRUE(Download<float>(dy) == expected) << count << " in place";
  }
}

TEST_P(DeviceSuite, MapsBroadcastOneElement) {
  constexpr int64_t kCount = 300'001;
  const std::vector<float> x = Floats(kCount, 1);
  const Buffer dx = Upload(x);
  const Buffer one = Upload(std::vector<float>{0.25F});
  const Buffer out = *device().Allocate(dx.bytes());
  support::OneKernel add = support::OneOp({*kernels::FindOp("add"), DType::kFloat32},
                                          {dx.data(), one.data()}, {out.data(), kCount});
  add.inputs[1].single = true;
  ASSERT_TRUE(Run(WorkOf(add)).ok());
  const std::vector<float> seen = Download<float>(out);
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], x[i] + 0.25F) << i;
}

TEST_P(DeviceSuite, ReductionsAreTheKernelsPartials) {
  const kernels::OpInfo* const sum = kernels::FindOp("sum");
  for (const int64_t count : kCounts) {
    const std::vector<float> x = Floats(count, 5);
    const Buffer dx = Upload(x);
    for (const int64_t first_index : {int64_t{0}, int64_t{1}, int64_t{4096}, int64_t{1'000'003}}) {
      kernels::ReduceArgs args;
      args.dtype = DType::kFloat32;
      args.inputs = {x.data(), nullptr};
      args.first_index = first_index;
      args.count = count;
      const kernels::ReducePartial expected = kernels::cpu::ReduceRange(*sum, args);
      support::OneKernel pass;
      pass.kernel = kernels::IdentityKernel(DType::kFloat32);
      pass.inputs = {{.data = dx.data(), .axes = {}, .single = false}};
      pass.first_index = first_index;
      pass.count = count;
      kernels::ReducePartial seen;
      ASSERT_TRUE(Run(ReduceWork{sum, &pass.kernel, pass.args(), &seen}).ok());
      ASSERT_TRUE(seen == expected) << count << " from " << first_index;
    }
  }
}

TEST_P(DeviceSuite, RowsAreSorted) {
  for (const auto& [rows, elements] : std::vector<std::pair<int64_t, int64_t>>{{0, 5},
                                                                               {5, 0},
                                                                               {1, 1},
                                                                               {3, 33},
                                                                               {200, 1000},
                                                                               {1, 300'001},
                                                                               {3, 200'000},
                                                                               {1, 9'000'000}}) {
    const std::vector<float> values = Floats(rows * elements, 9);
    const Buffer buffer = Upload(values);
    SortWork work = {.op = kernels::FindOp("sort"), .args = {}};
    work.args = {DType::kFloat32, buffer.data(), rows, elements};
    const int64_t used = device().MemoryUsed();
    ASSERT_TRUE(Run(work).ok());
    const std::vector<float> seen = Download<float>(buffer);
    for (int64_t row = 0; row < rows; ++row) {
      const auto begin = seen.begin() + row * elements;
      ASSERT_TRUE(std::is_sorted(begin, begin + elements)) << rows << " x " << elements;
      ASSERT_EQ(BitSum(begin, begin + elements),
                BitSum(values.begin() + row * elements, values.begin() + (row + 1) * elements));
    }
    ASSERT_EQ(device().MemoryUsed(), used);
  }
}

TEST_P(DeviceSuite, ARowIsSortedWithoutMemoryToSpare) {
  std::vector<float> values = Floats(1'000'000, 9);
  const Buffer buffer = Upload(values);
  const Buffer rest = *device().Allocate(kSuiteMemoryBytes - buffer.bytes());
  SortWork work = {.op = kernels::FindOp("sort"), .args = {}};
  work.args = {DType::kFloat32, buffer.data(), 1, 1'000'000};
  ASSERT_TRUE(Run(work).ok());
  std::sort(values.begin(), values.end());
  EXPECT_TRUE(Download<float>(buffer) == values);
}

TEST_P(DeviceSuite, RunsAreMergedByRank) {
  std::vector<std::vector<int32_t>> runs;
  std::vector<int32_t> all;
  for (const int64_t count : {100'000, 0, 1, 77'777}) {
    std::vector<int32_t> run;
    for (const float value : Floats(count, static_cast<uint32_t>(count))) {
      run.push_back(static_cast<int32_t>(value));
    }
    std::sort(run.begin(), run.end());
    all.insert(all.end(), run.begin(), run.end());
    runs.push_back(run);
  }
  std::sort(all.begin(), all.end());
  std::vector<Buffer> buffers;
  MergeWork work;
  work.op = kernels::FindOp("sort");
  work.dtype = DType::kInt32;
  for (const std::vector<int32_t>& run : runs) {
    buffers.push_back(Upload(run));
    work.runs.emplace_back(buffers.back().span());
  }
  for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 177'778}, {0, 0}, {50'000, 100'000}, {177'777, 1}}) {
    const Buffer out = *device().Allocate(count * 4);
    work.first_rank = first;
    work.output = out.span();
    ASSERT_TRUE(Run(work).ok());
    const std::vector<int32_t> expected(all.begin() + first, all.begin() + first + count);
    ASSERT_TRUE(Download<int32_t>(out) == expected) << first << " " << count;
  }
}

TEST_P(DeviceSuite, WorkOfDtypesNotBuiltIsRefusedAndWritesNothing) {
  const std::vector<float> values = Floats(64, 1);
  const Buffer buffer = Upload(values);
  SortWork sort = {.op = kernels::FindOp("sort"), .args = {}};
  sort.args = {DType::kComplex64, buffer.data(), 1, 32};
  EXPECT_EQ(Run(sort).code(), absl::StatusCode::kUnimplemented);
  MergeWork merge;
  merge.op = kernels::FindOp("sort");
  merge.dtype = DType::kComplex128;
  merge.output = buffer.span();
  EXPECT_EQ(Run(merge).code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(Download<float>(buffer) == values);
}

TEST_P(DeviceSuite, WorkCancelledInTheQueueWritesNothing) {
  const std::vector<float> values = Floats(1'000'000, 1);
  const Buffer buffer = Upload(values);
  const support::OneKernel axpy = Axpy(buffer.data(), buffer.data(), buffer.data(), 1'000'000);
  std::atomic<bool> cancelled = false;
  Resume resume;
  DoneFuture reached;
  DoneFuture launched;
  DoneFuture next;
  stream().Pause([&](Resume given) {
    resume = std::move(given);
    reached.MakeDone()(absl::OkStatus());
  });
  stream().Launch(WorkOf(axpy), &cancelled, launched.MakeDone());
  stream().Copy(buffer.span(), buffer.span(), next.MakeDone());
  ASSERT_TRUE(reached.Wait().ok());
  cancelled = true;
  std::move(resume)();
  EXPECT_EQ(launched.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(next.Wait().ok()) << "what is behind it runs all the same";
  EXPECT_TRUE(Download<float>(buffer) == values);
}

TEST_P(DeviceSuite, RaisingTheFlagStopsWhatRunsAndWhatFollows) {
  constexpr int kLaunches = 50;
  constexpr int64_t kCount = 8'000'000;
  const Buffer buffer = Upload(Floats(kCount, 1));
  const support::OneKernel axpy = Axpy(buffer.data(), buffer.data(), buffer.data(), kCount);
  std::atomic<bool> cancelled = false;
  std::vector<absl::StatusCode> codes;
  DoneFuture last;
  for (int i = 0; i < kLaunches; ++i) {
    stream().Launch(WorkOf(axpy), &cancelled,
                    [&](const absl::Status& status) { codes.push_back(status.code()); });
  }
  stream().Copy({}, {}, last.MakeDone());
  const bool ran_inline = last.IsReady();
  cancelled = true;
  ASSERT_TRUE(last.Wait().ok());
  ASSERT_EQ(codes.size(), static_cast<size_t>(kLaunches));
  EXPECT_EQ(codes.back(), ran_inline ? absl::StatusCode::kOk : absl::StatusCode::kCancelled);
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end(), [](auto a, auto b) {
    return a == absl::StatusCode::kOk && b == absl::StatusCode::kCancelled;
  }));
}

TEST_P(DeviceSuite, WorkThatIsNotCancelledEndsWell) {
  const Buffer buffer = Upload(Floats(1000, 1));
  const support::OneKernel axpy = Axpy(buffer.data(), buffer.data(), buffer.data(), 1000);
  const std::atomic<bool> cancelled = false;
  EXPECT_TRUE(Run(WorkOf(axpy), &cancelled).ok());
}

}  // namespace
}  // namespace shoal::device
