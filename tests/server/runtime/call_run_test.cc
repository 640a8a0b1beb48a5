#include "server/runtime/call_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/runtime/clock.h"
#include "tests/server/runtime/calls.h"
#include "tests/support/details.h"
#include "tests/support/eventually.h"
#include "tests/support/gate.h"

namespace shoal::runtime {
namespace {

using absl::StatusCode;
using kernels::DType;
using support::Gate;
using support::Halt;

class CallRunTest : public ::testing::Test {
 protected:
  /// x + y of `count` float32, x a stored array.
  plan::Call Add(int64_t count, Place place = Place::kBlock) {
    const plan::ArrayType type = support::Type(DType::kFloat32, {count});
    const std::string bytes(static_cast<size_t>(count * 4), '\0');
    plan::Argument x = calls_.Argument(type, bytes, place);
    return Calls::Make("add", {x, x});
  }

  plan::Call AddInto(const plan::Destination& destination) {
    plan::Call call = Add(100);
    call.destinations.push_back(destination);
    return call;
  }

  std::shared_ptr<CallRun> Start(plan::Call call, Instant deadline = kNever) {
    CallSetup setup;
    setup.call = std::move(call);
    setup.deadline = deadline;
    return CallRun::Start(engine_.get(), std::move(setup),
                          [this](absl::StatusOr<CallResult> result, absl::Span<const TaskId>) {
                            ends_.Put(result.status());
                          });
  }

  static plan::StoreAs Named(const char* name) {
    plan::StoreAs store;
    store.name = name;
    return store;
  }

