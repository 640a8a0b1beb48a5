#include "transport/peer_status.h"

#include <gtest/gtest.h>

#include "shoal/v1/details.pb.h"

namespace shoal::transport {
namespace {

TEST(PeerStatusTest, DetailsBecomePayloads) {
  v1::RpcStatus details;
  details.set_code(5);
  auto* detail = details.add_details();
  detail->set_type_url("type.example/x");
  detail->set_value("bytes");
  const absl::Status status = PeerStatus(5, "no array", details.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no array");
  EXPECT_EQ(status.GetPayload("type.example/x"), absl::Cord("bytes"));
}

TEST(PeerStatusTest, DetailsThatAreNoneDoNoHarm) {
  EXPECT_EQ(PeerStatus(13, "x", "\xFF\xFF\xFF"), absl::InternalError("x"));
  EXPECT_EQ(PeerStatus(13, "x", ""), absl::InternalError("x"));
}

TEST(PeerStatusTest, CodesThatAreNoneAreUnknown) {
  EXPECT_TRUE(PeerStatus(0, "ignored", "").ok());
  EXPECT_EQ(PeerStatus(17, "x", ""), absl::UnknownError("x"));
  v1::TaskStatus task;
  task.set_code(-5);
  EXPECT_EQ(FromTaskStatus(task).code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace shoal::transport
