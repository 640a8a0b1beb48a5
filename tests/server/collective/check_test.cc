#include "server/collective/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace shoal::collective {
namespace {

using kernels::DType;
using testing::HasSubstr;

Args MakeArgs(absl::Span<const int64_t> counts, int root = 0) {
  Args args;
  args.dtype = DType::kInt16;
  args.counts = counts;
  args.root = root;
  return args;
}

absl::Status JudgeArgs(Operation operation, const Args& args) {
  return CheckArgs({operation, &args, 2});
}

absl::Status JudgeRank(Operation operation, const Args& args, int rank,
                       const RankBuffers& buffers) {
  return CheckRank({operation, &args, 2}, rank, buffers);
}

TEST(LayoutTest, EachOperationSaysWhatARankBrings) {
  const std::vector<int64_t> blocks = {3, 0, 5};
  const Args args = MakeArgs(blocks, 2);
  const auto layout_of = [](Operation operation, const Args& of, int rank) {
    return LayoutOf({operation, &of, 3}, rank);
  };
  const auto expect = [](const RankLayout& seen, const RankLayout& wanted) {
    EXPECT_EQ(seen.uses_send, wanted.uses_send);
    EXPECT_EQ(seen.uses_recv, wanted.uses_recv);
    if (wanted.uses_send) {
      EXPECT_EQ(seen.send_bytes, wanted.send_bytes);
    }
    if (wanted.uses_recv) {
      EXPECT_EQ(seen.recv_bytes, wanted.recv_bytes);
    }
    EXPECT_EQ(seen.in_place_offset, wanted.in_place_offset);
  };
  expect(layout_of(Operation::kScatter, args, 0), {false, true, 0, 6, -1});
  expect(layout_of(Operation::kScatter, args, 2), {true, true, 16, 10, 6});
  expect(layout_of(Operation::kGather, args, 1), {true, false, 0, 0, -1});
  expect(layout_of(Operation::kGather, args, 2), {true, true, 10, 16, 6});
  expect(layout_of(Operation::kAllGather, args, 1), {true, true, 0, 16, 6});
  expect(layout_of(Operation::kReduceScatter, args, 2), {true, true, 16, 10, 6});

  const std::vector<int64_t> one = {4};
  expect(layout_of(Operation::kBroadcast, MakeArgs(one, 1), 1), {true, true, 8, 8, 0});
  expect(layout_of(Operation::kBroadcast, MakeArgs(one, 1), 0), {false, true, 0, 8, -1});
  expect(layout_of(Operation::kReduce, MakeArgs(one, 1), 0), {true, false, 8, 0, -1});
  expect(layout_of(Operation::kAllReduce, MakeArgs(one), 2), {true, true, 8, 8, 0});

  const std::vector<int64_t> square = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  expect(layout_of(Operation::kAllToAll, MakeArgs(square), 1), {true, true, 30, 30, -1});
  expect(layout_of(Operation::kAllToAll, MakeArgs(square), 0), {true, true, 12, 24, -1});
}

TEST(CheckArgsTest, CountsAreJudgedInBytes) {
  const std::vector<int64_t> half = {INT64_MAX / 2, 0};
  EXPECT_TRUE(JudgeArgs(Operation::kScatter, MakeArgs(half)).ok());
  const std::vector<int64_t> over = {INT64_MAX / 2, 1};
  EXPECT_THAT(std::string(JudgeArgs(Operation::kScatter, MakeArgs(over)).message()),
              HasSubstr("2^63"));
}

TEST(CheckRankTest, InPlaceIsOnlyTheRightOffset) {
  const std::vector<int64_t> blocks = {4, 4};
  const Args args = MakeArgs(blocks, 1);
  alignas(2) std::array<std::byte, 64> memory = {};
  const auto check = [&](int64_t recv_offset) {
    RankBuffers buffers;
    buffers.send = {memory.data() + 16, 16};
    buffers.recv = {memory.data() + 16 + recv_offset, 8};
    return JudgeRank(Operation::kScatter, args, 1, buffers);
  };
  EXPECT_TRUE(check(8).ok()) << "its own block";
  EXPECT_TRUE(check(16).ok()) << "just behind";
  EXPECT_TRUE(check(-8).ok()) << "just before";
  for (const int64_t offset : {-7, 0, 1, 7, 9, 15}) {
    EXPECT_THAT(std::string(check(offset).message()), HasSubstr("rank 1: send and recv overlap"))
        << offset;
  }
}

TEST(CheckRankTest, MisalignedReductionsAreRefused) {
  const std::vector<int64_t> one = {2};
  alignas(16) std::array<std::byte, 64> memory = {};
  RankBuffers buffers;
  buffers.send = {memory.data() + 1, 4};
  buffers.recv = {memory.data() + 32, 4};
  EXPECT_THAT(std::string(JudgeRank(Operation::kAllReduce, MakeArgs(one), 0, buffers).message()),
              HasSubstr("aligned to 2 bytes"));
  buffers.send = {memory.data() + 2, 4};
  EXPECT_TRUE(JudgeRank(Operation::kAllReduce, MakeArgs(one), 0, buffers).ok());
  buffers.send = {memory.data() + 1, 4};
  EXPECT_TRUE(JudgeRank(Operation::kBroadcast, MakeArgs(one), 0, buffers).ok());
}

TEST(CheckRankTest, MissingMemoryIsRefused) {
  const std::vector<int64_t> one = {2};
  RankBuffers buffers;
  buffers.send = {nullptr, 4};
  EXPECT_THAT(std::string(JudgeRank(Operation::kReduce, MakeArgs(one), 1, buffers).message()),
              HasSubstr("rank 1: send is null"));
}

}  // namespace
}  // namespace shoal::collective
