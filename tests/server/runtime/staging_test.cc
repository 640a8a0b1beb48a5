#include "server/runtime/staging.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"
#include "tests/support/arrays.h"
#include "tests/support/bytes.h"
#include "tests/support/inbox.h"
#include "tests/support/sealed_device.h"

namespace shoal::runtime {
namespace {

using kernels::DType;
using plan::DistributionKind;

/// Workers 0 and 1 have memory that the host cannot touch, 2 and 3 the host's.
class StagingTest : public ::testing::Test {
 protected:
  StagingTest() : workers_(MakeWorkers(arena_.get())) {}

  static Workers MakeWorkers(memory::Arena* arena) {
    std::vector<Worker> workers;
    for (int i = 0; i < 4; ++i) {
      Worker& worker = workers.emplace_back();
      worker.id = WorkerId{i};
      device::CpuDeviceOptions options;
      options.memory_bytes = kMiB;
      if (i < 2) {
        worker.device = std::make_unique<support::SealedDevice>(arena, options);
      } else {
        worker.device = std::make_unique<device::CpuDevice>(arena, options);
      }
      worker.stream = *worker.device->NewStream();
    }
    return Workers(std::move(workers));
  }

  Operand Make(int64_t count, std::vector<WorkerId> workers) {
    auto array = *workers_.NewArray(support::Type(DType::kUint8, {count}),
                                    {DistributionKind::kBlock, std::move(workers)});
    const StoredArray& held = *array;
    return ArrayOperand(held, std::move(array));
  }

  Operand Host(std::string* bytes) {
    return HostOperand(support::Type(DType::kUint8, {static_cast<int64_t>(bytes->size())}),
                       reinterpret_cast<std::byte*>(bytes->data()), nullptr);
  }

  device::Done Tell() {
    return [this](const absl::Status& status) { ends_.Put(status); };
  }

  std::unique_ptr<memory::Arena> arena_ = *memory::Arena::Create({"arena", 64 * kMiB, true});
  Workers workers_;
  support::Inbox<absl::Status> ends_;
};

TEST_F(StagingTest, WorkersKnowTheWayToTheirMemory) {
  EXPECT_FALSE(workers_.host_addressable());
  EXPECT_EQ(workers_[WorkerId{0}].way, workers_[WorkerId{0}].stream.get());
  EXPECT_EQ(workers_[WorkerId{2}].way, nullptr);
  EXPECT_FALSE(Make(9, {WorkerId{2}, WorkerId{0}}).host_addressable());
  EXPECT_TRUE(Make(9, {WorkerId{2}, WorkerId{3}}).host_addressable());
}

TEST_F(StagingTest, AnyBytesGoInAndComeOut) {
  const Operand array = Make(100, workers_.ids());
  const std::string sent = support::RandomBytes(100, 1);
  support::WriteBytes(std::string(100, '\0'), array);
  const wire::Pieces pieces = {support::View(sent).subspan(0, 7),
                               support::View(sent).subspan(7, 60)};
  StageIn(pieces, array, {20, 87}, Tell());
  EXPECT_TRUE(ends_.Take().ok());
  const std::string wanted = std::string(20, '\0') + sent.substr(0, 67) + std::string(13, '\0');
  EXPECT_EQ(support::ReadBytes(array), wanted);
  std::string part(30, '\0');
  StageOut(array, {40, 70}, reinterpret_cast<std::byte*>(part.data()), Tell());
  EXPECT_TRUE(ends_.Take().ok());
  EXPECT_EQ(part, wanted.substr(40, 30));
}

TEST_F(StagingTest, WhatTheWorkerReachesInOnePieceIsUsedWhereItLies) {
  std::string host(10, 'h');
  const Operand in_front = Host(&host);
  const Operand sealed = Make(10, {WorkerId{0}});
  const Operand neighbour = Make(10, {WorkerId{3}});
  PieceMemory memory;
  EXPECT_EQ(*memory.Read(workers_[WorkerId{2}], in_front, {0, 10}), in_front.extents[0].data);
  EXPECT_EQ(*memory.Write(workers_[WorkerId{2}], neighbour, {2, 5}), neighbour.extents[0].data + 2);
  EXPECT_EQ(*memory.Write(workers_[WorkerId{0}], sealed, {0, 10}), sealed.extents[0].data);
  EXPECT_EQ(LocateFor(workers_[WorkerId{0}], in_front, {0, 10}), nullptr);
  EXPECT_EQ(LocateFor(workers_[WorkerId{1}], sealed, {0, 10}), nullptr);
  EXPECT_EQ(LocateFor(workers_[WorkerId{2}], sealed, {0, 10}), nullptr);
  EXPECT_EQ(workers_[WorkerId{0}].device->MemoryUsed(), 10);  // No workspace.
  EXPECT_EQ(workers_[WorkerId{2}].device->MemoryUsed(), 0);
}

TEST_F(StagingTest, AnyWorkerComputesOnAnyMemory) {
  const std::string bytes = support::RandomBytes(64, 2);
  for (const WorkerId id : workers_.ids()) {
    Worker& worker = workers_[id];
    std::string host_in = bytes;
    std::string host_out(64, '\0');
    const Operand inputs[] = {Host(&host_in), Make(64, workers_.ids()), Make(64, {id})};
    const Operand outputs[] = {Host(&host_out), Make(64, {WorkerId{3}, WorkerId{1}}),
                               Make(64, {WorkerId{0}})};
    for (const Operand& input : inputs) {
      for (const Operand& output : outputs) {
        support::WriteBytes(bytes, input);
        support::WriteBytes(std::string(64, '\0'), output);
        PieceMemory memory;
        const std::byte* from = *memory.Read(worker, input, {4, 54});
        const device::PassThrough pass(DType::kUint8, from, *memory.Write(worker, output, {4, 54}));
        memory.Run(worker, pass.Work(50), nullptr, Tell());
        ASSERT_TRUE(ends_.Take().ok());
        EXPECT_EQ(support::ReadBytes(output),
                  std::string(4, '\0') + bytes.substr(4, 50) + std::string(10, '\0'));
      }
    }
  }
}

TEST_F(StagingTest, ARefusedWorkspaceQueuesNothing) {
  std::string host(2 * kMiB, 'h');
  PieceMemory memory;
  const auto read = memory.Read(workers_[WorkerId{0}], Host(&host), {0, 2 * kMiB});
  EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(workers_[WorkerId{0}].stream->Idle());
}

TEST_F(StagingTest, AJoinTellsTheFirstErrorOnceAllHaveEnded) {
  const auto join = std::make_shared<Join>(Tell());
  device::Done first = join->Part();
  device::Done second = join->Part();
  device::Done third = join->Part();
  join->Seal();
  std::move(second)(absl::AbortedError("second"));
  std::move(third)(absl::InternalError("third"));
  EXPECT_EQ(ends_.size(), 0U);
  std::move(first)(absl::OkStatus());
  EXPECT_EQ(ends_.Take().code(), absl::StatusCode::kAborted);
}

using StagingDeathTest = StagingTest;

TEST_F(StagingDeathTest, TheHostCannotTouchASealedDevice) {
  const Operand sealed = Make(1, {WorkerId{0}});
  EXPECT_DEATH(*sealed.extents[0].data = std::byte{1}, "");
  EXPECT_DEATH(sealed.Gather({0, 1}, nullptr), "way == nullptr");
}

}  // namespace
}  // namespace shoal::runtime
