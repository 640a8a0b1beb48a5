#include "wire/chunk.h"

#include <gtest/gtest.h>

#include <string>

#include "shoal/v1/array_service.pb.h"
#include "wire/crc32c.h"

namespace shoal::wire {
namespace {

ConstBytes Bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// `text` as pieces of `size` bytes, with empty ones strewn in.
Pieces Cut(const std::string& text, size_t size) {
  Pieces pieces;
  for (size_t at = 0; at < text.size(); at += size) {
    pieces.push_back({});
    pieces.push_back(Bytes(text).subspan(at, std::min(size, text.size() - at)));
  }
  return pieces;
}

std::string Joined(const Pieces& pieces) {
  std::string text(static_cast<size_t>(TotalBytes(pieces)), '\0');
  GatherPieces(pieces, {reinterpret_cast<std::byte*>(text.data())}, nullptr);
  return text;
}

TEST(FrameChunkTest, IsTheProtobufEncoding) {
  v1::PutRequest header;
  header.mutable_header()->mutable_spec()->set_dtype(v1::DTYPE_FLOAT32);
  const std::string payload = "eight by";
  const ChunkHeader chunk{.array = 3, .offset = int64_t{1} << 40, .crc32c = 0xDEADBEEF};

  const std::string message =
      FrameChunk(header.SerializeAsString(), chunk, static_cast<int64_t>(payload.size())) + payload;

  v1::PutRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(message));
  EXPECT_EQ(parsed.header().spec().dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(parsed.chunk().array(), 3);
  EXPECT_EQ(parsed.chunk().offset(), int64_t{1} << 40);
  EXPECT_EQ(parsed.chunk().crc32c(), 0xDEADBEEF);
  EXPECT_EQ(parsed.chunk().data(), payload);
}

TEST(DecodeChunkMessageTest, ReadsWhatAnyClientSerialises) {
  v1::PutRequest request;
  request.mutable_header()->mutable_store()->set_name("x");
  request.mutable_chunk()->set_offset(77);
  request.mutable_chunk()->set_crc32c(5);
  request.mutable_chunk()->set_data(std::string(1000, 'q'));
  const std::string bytes = request.SerializeAsString();

  for (size_t cut : {size_t{1}, size_t{2}, size_t{7}, size_t{4096}}) {
    const Pieces pieces = Cut(bytes, cut);
    const auto decoded = DecodeChunkMessage(pieces);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_TRUE(decoded->has_chunk);
    EXPECT_EQ(decoded->header, (ChunkHeader{.array = 0, .offset = 77, .crc32c = 5}));
    EXPECT_EQ(Joined(decoded->data), request.chunk().data());
    v1::PutRequest rest;
    ASSERT_TRUE(rest.ParseFromString(decoded->rest));
    EXPECT_EQ(rest.header().store().name(), "x");
    EXPECT_FALSE(rest.has_chunk());
  }
}

TEST(DecodeChunkMessageTest, FieldsMayComeInAnyOrder) {
  const std::string data_first = std::string(
                                     "\x7A\x03"
                                     "abc",
                                     5) +
                                 std::string("\x10\x09", 2);
  const std::string message = std::string("\x7A\x07", 2) + data_first;
  const Pieces pieces = {Bytes(message)};
  const auto decoded = DecodeChunkMessage(pieces);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->header.offset, 9);
  EXPECT_EQ(Joined(decoded->data), "abc");
}

TEST(DecodeChunkMessageTest, EveryTruncationIsRefusedOrWhole) {
  v1::PutRequest request;
  request.mutable_header()->set_resume_id(300);
  request.mutable_chunk()->set_offset(1000);
  request.mutable_chunk()->set_data("0123456789");
  const std::string bytes = request.SerializeAsString();
  const size_t header_bytes = bytes.size() - request.chunk().ByteSizeLong() - 2;
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    const Pieces pieces = {Bytes(cut)};
    const bool whole = length == 0 || length == header_bytes;
    EXPECT_EQ(DecodeChunkMessage(pieces).ok(), whole) << length;
  }
}

TEST(DecodeChunkMessageTest, RefusesLengthsBeyondTheMessageAndTwoChunks) {
  for (const std::string& message :
       {std::string("\x7A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 10),
        std::string("\x7A\x00\x7A\x00", 4), std::string("\x7B", 1),
        std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 11)}) {
    const Pieces pieces = {Bytes(message)};
    EXPECT_EQ(DecodeChunkMessage(pieces).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(GatherPiecesTest, SumsWhatItCopies) {
  const std::string text = "a message in several pieces";
  std::string copy(text.size(), '\0');
  const Pieces pieces = Cut(text, 5);
  uint32_t crc = 0;
  GatherPieces(pieces, {reinterpret_cast<std::byte*>(copy.data())}, &crc);
  EXPECT_EQ(crc, Crc32c(Bytes(text)));
  EXPECT_EQ(copy, text);
}

TEST(SubPiecesTest, CutsAnywhere) {
  const std::string text = "0123456789";
  const Pieces pieces = Cut(text, 3);
  for (int64_t begin = 0; begin <= 10; ++begin) {
    for (int64_t bytes = 0; begin + bytes <= 10; ++bytes) {
      EXPECT_EQ(Joined(SubPieces(pieces, begin, bytes)),
                text.substr(static_cast<size_t>(begin), static_cast<size_t>(bytes)));
    }
  }
}

}  // namespace
}  // namespace shoal::wire
