#include "client/src/transport/grpc/byte_buffer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shoal::internal::transport {
namespace {

wire::ConstBytes AsBytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string Text(const wire::Pieces& pieces) {
  std::string text;
  for (const wire::ConstBytes piece : pieces) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

TEST(ByteBufferTest, PartsFollowEachOther) {
  const auto payload = std::make_shared<const std::string>(5000, 'p');
  Frame frame;
  frame.parts.push_back({"head", {AsBytes(*payload), payload}});
  frame.parts.push_back({"tail", {}});
  EXPECT_EQ(Text(ToMessage(ToByteBuffer(frame, nullptr)).pieces()), "head" + *payload + "tail");
  EXPECT_EQ(Text(ToMessage(ToByteBuffer(Frame(), nullptr)).pieces()), "");
  EXPECT_EQ(Text(ToMessage(ToByteBuffer(FrameOf("x"), nullptr)).pieces()), "x");
}

TEST(ByteBufferTest, PayloadIsReferencedAndKeptByItsOwner) {
  auto payload = std::make_shared<const std::string>(5000, 'p');
  const std::weak_ptr<const std::string> watched = payload;
  const void* const place = payload->data();
  Frame frame;
  frame.parts.push_back({{}, {AsBytes(*payload), std::move(payload)}});
  grpc::ByteBuffer buffer = ToByteBuffer(std::exchange(frame, {}), nullptr);
  {
    const Message message = ToMessage(buffer);
    buffer.Clear();
    ASSERT_EQ(message.pieces().size(), 1U);
    EXPECT_EQ(message.pieces()[0].data(), place);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(ByteBufferTest, PayloadWithoutAnOwnerIsCountedOrCopied) {
  std::string payload(5000, 'p');
  Frame frame;
  frame.parts.push_back({"head", {AsBytes(payload), nullptr}});
  SliceGuard guard;
  grpc::ByteBuffer counted = ToByteBuffer(frame, &guard);
  const grpc::ByteBuffer copied = ToByteBuffer(frame, nullptr);
  EXPECT_FALSE(guard.WaitIdle(Duration::zero()));
  payload.assign(5000, 'q');
  EXPECT_EQ(Text(ToMessage(counted).pieces()), "head" + payload);
  EXPECT_EQ(Text(ToMessage(copied).pieces()), "head" + std::string(5000, 'p'));
  counted.Clear();
  EXPECT_TRUE(guard.WaitIdle(Duration::zero()));
}

TEST(ByteBufferTest, AShortMessageSurvivesBeingMoved) {
  Message first = ToMessage(ToByteBuffer(FrameOf("abc"), nullptr));  // Lies inside its slice.
  const Message second = std::move(first);
  EXPECT_EQ(Text(second.pieces()), "abc");
}

}  // namespace
}  // namespace shoal::internal::transport
