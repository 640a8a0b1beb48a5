// What a session may hold: results that nobody reads, arguments of tasks that wait.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "tests/server/service/session_fixture.h"
#include "tests/support/arrays.h"
#include "tests/support/eventually.h"
#include "tests/support/gate.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::Gate;

TEST_F(SessionTest, TasksWaitForRoomForTheirResults) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "what is fetched is counted beside its result";
  constexpr int64_t kSmall = 200'000;
  engine_->limits.session_tasks = 1000;
  const auto array =
      *engine_->catalogue->Create(support::Type(kernels::DType::kUint8, {kSmall}), plan::StoreAs{});
  ASSERT_TRUE(engine_->catalogue->Publish(array).ok());
  for (const bool ordered : {false, true}) {
    order_.clear();
    Open();
    v1::SessionRequest request;
    request.mutable_open()->set_ordered(ordered);
    for (uint64_t id = 1; id <= 500; ++id) {
      v1::SessionTask* task = AddEmpty(id, &request);
      task->mutable_call()->set_route(v1::ROUTE_FRONT);  // Done at once.
      task->mutable_call()->add_arguments()->mutable_ref()->set_id(array->id.value);
    }
    request.add_cancel(1);
    Send(request);
    // 500 results would be 100 MB. What is counted is what there is, and it is bounded.
    const int64_t held = engine_->front_budget->used_bytes();
    EXPECT_GE(held, 4 * kMiB);
    EXPECT_LE(held, 4 * kMiB + 2 * kSmall);
    EXPECT_FALSE(stream_->IsReading());
    Await(500);
    EXPECT_TRUE(stream_->IsReading());
    EXPECT_TRUE(Close().ok());
    EXPECT_EQ(engine_->front_budget->used_bytes(), 0);
    for (const uint64_t id : order_) EXPECT_EQ(codes_[id].back(), StatusCode::kOk);
  }
}

TEST_F(SessionTest, AnOrderedSessionCountsWhatWaitsForTheFirstResult) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "what is fetched is counted beside its result";
  constexpr int64_t kSmall = 200'000;
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  const auto array =
      *engine_->catalogue->Create(support::Type(kernels::DType::kUint8, {kSmall}), plan::StoreAs{});
  ASSERT_TRUE(engine_->catalogue->Publish(array).ok());
  v1::SessionRequest request;
  request.mutable_open()->set_ordered(true);
  AddEmpty(1, &request);  // Waits for the gate.
  std::vector<uint64_t> wanted{1};
  for (uint64_t id = 2; id <= 90; ++id) {
    v1::SessionTask* task = AddEmpty(id, &request);
    task->mutable_call()->set_route(v1::ROUTE_FRONT);
    task->mutable_call()->add_arguments()->mutable_ref()->set_id(array->id.value);
    wanted.push_back(id);
  }
  Send(request);
  EXPECT_GE(engine_->front_budget->used_bytes(), 4 * kMiB);
  EXPECT_LE(engine_->front_budget->used_bytes(), 4 * kMiB + 2 * kSmall);
  gate.reset();
  Await(90);
  EXPECT_EQ(order_, wanted);
  EXPECT_TRUE(Close().ok());
}

TEST_F(SessionTest, CreditsOfAnOrderedSessionComeBackWithTheResults) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  request.mutable_open()->set_ordered(true);
  AddEmpty(1, &request);
  for (uint64_t id = 2; id <= kTasksMax; ++id) {
    AddEmpty(id, &request)->mutable_call()->set_op("no such op");  // Ended, and behind the first.
  }
  AddEmpty(kTasksMax + 1, &request);
  Send(request);
  gate.reset();
  Await(kTasksMax + 1);
  EXPECT_EQ(CodeOf(2), StatusCode::kUnimplemented);
  EXPECT_EQ(CodeOf(kTasksMax + 1), StatusCode::kResourceExhausted);
  v1::SessionRequest more;
  AddEmpty(1000, &more);
  Send(more);
  Await(1);
  EXPECT_EQ(CodeOf(1000), StatusCode::kOk);
}

TEST_F(SessionTest, ASessionThatEndsDropsTheTasksThatWaitForRoom) {
  const auto array = *engine_->catalogue->Create(support::Type(kernels::DType::kUint8, {200'000}),
                                                 plan::StoreAs{});
  ASSERT_TRUE(engine_->catalogue->Publish(array).ok());
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= kTasksMax; ++id) {
    v1::SessionTask* task = AddEmpty(id, &request);
    task->mutable_call()->set_route(v1::ROUTE_FRONT);
    task->mutable_call()->add_arguments()->mutable_ref()->set_id(array->id.value);
  }
  Send(request);
  stream_->Cancel();
  EXPECT_EQ(stream_->AwaitFinish().code(), StatusCode::kCancelled);
  stream_.reset();
  // What was on its way from a worker may still come.
  EXPECT_TRUE(support::Eventually([&] { return engine_->front_budget->used_bytes() == 0; }));
}

TEST_F(SessionTest, ArgumentsOfQueuedTasksAreCountedAndRefusedWithoutRoom) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  uint64_t id = 0;
  int64_t sent = 0;
  while (order_.empty()) {  // The front end has 8 MiB, 2 of them not for sessions.
    v1::SessionRequest request;
    AddSum(++id, 50'000, &request);
    sent += static_cast<int64_t>(request.ByteSizeLong());
    Send(request);
    ASSERT_LT(id, 100U);
    if (sent > 6 * kMiB) Await(1);
  }
  EXPECT_EQ(CodeOf(id), StatusCode::kResourceExhausted);
  int details = 0;
  for (const auto& detail : outputs_[id].status().details()) {
    details += detail.type_url() == "type.googleapis.com/google.rpc.QuotaFailure" ||
               detail.type_url() == "type.googleapis.com/google.rpc.RetryInfo";
  }
  EXPECT_EQ(details, 2);
  EXPECT_GT(engine_->front_budget->used_bytes(), 5 * kMiB);
  // What is soon over still has room.
  EXPECT_TRUE(runtime::AllocateFrontEnd(*engine_, kMiB, runtime::FrontUse::kBrief).ok());
  gate.reset();
  Await(id - 1);
  EXPECT_TRUE(Close().ok());
  EXPECT_TRUE(support::Eventually([&] { return engine_->front_budget->used_bytes() == 0; }));
}

}  // namespace
}  // namespace shoal::service
