#include "client/src/chunk_receiver.h"

#include <gtest/gtest.h>

#include "wire/crc32c.h"

namespace shoal::internal {
namespace {

wire::ChunkMessage Chunk(int32_t array, int64_t offset, const std::vector<std::byte>& data) {
  wire::ChunkMessage message;
  message.has_chunk = true;
  message.header = {.array = array, .offset = offset, .crc32c = wire::Crc32c(data)};
  message.data.push_back(data);
  message.data_bytes = static_cast<int64_t>(data.size());
  return message;
}

const std::vector<std::byte> kFour = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

TEST(ChunkReceiverTest, GathersInOrder) {
  std::vector<std::byte> memory(8);
  ChunkReceiver receiver(true);
  receiver.Add(memory.data(), 8);
  EXPECT_EQ(receiver.CheckWhole().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(receiver.Accept(Chunk(0, 0, kFour)).ok());
  EXPECT_TRUE(receiver.Accept(Chunk(0, 4, kFour)).ok());
  EXPECT_TRUE(receiver.CheckWhole().ok());
  EXPECT_EQ(memory[7], std::byte{4});
}

TEST(ChunkReceiverTest, RefusesWhatIsOutOfOrderOrBeyondTheEnd) {
  std::vector<std::byte> memory(6);
  ChunkReceiver receiver(true);
  receiver.Add(memory.data(), 6);
  EXPECT_EQ(receiver.Accept(Chunk(0, 1, kFour)).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(receiver.Accept(Chunk(1, 0, kFour)).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(receiver.Accept(Chunk(-1, 0, kFour)).code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(receiver.Accept(Chunk(0, 0, kFour)).ok());
  EXPECT_EQ(receiver.Accept(Chunk(0, 0, kFour)).code(), absl::StatusCode::kInternal) << "again";
  EXPECT_EQ(receiver.Accept(Chunk(0, 4, kFour)).code(), absl::StatusCode::kInternal) << "too long";
}

TEST(ChunkReceiverTest, ADamagedChunkDoesNotCount) {
  std::vector<std::byte> memory(4);
  wire::ChunkMessage damaged = Chunk(0, 0, kFour);
  damaged.header.crc32c = *damaged.header.crc32c ^ 1U;
  ChunkReceiver receiver(true);
  receiver.Add(memory.data(), 4);
  EXPECT_EQ(receiver.Accept(damaged).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(receiver.received_bytes(0), 0);
  ChunkReceiver trusting(false);
  trusting.Add(memory.data(), 4);
  EXPECT_TRUE(trusting.Accept(damaged).ok());
}

}  // namespace
}  // namespace shoal::internal
