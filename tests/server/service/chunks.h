#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/compute.pb.h"
#include "tests/support/arrays.h"
#include "wire/crc32c.h"

namespace shoal::service {

/// Bytes [offset, offset + count) of `bytes`, as a chunk with its checksum.
inline v1::Chunk ChunkOf(const std::string& bytes, size_t offset, size_t count, int array = 0) {
  v1::Chunk chunk;
  chunk.set_array(array);
  chunk.set_offset(static_cast<int64_t>(offset));
  chunk.set_data(bytes.substr(offset, count));
  chunk.set_crc32c(wire::Crc32c(support::View(chunk.data())));
  return chunk;
}

/// All of `bytes`, in chunks of at most `count`.
inline std::vector<v1::Chunk> Chunks(const std::string& bytes, size_t count, int array = 0) {
  std::vector<v1::Chunk> chunks;
  for (size_t at = 0; at < bytes.size(); at += count) {
    chunks.push_back(ChunkOf(bytes, at, std::min(count, bytes.size() - at), array));
  }
  return chunks;
}

/// A message with nothing but a chunk.
template <typename Request>
std::string MessageOf(const v1::Chunk& chunk) {
  Request request;
  *request.mutable_chunk() = chunk;
  return request.SerializeAsString();
}

/// Puts the chunks of responses together, and checks their order and checksums.
class Assembler {
 public:
  /// Takes the chunk of a response, if it has one.
  template <typename Response>
  void Take(const Response& response) {
    if (!response.has_chunk()) return;
    const v1::Chunk& chunk = response.chunk();
    const auto array = static_cast<size_t>(chunk.array());
    if (array >= arrays_.size()) arrays_.resize(array + 1);
    EXPECT_EQ(chunk.offset(), static_cast<int64_t>(arrays_[array].size()));
    EXPECT_FALSE(chunk.data().empty());
    if (chunk.has_crc32c()) {
      EXPECT_EQ(chunk.crc32c(), wire::Crc32c(support::View(chunk.data())));
    }
    arrays_[array] += chunk.data();
  }

  std::string array(size_t index) const {
    return index < arrays_.size() ? arrays_[index] : std::string();
  }

 private:
  std::vector<std::string> arrays_;
};

template <typename Message>
Message Parsed(const std::optional<std::string>& bytes) {
  Message message;
  EXPECT_TRUE(bytes.has_value() && message.ParseFromString(*bytes));
  return message;
}

}  // namespace shoal::service
