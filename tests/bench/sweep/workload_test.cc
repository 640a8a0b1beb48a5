#include "bench/sweep/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace shoal::bench {
namespace {

using kernels::DType;
using Buffer = std::vector<std::byte>;

Buffer FilledBy(const Workload& workload, uint64_t number) {
  Buffer buffer(static_cast<size_t>(workload.bytes()));
  workload.Fill(number, absl::MakeSpan(buffer));
  return buffer;
}

template <typename T>
std::vector<T> NumbersOf(const Buffer& buffer) {
  std::vector<T> numbers(buffer.size() / sizeof(T));
  std::memcpy(numbers.data(), buffer.data(), buffer.size());
  return numbers;
}

template <typename T>
Buffer BytesOf(const std::vector<T>& numbers) {
  Buffer buffer(numbers.size() * sizeof(T));
  std::memcpy(buffer.data(), numbers.data(), buffer.size());
  return buffer;
}

TEST(FillRandomTest, ChangesWithTheStateAndFillsEveryByte) {
  for (const size_t size : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{1000}}) {
    Buffer first(size);
    Buffer again(size);
    Buffer other(size);
    FillRandom(1, absl::MakeSpan(first));
    FillRandom(1, absl::MakeSpan(again));
    FillRandom(2, absl::MakeSpan(other));
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
  }
  // A byte that was left out would be 0 in each of 40 fills: once in 10^96 by chance.
  Buffer seen(19);
  for (uint64_t state = 0; state < 40; ++state) {
    Buffer filled(seen.size());
    FillRandom(state, absl::MakeSpan(filled));
    for (size_t i = 0; i < seen.size(); ++i) seen[i] |= filled[i];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{0}), 0);
}

TEST(WorkloadTest, RoundsUpToWholeElements) {
  const auto workload = Workload::Create({.op = Op::kPut, .dtype = DType::kComplex128, .bytes = 9});
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(workload->bytes(), 16);
  EXPECT_EQ(workload->request_bytes(), 16);
  EXPECT_EQ(workload->reply_bytes(), 16);
}

TEST(WorkloadTest, CountsEveryWrongByteOfAnEcho) {
  const auto workload = Workload::Create({.op = Op::kEcho, .bytes = 1000});
  const Buffer request = FilledBy(*workload, 1);
  Buffer reply = request;
  EXPECT_EQ(workload->CountWrong({request}, reply), 0);
  reply[0] ^= std::byte{1};
  reply[500] ^= std::byte{128};
  reply[999] ^= std::byte{255};
  EXPECT_EQ(workload->CountWrong({request}, reply), 3);
}

TEST(WorkloadTest, BooleansAreZeroOrOne) {
  const auto workload = Workload::Create({.op = Op::kPut, .dtype = DType::kBool, .bytes = 256});
  for (const std::byte value : FilledBy(*workload, 1)) EXPECT_LE(value, std::byte{1});
}

TEST(WorkloadTest, KnowsSumsExactly) {
  const auto workload = Workload::Create(
      {.op = Op::kApply, .function = "sum", .dtype = DType::kFloat32, .bytes = 4 << 20});
  ASSERT_TRUE(workload.ok());
  const Buffer request = FilledBy(*workload, 7);
  EXPECT_EQ(workload->reply_bytes(), 4);
  // Forwards and backwards give the same bits: that is what the small integers are for.
  std::vector<float> numbers = NumbersOf<float>(request);
  float forwards = 0;
  for (const float number : numbers) forwards += number;
  std::reverse(numbers.begin(), numbers.end());
  float backwards = 0;
  for (const float number : numbers) backwards += number;
  EXPECT_EQ(workload->CountWrong({request}, BytesOf<float>({forwards})), 0);
  EXPECT_EQ(workload->CountWrong({request}, BytesOf<float>({backwards})), 0);
  EXPECT_EQ(workload->CountWrong({request}, BytesOf<float>({forwards + 1})), 1);
}

TEST(WorkloadTest, WidensSumsOfIntegers) {
  const auto workload =
      Workload::Create({.op = Op::kApply, .function = "sum", .dtype = DType::kInt32, .bytes = 64});
  EXPECT_EQ(workload->reply_bytes(), 8);
  const Buffer request = FilledBy(*workload, 3);
  int64_t sum = 0;
  for (const int32_t number : NumbersOf<int32_t>(request)) sum += number;
  EXPECT_EQ(workload->CountWrong({request}, BytesOf<int64_t>({sum})), 0);
}

TEST(WorkloadTest, KnowsElementwiseResults) {
  const auto workload = Workload::Create(
      {.op = Op::kApply, .function = "axpy", .dtype = DType::kFloat64, .bytes = 800});
  EXPECT_EQ(workload->argument_count(), 2);
  EXPECT_EQ(workload->request_bytes(), 1600);
  const Buffer x = FilledBy(*workload, 1);
  const Buffer y = FilledBy(*workload, 2);
  std::vector<double> result = NumbersOf<double>(x);
  const std::vector<double> others = NumbersOf<double>(y);
  for (size_t i = 0; i < result.size(); ++i) result[i] = 2 * result[i] + others[i];
  EXPECT_EQ(workload->CountWrong({x, y}, BytesOf(result)), 0);
  result[42] += 1;
  EXPECT_EQ(workload->CountWrong({x, y}, BytesOf(result)), 1);
}

TEST(WorkloadTest, KnowsWhatSortedMeans) {
  const auto workload = Workload::Create(
      {.op = Op::kApply, .function = "sort", .dtype = DType::kInt64, .bytes = 800});
  const Buffer request = FilledBy(*workload, 1);
  std::vector<int64_t> sorted = NumbersOf<int64_t>(request);
  EXPECT_GT(workload->CountWrong({request}, request), 0) << "random numbers are not sorted";
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(workload->CountWrong({request}, BytesOf(sorted)), 0);
}

TEST(WorkloadTest, AMoverReturnsTheBeginningOfItsRequest) {
  const auto workload = Workload::Create(
      {.op = Op::kApply, .function = "sum", .dtype = DType::kFloat64, .bytes = 800});
  const Buffer request = FilledBy(*workload, 1);
  Buffer reply(request.begin(), request.begin() + 8);
  EXPECT_EQ(workload->CountWrongMoved({request}, reply), 0);
  reply[3] ^= std::byte{4};
  EXPECT_EQ(workload->CountWrongMoved({request}, reply), 1);
}

TEST(WorkloadTest, RefusesWhatItCannotCheck) {
  for (const WorkloadOptions& options :
       {WorkloadOptions{.op = Op::kApply, .function = "fft", .dtype = DType::kFloat32},
        WorkloadOptions{.op = Op::kApply, .function = "sum", .dtype = DType::kFloat16}}) {
    EXPECT_EQ(Workload::Create(options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shoal::bench
