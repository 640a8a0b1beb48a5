#include "server/wire/status_details.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/details.h"

namespace shoal::wire {
namespace {

using support::DetailOf;

absl::Status Fault() { return absl::ResourceExhaustedError("too much"); }

TEST(StatusDetailsTest, EachDetailReadsBackAndCodeAndMessageStay) {
  absl::Status status = WithReason(Fault(), "QUEUE_FULL", {{"depth", "7"}});
  status = WithRetryAfter(std::move(status), std::chrono::milliseconds(1500));
  status = WithQuota(std::move(status), "queued tasks");
  status = WithResource(std::move(status), "array", "#3");
  status = WithBadField(std::move(status), "arguments[1].spec");

  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "too much");
  const auto info = DetailOf<v1::ErrorInfo>(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason(), "QUEUE_FULL");
  EXPECT_EQ(info->domain(), "shoal");
  EXPECT_EQ(info->metadata().at("depth"), "7");
  const auto retry = DetailOf<v1::RetryInfo>(status);
  ASSERT_TRUE(retry.has_value());
  EXPECT_EQ(retry->retry_delay().seconds(), 1);
  EXPECT_EQ(retry->retry_delay().nanos(), 500'000'000);
  const auto quota = DetailOf<v1::QuotaFailure>(status);
  ASSERT_TRUE(quota.has_value());
  EXPECT_EQ(quota->violations(0).subject(), "queued tasks");
  const auto resource = DetailOf<v1::ResourceInfo>(status);
  ASSERT_TRUE(resource.has_value());
  EXPECT_EQ(resource->resource_type(), "array");
  EXPECT_EQ(resource->resource_name(), "#3");
  EXPECT_EQ(support::BadField(status), "arguments[1].spec");
}

TEST(StatusDetailsTest, BadFieldDescribesItselfWithTheMessage) {
  const auto request = DetailOf<v1::BadRequest>(WithBadField(Fault(), "route"));
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->field_violations(0).description(), "too much");
}

TEST(ToTaskStatusTest, CarriesTheDetailsAsTheTrailerWould) {
  const v1::TaskStatus message = ToTaskStatus(WithReason(Fault(), "OUT_OF_MEMORY"));
  EXPECT_EQ(message.code(), 8);  // gRPC's RESOURCE_EXHAUSTED.
  EXPECT_EQ(message.message(), "too much");
  ASSERT_EQ(message.details_size(), 1);
  EXPECT_EQ(message.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
  v1::ErrorInfo info;
  ASSERT_TRUE(info.ParseFromString(message.details(0).value()));
  EXPECT_EQ(info.reason(), "OUT_OF_MEMORY");
}

TEST(ToTaskStatusTest, KeepsPayloadsThatAreNoProtobufToItself) {
  absl::Status status = Fault();
  status.SetPayload("shoal/inner", absl::Cord("x"));
  EXPECT_EQ(ToTaskStatus(status).details_size(), 0);
}

}  // namespace
}  // namespace shoal::wire
