#include "server/service/compute_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "shoal/v1/compute.pb.h"
#include "tests/support/arrays.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "tests/support/gate.h"
#include "tests/support/unary.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::Gate;
using support::TestUnary;

class ComputeServiceTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::EchoResponse> Echo(const v1::EchoRequest& request) {
    return support::CallUnary<v1::EchoResponse>(table_, "Echo", request);
  }
  absl::StatusOr<v1::ApplyResponse> Apply(const v1::ApplyRequest& request) {
    return support::CallUnary<v1::ApplyResponse>(table_, "Apply", request);
  }

  static v1::ApplyRequest Sum() {
    v1::ApplyRequest request;
    request.set_op("sum");
    support::SetInline({1, 2, 3}, request.add_arguments());
    return request;
  }

  support::TestEngine engine_;
  const transport::ServiceTable table_ = ComputeService(engine_.get());
};

TEST_F(ComputeServiceTest, EchoReturnsThePayloadOnEveryRoute) {
  for (const v1::Route route :
       {v1::ROUTE_UNSPECIFIED, v1::ROUTE_FRONT, v1::ROUTE_WORKER, v1::ROUTE_DEVICE}) {
    // Lengths that take one, two and three bytes; the last is scattered.
    for (const size_t size : {0U, 1U, 127U, 128U, 16384U, 100'000U}) {
      v1::EchoRequest request;
      request.set_route(route);
      request.set_payload(support::RandomBytes(size, size));
      const auto response = Echo(request);
      ASSERT_TRUE(response.ok()) << response.status();
      EXPECT_TRUE(response->payload() == request.payload()) << size;
    }
  }
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(ComputeServiceTest, EchoRefusesWhatIsTooLargeOrHasNoRoute) {
  v1::EchoRequest request;
  request.set_payload(std::string(static_cast<size_t>(engine_->limits.inline_bytes) + 1, 'x'));
  const absl::Status status = Echo(request).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(support::ReasonOf(status), "INLINE_LIMIT");
  request.set_payload("x");
  request.set_route(static_cast<v1::Route>(7));
  EXPECT_EQ(Echo(request).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ComputeServiceTest, ApplyAnswersWithOutputsBackendAndTiming) {
  v1::ApplyRequest request = Sum();
  auto response = Apply(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(support::FromBytes<float>(response->outputs(0).data()), std::vector<float>{6});
  EXPECT_EQ(response->outputs(0).spec().shape_size(), 0);
  EXPECT_EQ(response->backend(), "cpu");
  EXPECT_EQ(response->worker_count(), 1);
  EXPECT_FALSE(response->has_timing());
  request.set_want_timing(true);
  response = Apply(request);
  EXPECT_TRUE(response->has_timing());
  v1::ApplyRequest nothing;
  nothing.set_op("echo");
  response = Apply(nothing);
  EXPECT_EQ(response->backend(), "");
  EXPECT_EQ(response->worker_count(), 0);
}

TEST_F(ComputeServiceTest, ApplyAnswersFaultsWithTheirDetails) {
  v1::ApplyRequest request = Sum();
  request.mutable_arguments(0)->mutable_inline_()->mutable_data()->pop_back();
  const absl::Status status = Apply(request).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(support::BadField(status), "arguments[0].inline.data");
  const auto call = std::make_shared<TestUnary>("\xff\xff");
  support::FindMethod(table_, "Apply").unary(call);
  EXPECT_EQ(call->Answer().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ComputeServiceTest, OutputsBeyondTheInlineLimitAreRefused) {
  v1::ApplyRequest request;
  request.set_op("add");
  for (int i = 0; i < 2; ++i) {
    // Broadcast over an array that is stored: the reply would be larger than any message.
    request.add_arguments()->mutable_ref()->set_name("x");
  }
  plan::StoreAs store;
  store.name = "x";
  const auto array =
      *engine_->catalogue->Create(support::Type(kernels::DType::kInt8, {512 << 10}), store);
  ASSERT_TRUE(engine_->catalogue->Publish(array).ok());
  EXPECT_EQ(support::ReasonOf(Apply(request).status()), "INLINE_LIMIT");
}

TEST_F(ComputeServiceTest, ACancelledCallIsAnsweredOnce) {
  const Gate first(engine_.get(), WorkerId{0});
  const Gate second(engine_.get(), WorkerId{1});
  const auto call = std::make_shared<TestUnary>(Sum().SerializeAsString());
  support::FindMethod(table_, "Apply").unary(call);
  EXPECT_FALSE(call->IsAnswered());
  call->Cancel();
  EXPECT_EQ(call->Answer().status().code(), StatusCode::kCancelled);
}

TEST_F(ComputeServiceTest, TheDeadlineOfTheCallHolds) {
  std::optional<Gate> first(std::in_place, engine_.get(), WorkerId{0});
  const Gate second(engine_.get(), WorkerId{1});
  for (const Duration left : {Duration(std::chrono::milliseconds(1)), Duration(-1), Duration(0)}) {
    const auto call = std::make_shared<TestUnary>(Sum().SerializeAsString(), left);
    support::FindMethod(table_, "Apply").unary(call);
    EXPECT_EQ(call->Answer().status().code(), StatusCode::kDeadlineExceeded);
  }
  const auto call = std::make_shared<TestUnary>(Sum().SerializeAsString(), std::chrono::hours(1));
  support::FindMethod(table_, "Apply").unary(call);
  first.reset();
  EXPECT_TRUE(call->Answer().ok());
}

TEST_F(ComputeServiceTest, EveryCallIsCounted) {
  ASSERT_TRUE(Apply(Sum()).ok());
  v1::ApplyRequest bad = Sum();
  bad.mutable_arguments(0)->mutable_ref()->set_id(99);
  EXPECT_FALSE(Apply(bad).ok());
  int64_t calls = 0;
  int64_t failed = 0;
  for (const telemetry::ThroughputRow& row : engine_->throughput->Snapshot()) {
    calls += row.call_count;
    failed += row.failed_count;
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace shoal::service
