#include "bench/collectives/local_ranks.h"

#include <gtest/gtest.h>

#include <memory>

namespace shoal::bench {
namespace {

using collective::Operation;

TEST(LocalRanksTest, EveryOperationInEveryPlaceIsRight) {
  constexpr int kRanks = 3;
  const auto ranks = LocalRanks::Create(kRanks, 1 << 16);
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  for (const Operation operation : AllOperations()) {
    for (const Place place : {Place::kOut, Place::kIn, Place::kView}) {
      if (!Allows(operation, place)) continue;
      for (const auto dtype : {kernels::DType::kFloat32, kernels::DType::kInt64}) {
        for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{1000}}) {
          const CollectiveCase which{operation, place, kRanks, dtype, count};
          (*ranks)->Fill(which);
          const absl::Status status = (*ranks)->Run(which);
          ASSERT_TRUE(status.ok()) << collective::Name(operation) << ": " << status;
          EXPECT_EQ((*ranks)->CountWrong(which), 0)
              << collective::Name(operation) << " " << Name(place) << " " << count;
        }
      }
    }
  }
}

TEST(LocalRanksTest, WhatWasNotReceivedIsWrong) {
  const auto ranks = LocalRanks::Create(2, 1 << 12);
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  const CollectiveCase which{Operation::kBroadcast, Place::kOut, 2, kernels::DType::kFloat64, 100};
  (*ranks)->Fill(which);
  EXPECT_EQ((*ranks)->CountWrong(which), 200);
}

TEST(LocalRanksTest, DotsWhatEachRankHas) {
  const auto ranks = LocalRanks::Create(2, 1 << 16);
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  for (const Operation operation : {Operation::kScatter, Operation::kGather}) {
    const CollectiveCase which{operation, Place::kView, 2, kernels::DType::kFloat64, 1000};
    (*ranks)->Fill(which);
    EXPECT_TRUE((*ranks)->Dot(which).ok());
  }
}

}  // namespace
}  // namespace shoal::bench
