#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/src/buffer_pool.h"
#include "shoal/session.h"
#include "transport/message.h"
#include "wire/chunk.h"

// A session's messages by hand: at millions of tasks a second there is no time for an object each.
namespace shoal::internal {

/// Writes one SessionRequest.
class SessionWriter {
 public:
  SessionWriter() = default;
  ~SessionWriter();
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  void Open(bool ordered);
  /// Tasks with the ids first, first + 1, ...; `encoded` is the rest of each (PreparedCall).
  void Tasks(uint64_t first, int64_t count, const std::string& encoded);
  void Cancel(absl::Span<const uint64_t> ids);

  /// The message. The writer is empty again.
  transport::Frame Take();

  /// An upper bound of the bytes of one task.
  static int64_t TaskBytes(const std::string& encoded) {
    return static_cast<int64_t>(encoded.size()) + kTaskOverhead;
  }

 private:
  static constexpr int64_t kTaskOverhead = 24;  // Two tags, a length, an id.

  uint8_t* Reserve(size_t bytes);

  uint8_t* data_ = nullptr;  // From malloc: grows in place, and is not filled first.
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// What a SessionResponse says.
struct SessionReply {
  std::optional<int64_t> credits;
  std::vector<uint64_t> done;
  std::vector<TaskResult> results;
};

/// Reads a SessionResponse into `reply`, whose vectors are emptied first. Payload goes into memory
/// from `pool`, if that is not null.
///
/// Errors: INTERNAL  malformed.
absl::Status DecodeSessionReply(const wire::Pieces& message, BufferPool* pool, SessionReply* reply);

}  // namespace shoal::internal
