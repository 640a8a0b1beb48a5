#include "transport/grpc/byte_buffer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shoal::transport {
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

TEST(ByteBufferTest, AMessageReferencesEverySliceOfItsBuffer) {
  // One slice short enough to be kept inside the slice itself, one that is not.
  const grpc::Slice slices[] = {grpc::Slice("ab"), grpc::Slice(std::string(5000, 'q')),
                                grpc::Slice("")};
  auto buffer = std::make_unique<grpc::ByteBuffer>(slices, 3);
  Message message = ToMessage(*buffer);
  buffer.reset();
  EXPECT_EQ(static_cast<const void*>(message.pieces()[1].data()), slices[1].begin());
  const Message moved = std::move(message);
  EXPECT_EQ(Text(moved.pieces()), "ab" + std::string(5000, 'q'));
}

TEST(ByteBufferTest, AnInvalidBufferIsNoBytes) {
  EXPECT_TRUE(ToMessage(grpc::ByteBuffer()).pieces().empty());
}

TEST(ByteBufferTest, PayloadsFollowOneHeadAndAreLetGoOfWithTheBuffer) {
  const auto payload = std::make_shared<const std::string>(5000, 'p');
  Frame frame = FrameOf("head");
  for (int i = 0; i < 2; ++i) frame.Append({AsBytes(*payload), payload});
  frame.Append({});  // Adds nothing.
  ASSERT_EQ(frame.parts.size(), 2U);
  auto buffer = std::make_unique<grpc::ByteBuffer>(ToByteBuffer(frame, nullptr));
  frame = {};
  EXPECT_EQ(Text(ToMessage(*buffer).pieces()), "head" + *payload + *payload);
  EXPECT_EQ(payload.use_count(), 3);
  buffer.reset();
  EXPECT_EQ(payload.use_count(), 1);
}

TEST(ByteBufferTest, NothingIsAMessageToo) {
  const grpc::ByteBuffer nothing = ToByteBuffer({}, nullptr);
  EXPECT_TRUE(nothing.Valid());
  EXPECT_EQ(nothing.Length(), 0U);
}

TEST(ByteBufferTest, AShortMessageSurvivesBeingMoved) {
  Message first = ToMessage(ToByteBuffer(FrameOf("abc"), nullptr));  // Lies inside its slice.
  const Message second = std::move(first);
  EXPECT_EQ(Text(second.pieces()), "abc");
}

}  // namespace
}  // namespace shoal::transport
