#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/runtime/operand.h"
#include "server/transport/call.h"

namespace shoal::service {

struct ChunkOptions {
  int64_t chunk_bytes = 1 << 20;
  bool checksum = true;
};

/// Cuts arrays into the frames of a reply stream. The frames reference the arrays' memory.
class ChunkSender {
 public:
  /// Bytes [offset, offset + byte_count) of one array.
  ChunkSender(runtime::Operand array, int64_t offset, int64_t byte_count, ChunkOptions options);
  /// All bytes of several arrays; `index` of each chunk is the array's place. A default operand
  /// holds a place without sending anything.
  ChunkSender(std::vector<runtime::Operand> arrays, ChunkOptions options);

  /// Nothing is left to be sent.
  bool done() const { return array_ == arrays_.size(); }

  /// The message of the serialised fields `rest` and the next chunk; of `rest` alone when done.
  transport::Frame Next(const std::string& rest);

 private:
  void SkipFinished();

  const std::vector<runtime::Operand> arrays_;
  const ChunkOptions options_;
  size_t array_ = 0;
  int64_t offset_ = 0;
  int64_t end_ = 0;  // Of the current array.
};

}  // namespace shoal::service
