#include "server/transport/grpc/status_mapping.h"

#include <gtest/gtest.h>

#include <string>

#include "server/wire/status_details.h"
#include "shoal/v1/details.pb.h"

namespace shoal::transport {
namespace {

TEST(ToGrpcStatusTest, KeepsEveryCodeAndTheMessage) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status status =
        ToGrpcStatus(absl::Status(static_cast<absl::StatusCode>(code), "why"));
    EXPECT_EQ(static_cast<int>(status.error_code()), code);
    EXPECT_EQ(status.error_message(), "why");
    EXPECT_TRUE(status.error_details().empty());
  }
}

TEST(ToGrpcStatusTest, DetailsTravelAsGoogleRpcStatus) {
  absl::Status status = wire::WithReason(absl::NotFoundError("no such"), "GONE");
  status = wire::WithResource(std::move(status), "array", "#1");
  status.SetPayload("shoal/inner", absl::Cord("stays here"));
  const grpc::Status mapped = ToGrpcStatus(status);
  v1::RpcStatus details;
  ASSERT_TRUE(details.ParseFromString(mapped.error_details()));
  EXPECT_EQ(details.code(), 5);
  EXPECT_EQ(details.message(), "no such");
  ASSERT_EQ(details.details_size(), 2);
  bool has_reason = false;
  for (const auto& detail : details.details()) {
    if (detail.type_url() != "type.googleapis.com/google.rpc.ErrorInfo") continue;
    v1::ErrorInfo info;
    ASSERT_TRUE(info.ParseFromString(detail.value()));
    has_reason = info.reason() == "GONE";
  }
  EXPECT_TRUE(has_reason);
}

TEST(ToGrpcStatusTest, StaysWithinWhatPeersTakeAsHeaders) {
  const std::string long_text(100'000, 'x');
  grpc::Status mapped = ToGrpcStatus(absl::InternalError(long_text));
  EXPECT_EQ(mapped.error_message().size(), 1024U);
  mapped = ToGrpcStatus(wire::WithReason(absl::InternalError("short"), "R", {{"k", long_text}}));
  EXPECT_EQ(mapped.error_message(), "short");
  EXPECT_TRUE(mapped.error_details().empty());
}

}  // namespace
}  // namespace shoal::transport
