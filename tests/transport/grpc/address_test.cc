#include "transport/grpc/address.h"

#include <gtest/gtest.h>

namespace shoal::transport {
namespace {

TEST(CheckAddressTest, AddressesPass) {
  for (const char* address :
       {"localhost:50051", "127.0.0.1:1", "h:65535", "[::1]:50051", "unix:/run/s.sock",
        "unix:///run/s.sock", "unix:relative", "dns:///localhost:50051", "dns:localhost:50051",
        "dns://8.8.8.8/h:7", "ipv4:127.0.0.1:7", "ipv6:[::1]:7"}) {
    EXPECT_TRUE(CheckAddress(address).ok()) << CheckAddress(address);
  }
}

TEST(CheckAddressTest, OthersAreRefusedWithTheReason) {
  const auto refusal = [](const char* address) {
    const absl::Status status = CheckAddress(address);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal(""), "address is empty");
  EXPECT_EQ(refusal("host"), "address \"host\": no port");
  EXPECT_EQ(refusal("[::1]"), "address \"[::1]\": no port");
  EXPECT_EQ(refusal("dns:///host"), "address \"dns:///host\": no port");
  EXPECT_EQ(refusal(":50051"), "address \":50051\": no host");
  EXPECT_EQ(refusal("::1"), "address \"::1\": an IPv6 host goes in brackets");
  EXPECT_EQ(refusal("unix:"), "address \"unix:\": no path");
  for (const char* port : {"0", "65536", "99999", "", "-1", "+1", " 1", "http", "4294967297"}) {
    const std::string address = std::string("host:") + port;
    EXPECT_EQ(refusal(address.c_str()),
              "address \"" + address + "\": the port is not one of 1 to 65535");
  }
}

}  // namespace
}  // namespace shoal::transport
