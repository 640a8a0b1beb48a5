#include "client/src/transports.h"

#include <gtest/gtest.h>

#include "client/src/channel_pool.h"

namespace shoal::internal {
namespace {

TEST(TransportsTest, WhatNoneKnowsIsRefused) {
  EXPECT_TRUE(MakeChannel({.target = "127.0.0.1:1"}).ok());
  EXPECT_EQ(MakeChannel({.target = "host:99999"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TransportsTest, TlsIsRefusedUntilItIsBuilt) {
  EXPECT_EQ(MakeChannel({.target = "127.0.0.1:1", .tls = transport::TlsMaterial()}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(MakeChannel({.target = "unix:/x", .tls = transport::TlsMaterial()}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TransportsTest, OnlyANetworkAddressYieldsToTheUnixSocket) {
  EXPECT_TRUE(YieldsToUnixSocket("127.0.0.1:1"));
  EXPECT_FALSE(YieldsToUnixSocket("unix:/x"));
}

TEST(ChannelPoolTest, ChannelsComeBackAndAreLentAgain) {
  const auto pool = std::make_shared<ChannelPool>(
      transport::ChannelOptions{.target = "127.0.0.1:1", .methods = MethodPaths()});
  const transport::Channel* first = nullptr;
  {
    const auto loan = pool->Borrow();
    ASSERT_TRUE(loan.ok());
    first = loan->operator->();
    EXPECT_NE(pool->Borrow()->operator->(), first) << "it is lent";
  }
  EXPECT_EQ(pool->Borrow()->operator->(), first);
}

TEST(ChannelPoolTest, ABrokenChannelDoesNotComeBack) {
  const auto pool = std::make_shared<ChannelPool>(
      transport::ChannelOptions{.target = "127.0.0.1:1", .methods = MethodPaths()});
  const CallEnv env;
  {
    const auto loan = pool->Borrow();
    ASSERT_TRUE(loan.ok());
    const auto stream = (*loan)->MakeStream(IndexOf(Method::kPut), env.Terms());
    stream->Send(transport::FrameOf("x"), /*last=*/true);
    while (stream->Wait() != transport::Stream::Event::kEnded) {
    }
    EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE((*loan)->Reusable());
  }
  EXPECT_TRUE((*pool->Borrow())->Reusable());
}

}  // namespace
}  // namespace shoal::internal
