#include "shoal/status.h"

#include <gtest/gtest.h>

#include "shoal/v1/details.pb.h"
#include "transport/peer_status.h"

namespace shoal {
namespace {

/// What becomes of what a server would send for a full queue.
absl::Status FullQueue() {
  v1::RpcStatus details;
  details.set_code(8);
  const auto add = [&details](const char* type, const google::protobuf::MessageLite& detail) {
    auto* any = details.add_details();
    any->set_type_url(std::string("type.googleapis.com/google.rpc.") + type);
    any->set_value(detail.SerializeAsString());
  };
  v1::ErrorInfo error;
  error.set_reason("QUEUE_FULL");
  (*error.mutable_metadata())["queued"] = "17";
  add("ErrorInfo", error);
  v1::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(250'000'000);
  add("RetryInfo", retry);
  v1::BadRequest request;
  auto* violation = request.add_field_violations();
  violation->set_field("arguments[0]");
  violation->set_description("too many");
  add("BadRequest", request);
  return transport::PeerStatus(8, "the queue is full", details.SerializeAsString());
}

TEST(StatusTest, DetailsOfTheTrailerAreFound) {
  const absl::Status status = FullQueue();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "the queue is full");
  EXPECT_EQ(ErrorReason(status), "QUEUE_FULL");
  EXPECT_EQ(ErrorMetadata(status).at("queued"), "17");
  EXPECT_EQ(RetryDelay(status), std::chrono::milliseconds(250));
  ASSERT_EQ(FieldViolations(status).size(), 1U);
  EXPECT_EQ(FieldViolations(status)[0].field, "arguments[0]");
  EXPECT_EQ(DescribeError(status), "RESOURCE_EXHAUSTED: the queue is full [QUEUE_FULL]");
}

TEST(StatusTest, AStatusWithoutDetailsHasNone) {
  const absl::Status status = absl::NotFoundError("no array");
  EXPECT_EQ(ErrorReason(status), "");
  EXPECT_EQ(RetryDelay(status), std::nullopt);
  EXPECT_TRUE(FieldViolations(status).empty());
  EXPECT_EQ(DescribeError(absl::OkStatus()), "OK");
}

TEST(StatusTest, ARetryDelayOfAYearIsADay) {
  v1::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(INT64_MAX);
  absl::Status status = absl::UnavailableError("x");
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(retry.SerializeAsString()));
  EXPECT_EQ(RetryDelay(status), std::chrono::hours(24));
}

}  // namespace
}  // namespace shoal