  support::TestEngine engine_;
  Calls calls_{engine_.get()};
  support::Inbox<absl::Status> ends_;
};

TEST_F(CallRunTest, SmallWorkIsDoneBeforeStartReturns) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "work there is queued, never done on the caller";
  Start(Add(10, Place::kRequest));
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_TRUE(ends_.Take().ok());
}

TEST_F(CallRunTest, WhoIsToldMayFreeAllArraysAtOnce) {
  for (int round = 0; round < 20; ++round) {
    plan::Call call = Add(20'000);  // Large enough for the workers' own threads.
    const auto x = std::get<plan::StoredRef>(call.arguments[0].value);
    call.destinations.push_back(Named("out"));
    CallSetup setup;
    setup.call = std::move(call);
    CallRun::Start(engine_.get(), std::move(setup),
                   [&](absl::StatusOr<CallResult> result, absl::Span<const TaskId>) {
                     EXPECT_TRUE(result.ok());
                     const plan::StoredRef refs[] = {x, {{}, "out"}};
                     ends_.Put(engine_->catalogue->Free(refs, false).status());
                   });
    EXPECT_TRUE(ends_.Take().ok());
  }
}

TEST_F(CallRunTest, ACancelledCallThatWaitsIsToldAtOnce) {
  std::optional<Gate> first(std::in_place, engine_.get(), WorkerId{0});
  std::optional<Gate> second(std::in_place, engine_.get(), WorkerId{1});
  const auto run = Start(AddInto(Named("out")));
  ASSERT_EQ(ends_.size(), 0U);
  run->Cancel();
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_.Take().code(), StatusCode::kCancelled);
  EXPECT_EQ(engine_->catalogue->Find({{}, "out"}).status().code(), StatusCode::kNotFound);
  run->Cancel();  // Ended: nothing.
  first.reset();
  second.reset();
  EXPECT_EQ(ends_.size(), 0U);
}

TEST_F(CallRunTest, ACancelledCallThatRunsIsToldAtOnceAndKeepsItsMemoryUntilItStops) {
  plan::Call call = AddInto(Named("out"));
  Halt halt(engine_.get(), WorkerId{0});
  auto run = Start(std::move(call));
  run->Cancel();
  EXPECT_EQ(ends_.Take().code(), StatusCode::kCancelled);
  EXPECT_EQ(engine_->catalogue->count(), 1);  // The input. The output has no name any more,
  EXPECT_EQ(engine_.BytesInUse(), 800);       // but its memory, which a kernel may yet write.
  run.reset();
  halt.Resume();
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 400);
  calls_.Clear();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(CallRunTest, ACancelAfterTheEndIsNothing) {
  const auto run = Start(Add(10));
  EXPECT_TRUE(ends_.Take().ok());
  if (run != nullptr) run->Cancel();
  EXPECT_EQ(ends_.size(), 0U);
}

TEST_F(CallRunTest, DeadlinesHoldInTheQueueAndWhileItRuns) {
  const auto soon = [] { return Now() + std::chrono::milliseconds(1); };
  {
    const Gate gate(engine_.get(), WorkerId{0});
    Start(AddInto(plan::StoreAs{}), soon());
    EXPECT_EQ(ends_.Take().code(), StatusCode::kDeadlineExceeded);
  }
  {
    plan::Call call = AddInto(plan::StoreAs{});
    const Halt halt(engine_.get(), WorkerId{0});
    Start(std::move(call), soon());
    EXPECT_EQ(ends_.Take().code(), StatusCode::kDeadlineExceeded);
  }
  Start(Add(100), Now() - Duration(1));
  EXPECT_EQ(ends_.Take().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(CallRunTest, AFailureLeavesNoOutputBehind) {
  calls_.Store(support::Type(DType::kUint8, {4}), "abcd", Named("taken"));
  plan::Call call = Calls::Make("echo", {});
  for (int i = 0; i < 2; ++i) {
    call.arguments.push_back(
        calls_.Argument(support::Type(DType::kUint8, {4}), "wxyz", Place::kRequest));
  }
  call.destinations = {Named("out"), Named("taken")};
  EXPECT_EQ(calls_.Run(call).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(engine_->catalogue->count(), 1);
  EXPECT_EQ(engine_.BytesInUse(), 4);
  call.destinations[1] = plan::ReturnToCaller{};
  EXPECT_TRUE(calls_.Run(call).ok());  // The name was let go.
}

TEST_F(CallRunTest, AnOutputThatReplacesAnArrayInUseFailsAndIsForgotten) {
  calls_.Store(support::Type(DType::kUint8, {4}), "abcd", Named("x"));
  const ArrayUse use = *engine_->catalogue->Find({{}, "x"});
  plan::StoreAs store = Named("x");
  store.replace = true;
  EXPECT_EQ(calls_.Run(AddInto(store)).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Calls::BytesOf(ArrayOperand(*use, nullptr)), "abcd");
  EXPECT_EQ(engine_.BytesInUse(), 404);
}

TEST_F(CallRunTest, WantOfMemoryIsToldWithItsNumbersAndHoldsNothing) {
  // Two of 5 MiB in 8 MiB: the workers have no room for the output.
  const plan::ArrayType type = support::Type(DType::kUint8, {10 * kMiB});
  const ArrayId x = calls_.Store(type, std::string(10 * kMiB, '\1'), Place::kBlock);
  plan::Call call =
      Calls::Make("add", {{"", plan::StoredRef{x, ""}}, {"", plan::StoredRef{x, ""}}});
  call.destinations.push_back(plan::StoreAs{});
  absl::Status status = calls_.Run(call).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(support::ReasonOf(status), "OUT_OF_MEMORY");
  // Neither has the front end.
  call.destinations.clear();
  status = calls_.Run(call).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(engine_.BytesInUse(), 10 * kMiB);
}

TEST_F(CallRunTest, OutputsBeyondTheInlineLimitAreRefusedBeforeAnythingRuns) {
  CallSetup setup;
  setup.call = Add(100);
  setup.return_bytes_max = 399;
  const absl::Status status = calls_.Run(std::move(setup)).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(support::ReasonOf(status), "INLINE_LIMIT");
  setup.call = AddInto(plan::StoreAs{});
  setup.return_bytes_max = 0;
  EXPECT_TRUE(calls_.Run(std::move(setup)).ok());  // Nothing returns.
}

TEST_F(CallRunTest, RefusesMoreDestinationsThanOutputsAndParamsThatDoNotFit) {
  plan::Call call = AddInto(plan::ReturnToCaller{});
  call.destinations.push_back(plan::ReturnToCaller{});
  EXPECT_EQ(calls_.Run(call).status().code(), StatusCode::kInvalidArgument);
  plan::Argument x = calls_.Argument(support::Type(DType::kInt8, {1}), "a", Place::kRequest);
  plan::Call axpy = Calls::Make("axpy", {x, x});
  axpy.params[0] = 0.5;
  EXPECT_EQ(calls_.Run(axpy).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(calls_.Run(Calls::Make("add", {x})).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CallRunTest, UnknownArraysAndLeasesAreNotFound) {
  const plan::ArrayType type = support::Type(DType::kFloat32, {1});
  const plan::Argument none{"", plan::StoredRef{ArrayId{77}, ""}};
  EXPECT_EQ(calls_.Run(Calls::Make("sum", {none})).status().code(), StatusCode::kNotFound);
  plan::LeasePlace place = calls_.LeaseOf("abcd");
  ++place.token;
  const plan::Argument leased{"", plan::LeasedBytes{type, place}};
  EXPECT_EQ(calls_.Run(Calls::Make("sum", {leased})).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(calls_.Run(AddInto(place)).status().code(), StatusCode::kNotFound);
}

TEST_F(CallRunTest, WritesInPlaceInALeaseButNotOverPartOfAnArgument) {
  const std::vector<float> values = {1, 2, 3, 4};
  const plan::ArrayType type = support::Type(DType::kFloat32, {4});
  const plan::LeasePlace place = calls_.LeaseOf(support::ToBytes(values) + std::string(64, '\0'));
  const plan::Argument x{"", plan::LeasedBytes{type, place}};
  plan::Call call = Calls::Make("add", {x, x});
  call.destinations.push_back(place);
  const auto result = calls_.Run(call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(support::FromBytes<float>(Calls::BytesOf(result->outputs[0].data)),
            (std::vector<float>{2, 4, 6, 8}));
  plan::LeasePlace shifted = place;
  shifted.offset = 4;
  call.destinations[0] = shifted;
  EXPECT_EQ(calls_.Run(call).status().code(), StatusCode::kInvalidArgument);
  // Two echoes that would trade places would each read what the other wrote.
  plan::LeasePlace second = place;
  second.offset = 16;
  plan::Call swap = Calls::Make("echo", {x, {"", plan::LeasedBytes{type, second}}});
  swap.destinations = {second, place};
  EXPECT_EQ(calls_.Run(swap).status().code(), StatusCode::kInvalidArgument);
  swap.destinations = {place, second};
  EXPECT_TRUE(calls_.Run(swap).ok());
}

TEST_F(CallRunTest, SeveralReplicatedOutputsAllReachAllWorkers) {
  const plan::ArrayType type = support::Type(DType::kUint8, {4});
  plan::Call call = Calls::Make("echo", {});
  for (const char* bytes : {"abcd", "efgh", "ijkl"}) {
    call.arguments.push_back(calls_.Argument(type, bytes, Place::kRequest));
    plan::StoreAs store = Named(bytes);
    store.has_distribution = true;
    store.distribution.kind = plan::DistributionKind::kReplicated;
    call.destinations.push_back(store);
  }
  ASSERT_TRUE(calls_.Run(call).ok());
  for (const char* bytes : {"abcd", "efgh", "ijkl"}) {
    const ArrayUse array = *engine_->catalogue->Find({{}, bytes});
    ASSERT_EQ(array->shards.size(), 2U);
    EXPECT_EQ(Calls::BytesOf(ReplicaOperand(*array, 1, nullptr)), bytes);
  }
}

TEST_F(CallRunTest, ADrainingServerRefusesAndSaysWhenToTryAgain) {
  engine_->dispatcher->Drain([] {});
  const absl::Status status = calls_.Run(Add(10)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(support::ReasonOf(status), "DRAINING");
}

TEST_F(CallRunTest, RacingCancelsTellEachCallOnceAndFreeAllMemory) {
  constexpr int kCalls = 150;
  const plan::ArrayType type = support::Type(DType::kFloat32, {3000});
  const ArrayId x = calls_.Store(type, std::string(12'000, '\0'), Place::kBlock);
  support::Inbox<std::shared_ptr<CallRun>> runs;
  std::thread canceller([&] {
    for (auto run = runs.Take(); run != nullptr; run = runs.Take()) run->Cancel();
  });
  std::atomic<int> told = 0;
  for (int i = 0; i < kCalls; ++i) {
    CallSetup setup;
    const plan::Argument argument{"", plan::StoredRef{x, ""}};
    setup.call =
        i % 2 == 0 ? Calls::Make("sort", {argument}) : Calls::Make("add", {argument, argument});
    setup.call.destinations.push_back(plan::StoreAs{});
    auto run = CallRun::Start(engine_.get(), std::move(setup),
                              [&](absl::StatusOr<CallResult> result, absl::Span<const TaskId>) {
                                ++told;
                                if (result.ok()) {
                                  const plan::StoredRef out{result->outputs[0].stored, ""};
                                  EXPECT_TRUE(engine_->catalogue->Free({&out, 1}, false).ok());
                                } else {
                                  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
                                }
                                ends_.Put(absl::OkStatus());
                              });
    if (run != nullptr) runs.Put(std::move(run));
  }
  runs.Put(nullptr);
  canceller.join();
  for (int i = 0; i < kCalls; ++i) ends_.Take().IgnoreError();
  EXPECT_EQ(told, kCalls);
  for (const Worker& worker : engine_->workers->all()) {
    EXPECT_TRUE(support::Eventually([&] { return worker.stream->Idle(); }));
  }
  EXPECT_TRUE(support::Eventually([&] { return engine_.BytesInUse() == 12'000; }));
}

}  // namespace
}  // namespace shoal::runtime
