#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/runtime/engine.h"
#include "server/runtime/operand.h"
#include "server/service/stream_writer.h"
#include "server/transport/call.h"
#include "wire/chunk.h"

namespace shoal::service {

struct ChunkOptions {
  int64_t chunk_bytes = 1 << 20;
  bool checksum = true;
  /// Pays for copies of chunks that the host cannot touch; needed where there are any.
  runtime::Engine* engine = nullptr;
};

/// Cuts arrays into the frames of a reply stream. The frames reference the arrays' memory, or,
/// where the host cannot touch it, a copy of the chunk in the front end.
class ChunkSender {
 public:
  /// Bytes [offset, offset + byte_count) of one array.
  ChunkSender(runtime::Operand array, int64_t offset, int64_t byte_count, ChunkOptions options);
  /// All bytes of several arrays; `index` of each chunk is the array's place. A default operand
  /// holds a place without sending anything.
  ChunkSender(std::vector<runtime::Operand> arrays, ChunkOptions options);

  /// Nothing is left to be sent.
  bool done() const { return array_ == arrays_.size(); }

  /// Pushes the message of the serialised fields `rest` and the next chunk; of `rest` alone when
  /// done. A chunk that has to be staged takes its place in the queue and follows later; this may
  /// be gone by then. `failed` is told where that cannot be done, while the call is held open.
  void Send(const std::string& rest, StreamWriter* writer,
            absl::AnyInvocable<void(const absl::Status&)> failed);

  /// The message that Send would push, of an array that the host can touch.
  transport::Frame Next(const std::string& rest);

 private:
  /// A part of one array, in bytes.
  struct Chunk {
    wire::ChunkHeader header() const {
      return {static_cast<int32_t>(array), bytes.begin, std::nullopt};
    }

    size_t array = 0;
    plan::Range bytes;
  };

  Chunk TakeChunk();
  void SkipFinished();

  const std::vector<runtime::Operand> arrays_;
  const ChunkOptions options_;
  size_t array_ = 0;
  int64_t offset_ = 0;
  int64_t end_ = 0;  // Of the current array.
};

}  // namespace shoal::service
