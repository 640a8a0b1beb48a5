#include "shoal/v1/details.pb.h"

#include <gtest/gtest.h>

#include <string>

// The bytes below are those of Google's google/rpc/status.proto and error_details.proto: clients
// that have those read ours.
namespace shoal::v1 {
namespace {

TEST(DetailsTest, RpcStatusIsGoogleRpcStatus) {
  RpcStatus status;
  status.set_code(5);
  status.set_message("m");
  google::protobuf::Any* detail = status.add_details();
  detail->set_type_url("t");
  detail->set_value("v");
  EXPECT_EQ(status.SerializeAsString(), "\x08\x05\x12\x01m\x1a\x06\x0a\x01t\x12\x01v");
}

TEST(DetailsTest, ErrorInfoIsGoogleRpcErrorInfo) {
  ErrorInfo info;
  info.set_reason("r");
  info.set_domain("s");
  (*info.mutable_metadata())["k"] = "v";
  EXPECT_EQ(info.SerializeAsString(), "\x0a\x01r\x12\x01s\x1a\x06\x0a\x01k\x12\x01v");
}

TEST(DetailsTest, RetryInfoIsGoogleRpcRetryInfo) {
  RetryInfo info;
  info.mutable_retry_delay()->set_seconds(1);
  EXPECT_EQ(info.SerializeAsString(), "\x0a\x02\x08\x01");
}

TEST(DetailsTest, QuotaFailureIsGoogleRpcQuotaFailure) {
  QuotaFailure failure;
  failure.add_violations()->set_subject("s");
  failure.mutable_violations(0)->set_description("t");
  EXPECT_EQ(failure.SerializeAsString(), "\x0a\x06\x0a\x01s\x12\x01t");
}

TEST(DetailsTest, BadRequestIsGoogleRpcBadRequest) {
  BadRequest request;
  request.add_field_violations()->set_field("s");
  request.mutable_field_violations(0)->set_description("t");
  EXPECT_EQ(request.SerializeAsString(), "\x0a\x06\x0a\x01s\x12\x01t");
}

TEST(DetailsTest, ResourceInfoIsGoogleRpcResourceInfo) {
  ResourceInfo info;
  info.set_resource_type("s");
  info.set_resource_name("t");
  info.set_owner("u");
  info.set_description("v");
  EXPECT_EQ(info.SerializeAsString(), "\x0a\x01s\x12\x01t\x1a\x01u\"\x01v");
}

}  // namespace
}  // namespace shoal::v1
