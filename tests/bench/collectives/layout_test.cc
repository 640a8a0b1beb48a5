#include "bench/collectives/layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace shoal::bench {
namespace {

using collective::Operation;

CollectiveCase Case(Operation operation, Place place, int ranks = 3) {
  return {operation, place, ranks, kernels::DType::kFloat32, 10};
}

int64_t MovedBytes(const CollectiveCase& which) {
  int64_t elements = 0;
  for (const Move& move : MovesOf(which)) elements += move.to.count;
  return elements * kernels::ItemBytes(which.dtype);
}

TEST(BusFactorTest, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor(Case(Operation::kAllReduce, Place::kOut, 4)), 2 * 3.0 / 4);
  EXPECT_DOUBLE_EQ(BusFactor(Case(Operation::kScatter, Place::kOut, 4)), 3.0 / 4);
  EXPECT_DOUBLE_EQ(BusFactor(Case(Operation::kAllToAll, Place::kOut, 2)), 1.0 / 2);
  EXPECT_DOUBLE_EQ(BusFactor(Case(Operation::kBroadcast, Place::kOut, 8)), 1);
}

TEST(TotalBytesTest, CountsAllBlocksOrOneBuffer) {
  EXPECT_EQ(TotalBytes(Case(Operation::kScatter, Place::kOut)), 120);
  EXPECT_EQ(TotalBytes(Case(Operation::kBroadcast, Place::kOut)), 40);
  EXPECT_EQ(TotalBytes(Case(Operation::kBarrier, Place::kOut)), 0);
}

TEST(MovesOfTest, AreWhatTheOperationCannotDoWithout) {
  EXPECT_EQ(MovedBytes(Case(Operation::kScatter, Place::kOut)), 120);
  EXPECT_EQ(MovedBytes(Case(Operation::kScatter, Place::kIn)), 80) << "the root keeps its block";
  EXPECT_EQ(MovedBytes(Case(Operation::kScatter, Place::kView)), 0);
  EXPECT_EQ(MovedBytes(Case(Operation::kGather, Place::kOut)), 120);
  EXPECT_EQ(MovedBytes(Case(Operation::kGather, Place::kIn)), 80);
  EXPECT_EQ(MovedBytes(Case(Operation::kGather, Place::kView)), 0);
  EXPECT_EQ(MovedBytes(Case(Operation::kBroadcast, Place::kOut)), 120);
  EXPECT_EQ(MovedBytes(Case(Operation::kBroadcast, Place::kIn)), 80);
  EXPECT_EQ(MovedBytes(Case(Operation::kAllGather, Place::kOut)), 360);
  EXPECT_EQ(MovedBytes(Case(Operation::kAllGather, Place::kIn)), 240);
  EXPECT_EQ(MovedBytes(Case(Operation::kAllToAll, Place::kOut)), 360);
  EXPECT_EQ(MovedBytes(Case(Operation::kSendRecv, Place::kOut)), 120);
  EXPECT_EQ(MovedBytes(Case(Operation::kReduce, Place::kOut)), 0) << "values are combined";
}

// The moves alone must bring every value to where ExpectedValue wants it.
TEST(MovesOfTest, BringEveryExpectedValueToItsPlace) {
  for (const Operation operation : AllOperations()) {
    for (const Place place : {Place::kOut, Place::kIn, Place::kView}) {
      const CollectiveCase which = Case(operation, place);
      if (!Allows(operation, place) || Reduces(operation)) continue;
      std::map<std::tuple<int, int, int64_t>, int> memory;
      const Sides sides = SidesOf(which);
      for (const Range& send : sides.send) {
        const int rank = static_cast<int>(&send - sides.send.data());
        for (int64_t i = 0; i < send.count; ++i) {
          memory[{send.rank, send.region, send.begin + i}] = SentValue(rank, i);
        }
      }
      for (const Move& move : MovesOf(which)) {
        for (int64_t i = 0; i < move.to.count; ++i) {
          memory[{move.to.rank, move.to.region, move.to.begin + i}] =
              memory.at({move.from.rank, move.from.region, move.from.begin + i});
        }
      }
      for (int rank = 0; rank < which.ranks; ++rank) {
        const Range& recv = sides.recv[static_cast<size_t>(rank)];
        for (int64_t i = 0; i < recv.count; ++i) {
          EXPECT_EQ(memory.at({recv.rank, recv.region, recv.begin + i}),
                    ExpectedValue(which, rank, i))
              << collective::Name(operation) << " " << Name(place) << " rank " << rank;
        }
      }
    }
  }
}

TEST(SentValueTest, DiffersAcrossRanksAndElements) {
  std::set<int> values;
  int same = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    values.insert(SentValue(0, i));
    same += SentValue(0, i) == SentValue(1, i) ? 1 : 0;
  }
  EXPECT_EQ(values.size(), 16U);
  EXPECT_LT(same, 200);
}

}  // namespace
}  // namespace shoal::bench
