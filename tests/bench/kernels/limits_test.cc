#include "bench/kernels/limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench/subject.h"

namespace shoal::bench {
namespace {

constexpr std::byte kUntouched{0x5A};

TEST(RunLimitTest, WritesEveryByteOfTheOutputAndNoOther) {
  threads::Team team(1);
  for (const int64_t count : {int64_t{1}, int64_t{1000}, int64_t{300'001}}) {
    const auto input = NewHeapMemory(8 * count);
    const auto output = NewHeapMemory(8 * count + 64);
    ASSERT_TRUE(input.ok() && output.ok());
    // As many bytes of output as of input, fewer, and more.
    for (const auto& [read, written] :
         std::vector<std::pair<int64_t, int64_t>>{{4, 4}, {8, 4}, {4, 1}, {8, 1}, {4, 8}}) {
      for (const Limit limit : {Limit::kStream, Limit::kStreamNt}) {
        Traffic traffic;
        traffic.inputs = 2;
        traffic.input = {(*input)->bytes().data(), (*input)->bytes().data()};
        traffic.input_item_bytes = read;
        traffic.output = (*output)->bytes().data();
        traffic.output_item_bytes = written;
        traffic.count = count;
        const Bytes all = (*output)->bytes();
        std::fill(all.begin(), all.end(), kUntouched);
        RunLimit(limit, traffic, team);
        const auto end = all.begin() + count * written;
        EXPECT_EQ(std::count(all.begin(), end, kUntouched), 0) << NameOf(limit) << " " << count;
        EXPECT_EQ(std::count(end, all.end(), kUntouched), all.end() - end) << NameOf(limit);
        EXPECT_EQ(traffic.Bytes(), count * (2 * read + written));
      }
    }
  }
}

TEST(RunLimitTest, CopiesCopyAndReadsOnlyRead) {
  threads::Team team(0);
  std::vector<std::byte> input(100'000);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> output(input.size(), kUntouched);
  Traffic traffic;
  traffic.input = {input.data(), nullptr};
  traffic.count = static_cast<int64_t>(input.size()) / 4;
  RunLimit(Limit::kRead, traffic, team);
  EXPECT_EQ(traffic.Bytes(), 100'000);
  traffic.output = output.data();
  traffic.output_item_bytes = 4;
  RunLimit(Limit::kCopy, traffic, team);
  EXPECT_EQ(output, input);
}

}  // namespace
}  // namespace shoal::bench
