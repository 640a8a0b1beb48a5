#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "wire/chunk.h"

namespace shoal::internal {

/// A message of the server that may have a chunk.
///
/// Errors: INTERNAL  it is malformed: not the caller's fault, as wire's INVALID_ARGUMENT would say.
absl::StatusOr<wire::ChunkMessage> DecodeServerChunk(const wire::Pieces& message);

/// Gathers the chunks of several arrays straight into their memory.
///
/// Thread-safety: one thread.
class ChunkReceiver {
 public:
  explicit ChunkReceiver(bool checksum) : checksum_(checksum) {}

  /// Array number `slot_count()`: `bytes` bytes at `data`, of which the first `offset` are there.
  void Add(std::byte* data, int64_t bytes, int64_t offset = 0);
  int32_t slot_count() const { return static_cast<int32_t>(slots_.size()); }

  /// Takes a chunk in. After an error nothing of this chunk counts as received.
  ///
  /// Errors:
  ///   DATA_LOSS  the checksum does not match.
  ///   INTERNAL   no such array, out of order, or beyond the end.
  absl::Status Accept(const wire::ChunkMessage& message);

  int64_t received_bytes(int32_t slot) const { return slots_[static_cast<size_t>(slot)].offset; }
  /// Errors: DATA_LOSS  an array is not whole.
  absl::Status CheckWhole() const;

 private:
  struct Slot {
    std::byte* data;
    int64_t bytes;
    int64_t offset;
  };

  const bool checksum_;
  std::vector<Slot> slots_;
};

}  // namespace shoal::internal
