#include "server/transport/grpc/byte_buffer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/server/transport/grpc/client.h"
#include "tests/support/arrays.h"

namespace shoal::transport {
namespace {

TEST(ToMessageTest, ReferencesWhatTheBufferHolds) {
  // One slice short enough to be kept inside the slice itself, one that is not.
  const grpc::Slice slices[] = {grpc::Slice("ab"), grpc::Slice(std::string(5000, 'q')),
                                grpc::Slice("")};
  auto buffer = std::make_unique<grpc::ByteBuffer>(slices, 3);
  Message message = ToMessage(*buffer);
  buffer.reset();
  EXPECT_EQ(static_cast<const void*>(message.pieces()[1].data()), slices[1].begin());
  const Message moved = std::move(message);
  std::string text;
  for (const wire::ConstBytes piece : moved.pieces()) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  EXPECT_EQ(text, "ab" + std::string(5000, 'q'));
}

TEST(ToMessageTest, AnInvalidBufferIsNoBytes) {
  EXPECT_TRUE(ToMessage(grpc::ByteBuffer()).pieces().empty());
}

TEST(ToByteBufferTest, SendsPayloadFromWhereItLiesAndLetsGoOfItWithTheBuffer) {
  auto payload = std::make_shared<std::string>(5000, 'p');
  Frame frame{"head", {{support::View(*payload), payload}, {support::View(*payload), payload}}};
  auto buffer = std::make_unique<grpc::ByteBuffer>(ToByteBuffer(std::move(frame)));
  EXPECT_EQ(buffer->Length(), 10'004U);
  EXPECT_EQ(ToText(*buffer), "head" + *payload + *payload);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(buffer->Dump(&slices).ok());
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), payload->data());
  EXPECT_EQ(payload.use_count(), 3);
  slices.clear();
  buffer.reset();
  EXPECT_EQ(payload.use_count(), 1);
}

TEST(ToByteBufferTest, AFrameMayBeHeadAloneOrNothing) {
  EXPECT_EQ(ToText(ToByteBuffer({"head", {}})), "head");
  const grpc::ByteBuffer nothing = ToByteBuffer({});
  EXPECT_TRUE(nothing.Valid());
  EXPECT_EQ(nothing.Length(), 0U);
}

}  // namespace
}  // namespace shoal::transport
