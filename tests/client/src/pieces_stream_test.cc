#include "client/src/pieces_stream.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <string>

#include "client/src/call_codec.h"
#include "client/src/session_codec.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::internal {
namespace {

/// Views of `bytes`, `piece` bytes each.
wire::Pieces InPieces(const std::string& bytes, size_t piece) {
  wire::Pieces pieces;
  const wire::ConstBytes whole(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  for (size_t at = 0; at < whole.size(); at += piece) pieces.push_back(whole.subspan(at, piece));
  return pieces;
}

TEST(PiecesStreamTest, GivesEveryByteOnce) {
  const std::string bytes = "0123456789";
  wire::Pieces pieces = InPieces(bytes, 4);
  pieces.insert(pieces.begin() + 1, wire::ConstBytes());  // One of no bytes.
  PiecesStream stream(pieces);
  std::string read;
  const void* data = nullptr;
  int size = 0;
  while (stream.Next(&data, &size)) {
    ASSERT_GT(size, 0);
    // All but the first byte goes back.
    read += *static_cast<const char*>(data);
    stream.BackUp(size - 1);
    EXPECT_EQ(stream.ByteCount(), static_cast<int64_t>(read.size()));
  }
  EXPECT_EQ(read, bytes);
}

TEST(PiecesStreamTest, SkipsOverPieces) {
  const std::string bytes = "0123456789";
  const wire::Pieces pieces = InPieces(bytes, 3);
  PiecesStream stream(pieces);
  EXPECT_TRUE(stream.Skip(7));
  const void* data = nullptr;
  int size = 0;
  ASSERT_TRUE(stream.Next(&data, &size));
  EXPECT_EQ(std::string(static_cast<const char*>(data), static_cast<size_t>(size)), "78");
  EXPECT_TRUE(stream.Skip(1));
  EXPECT_FALSE(stream.Skip(1));
  EXPECT_EQ(stream.ByteCount(), 10);
}

TEST(ParseMessageTest, ReadsAMessageHoweverItIsCut) {
  v1::TaskStatus status;
  status.set_code(3);
  status.set_message(std::string(300, 'm'));
  const std::string bytes = status.SerializeAsString();
  const std::string cut = bytes.substr(0, 200);
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    v1::TaskStatus read;
    ASSERT_TRUE(ParseMessage(InPieces(bytes, piece), &read).ok()) << piece;
    EXPECT_EQ(read.message(), status.message());
    EXPECT_EQ(ParseMessage(InPieces(cut, piece), &read).code(), absl::StatusCode::kInternal);
  }
}

TEST(ParseMessageTest, NoBytesAreAMessage) {
  v1::TaskStatus read;
  read.set_code(3);
  EXPECT_TRUE(ParseMessage({}, &read).ok());
  EXPECT_EQ(read.code(), 0);
  EXPECT_TRUE(DecodeCall(wire::Pieces(), nullptr).ok());
  SessionReply reply;
  EXPECT_TRUE(DecodeSessionReply({}, nullptr, &reply).ok());
}

}  // namespace
}  // namespace shoal::internal
