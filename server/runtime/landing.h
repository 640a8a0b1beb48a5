#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/device/stream.h"
#include "server/runtime/operand.h"
#include "wire/chunk.h"

namespace shoal::runtime {

/// Where the chunks of one array come down: each byte goes from the message it came in straight to
/// the shard it belongs to, in one copy. Where the host cannot touch the array, that copy is the
/// device's, and comes after the check: see `Stage`.
///
/// Thread-safety: one thread at a time.
class Landing {
 public:
  /// Goes on at `landed_bytes`. The operand keeps its memory alive.
  Landing(Operand target, int64_t chunk_bytes_max, int64_t landed_bytes = 0)
      : target_(std::move(target)),
        chunk_bytes_max_(chunk_bytes_max),
        total_bytes_(target_.bytes()),
        landed_bytes_(landed_bytes),
        footprint_bytes_(total_bytes_),
        staged_(!target_.host_addressable()) {}

  /// What lands is read again at once: it stays in the caches, however large the array.
  void WillBeReadSoon() { footprint_bytes_ = 0; }

  /// Takes the next chunk.
  ///
  /// Errors, with nothing counted as landed:
  ///   INVALID_ARGUMENT  not the next offset, beyond the end, empty, or too long.
  ///   DATA_LOSS         its checksum does not match; sending it again may help.
  absl::Status Land(const wire::ChunkMessage& chunk);

  /// Whether a chunk that Land took still has to be brought to the array, by Stage.
  bool staged() const { return staged_; }

  /// Has a chunk that Land took brought to the array; `done` is told once its bytes are there.
  ///
  /// Lifetime: the chunk's bytes and the array until `done`, which may be told before this returns.
  void Stage(const wire::ChunkMessage& chunk, device::Done done) const;

  const Operand& target() const { return target_; }
  int64_t landed_bytes() const { return landed_bytes_; }
  int64_t total_bytes() const { return total_bytes_; }
  bool complete() const { return landed_bytes_ == total_bytes_; }

 private:
  Operand target_;
  int64_t chunk_bytes_max_;
  int64_t total_bytes_;
  int64_t landed_bytes_;
  int64_t footprint_bytes_;  // For CopyBytes.
  bool staged_;
};

/// Checks that a chunk is the next of an array of `total_bytes`. Errors: INVALID_ARGUMENT.
absl::Status CheckChunk(const wire::ChunkMessage& chunk, int64_t expected_offset,
                        int64_t total_bytes, int64_t chunk_bytes_max);

/// DATA_LOSS, naming the chunk.
absl::Status ChecksumError(const wire::ChunkMessage& chunk, uint32_t computed);

}  // namespace shoal::runtime
