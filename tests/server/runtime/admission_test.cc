// Calls wait for the workspace of their pieces, or are refused before anything runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/server/runtime/calls.h"
#include "tests/support/details.h"
#include "tests/support/eventually.h"
#include "tests/support/gate.h"

namespace shoal::runtime {
namespace {

using kernels::DType;

constexpr int64_t kRow = 600'000;

/// Two workers with room for half a row, stored, and half a row of workspace; not for two.
class AdmissionTest : public ::testing::Test {
 protected:
  plan::Call Sort(const plan::Destination& destination) {
    plan::Call call = Calls::Make("sort", {{"", plan::StoredRef{{}, "row"}}});
    call.destinations.push_back(destination);
    return call;
  }

  void StoreRow(size_t count = kRow) {
    plan::StoreAs store;
    store.name = "row";
    bytes_ = support::RandomBytes(count, 1);
    calls_.Store(support::Type(DType::kUint8, {static_cast<int64_t>(count)}), bytes_, store);
  }

  std::shared_ptr<CallRun> Start(plan::Call call) {
    CallSetup setup;
    setup.call = std::move(call);
    return CallRun::Start(engine_.get(), std::move(setup),
                          [this](absl::StatusOr<CallResult> result, absl::Span<const TaskId>) {
                            ends_.Put(std::move(result));
                          });
  }

  support::TestEngine engine_{{.worker_bytes = 800'000, .front_bytes = 8 * kMiB}};
  Calls calls_{engine_.get()};
  std::string bytes_;
  support::Inbox<absl::StatusOr<CallResult>> ends_;
};

TEST_F(AdmissionTest, ACallWhoseWorkspaceDoesNotFitNowWaitsForIt) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "one worker sorts a long row there: no runs to merge";
  StoreRow();
  auto halt = std::make_unique<support::Halt>(engine_.get(), WorkerId{1});
  const auto first = Start(Sort(plan::ReturnToCaller{}));
  (*engine_->workers)[WorkerId{0}].stream->Pause([](device::Resume go) { std::move(go)(); });
  ASSERT_TRUE(support::Eventually([&] { return (*engine_->workers)[WorkerId{0}].stream->Idle(); }));
  // The run of the first half is sorted, and stays for the merge.
  EXPECT_EQ((*engine_->workers)[WorkerId{0}].device->MemoryUsed(), kRow);
  const auto second = Start(Sort(plan::ReturnToCaller{}));
  EXPECT_GT(engine_->dispatcher->Counts().waiting, 0);
  EXPECT_EQ(ends_.size(), 0U);
  halt.reset();
  std::string sorted = bytes_;
  std::sort(sorted.begin(), sorted.end(), [](char a, char b) {
    return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
  });
  for (int i = 0; i < 2; ++i) {
    const auto result = ends_.Take();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(Calls::BytesOf(result->outputs[0].data) == sorted);
  }
  engine_.Drain();
  for (const Worker& worker : engine_->workers->all()) {
    EXPECT_EQ(worker.device->MemoryPeak(), kRow);  // Never both at once.
    EXPECT_EQ(worker.stored->used_bytes(), kRow / 2);
  }
}

TEST_F(AdmissionTest, WorkspaceThatCanNeverFitIsRefusedBeforeAnythingRuns) {
  // Echoes through the device, of an array in the request that no worker has room for twice.
  plan::Call call =
      Calls::Make("echo", {calls_.Argument(support::Type(DType::kUint8, {2'000'000}),
                                           std::string(2'000'000, 'q'), Place::kLease)});
  call.route = plan::Route::kDevice;
  call.destinations.push_back(std::get<plan::LeasedBytes>(call.arguments[0].value).place);
  const absl::Status status = calls_.Run(std::move(call)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(support::ReasonOf(status), "OUT_OF_MEMORY");
  for (const Worker& worker : engine_->workers->all()) {
    EXPECT_EQ(worker.device->MemoryPeak(), 0);
    EXPECT_EQ(engine_->dispatcher->WorkerCounts(worker.id).launched, 0U);
  }
}

TEST_F(AdmissionTest, WorkspaceThatStoredArraysKeepOutIsWaitedForAndThenRefused) {
  StoreRow(1'400'000);
  const absl::Status status = calls_.Run(Sort(plan::ReturnToCaller{})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(support::ReasonOf(status), "OUT_OF_MEMORY");
  EXPECT_EQ(support::DetailOf<v1::ErrorInfo>(status)->metadata().at("needed_bytes"),
            support::RunsOnSealedDevices() ? "1400000" : "700000");
  engine_.Drain();
  for (const Worker& worker : engine_->workers->all()) {
    EXPECT_EQ(worker.device->MemoryPeak(), 700'000);
  }
}

TEST_F(AdmissionTest, ACallThatWaitsGoesOnceAnArrayIsFreed) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "one worker sorts a long row there: no runs to merge";
  StoreRow();
  const plan::ArrayType type = support::Type(DType::kUint8, {600'000});
  const plan::StoredRef other{calls_.Store(type, std::string(600'000, 'q'), Place::kBlock), ""};
  const auto run = Start(Sort(plan::ReturnToCaller{}));
  EXPECT_EQ(ends_.size(), 0U);
  EXPECT_TRUE(engine_->catalogue->Free({&other, 1}, false).ok());
  engine_->ReportStored();  // As the service does.
  EXPECT_TRUE(ends_.Take().ok());
}

}  // namespace
}  // namespace shoal::runtime
