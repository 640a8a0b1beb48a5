#include "server/runtime/operand.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/support/arrays.h"
#include "tests/support/bytes.h"
#include "tests/support/engine.h"

namespace shoal::runtime {
namespace {

using kernels::DType;

/// An array of `count` bytes 0, 1, 2, ... over three workers.
class OperandTest : public ::testing::Test {
 protected:
  std::shared_ptr<StoredArray> Make(int64_t count, plan::DistributionKind kind) {
    plan::Distribution distribution{kind, engine_->workers->ids()};
    if (kind == plan::DistributionKind::kSingle) distribution.workers = {WorkerId{2}};
    auto array = *engine_->workers->NewArray(support::Type(DType::kUint8, {count}), distribution);
    for (const Shard& shard : array->shards) {
      std::string bytes(static_cast<size_t>(shard.elements.size()), '\0');
      std::iota(bytes.begin(), bytes.end(), static_cast<char>(shard.elements.begin));
      support::WriteBytes(bytes, support::ShardOperand(*array, shard));
    }
    return array;
  }

  support::TestEngine engine_{{.workers = 3}};
};

TEST_F(OperandTest, LocatesWhatLiesInOnePieceAndGathersTheRest) {
  if (support::RunsOnSealedDevices()) GTEST_SKIP() << "Gather is for memory that the host can read";
  for (const int64_t count : {0, 1, 2, 3, 8}) {
    for (const auto kind : {plan::DistributionKind::kBlock, plan::DistributionKind::kReplicated,
                            plan::DistributionKind::kSingle}) {
      const auto array = Make(count, kind);
      const Operand operand = ArrayOperand(*array, array);
      EXPECT_EQ(operand.bytes(), count);
      for (int64_t begin = 0; begin < count; ++begin) {
        for (int64_t end = begin + 1; end <= count; ++end) {
          std::string gathered(static_cast<size_t>(end - begin), '\xff');
          operand.Gather({begin, end}, reinterpret_cast<std::byte*>(gathered.data()));
          std::string wanted(gathered.size(), '\0');
          std::iota(wanted.begin(), wanted.end(), static_cast<char>(begin));
          EXPECT_EQ(gathered, wanted);
          const std::byte* place = operand.Locate({begin, end});
          bool within = false;
          for (const Extent& extent : operand.extents) {
            within |= extent.elements.begin <= begin && end <= extent.elements.end;
          }
          EXPECT_EQ(place != nullptr, within);
          if (place != nullptr) {
            EXPECT_EQ(std::string(reinterpret_cast<const char*>(place), wanted.size()), wanted);
          }
        }
      }
    }
  }
}

TEST_F(OperandTest, ReplicasLieOnTheirOwnWorkers) {
  const auto array = Make(5, plan::DistributionKind::kReplicated);
  for (size_t rank = 0; rank < 3; ++rank) {
    const Operand replica = ReplicaOperand(*array, rank, array);
    ASSERT_EQ(replica.extents.size(), 1U);
    EXPECT_EQ(replica.extents[0].worker, WorkerId{static_cast<int32_t>(rank)});
    EXPECT_EQ(replica.extents[0].data, array->shards[rank].buffer.data());
  }
}

TEST_F(OperandTest, KeepsItsMemoryAlive) {
  auto array = Make(9, plan::DistributionKind::kBlock);
  const StoredArray& held = *array;
  auto operand = std::make_unique<Operand>(ArrayOperand(held, std::move(array)));
  EXPECT_EQ(engine_.BytesInUse(), 9);
  operand.reset();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST(HostOperandTest, IsOnePieceOfNoWorker) {
  std::byte memory[24];
  const Operand operand = HostOperand(support::Type(DType::kFloat32, {2, 3}), memory, nullptr);
  EXPECT_EQ(operand.bytes(), 24);
  EXPECT_EQ(operand.Locate({2, 6}), memory + 8);
  EXPECT_EQ(operand.Locate({2, 7}), nullptr);
  EXPECT_EQ(operand.extents[0].worker, kNoWorker);
}

}  // namespace
}  // namespace shoal::runtime
