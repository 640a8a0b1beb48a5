#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace shoal::memory {

/// Memory that two processes may share: a sealed memfd and this process's mapping of it.
///
/// The file has no name, lives as long as a descriptor or a mapping of it, and is sealed against
/// every change of size, so that no peer can turn a read of ours into SIGBUS by truncating it.
/// Pages are zero and cost nothing until they are touched.
///
/// Ownership: owns descriptor and mapping; both go with the object. The peer keeps its own.
/// Thread-safety: as a value. The bytes are shared with whoever holds the descriptor: nothing
///   that was validated may be read from them a second time.
class Region {
 public:
  Region() = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region();

  /// A new region of `bytes` (rounded up to whole pages), all zero, readable and writable.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    `bytes` is not in [1, 2^62].
  ///   RESOURCE_EXHAUSTED  the kernel gave no descriptor or no address space.
  static absl::StatusOr<Region> Create(int64_t bytes);

  /// Maps a region that another process made, as received over a Unix socket.
  ///
  /// Ownership: takes `fd`, also when it fails.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    not a memfd, not sealed against shrinking and growing, or smaller than
  ///                       `bytes`; or `bytes` is not positive.
  ///   RESOURCE_EXHAUSTED  no address space.
  static absl::StatusOr<Region> Map(int fd, int64_t bytes);

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// Stays owned by the region; to be sent, not closed. -1 for an empty region.
  int fd() const { return fd_; }

  /// Whether [offset, offset + bytes) lies inside: for numbers that come from a peer.
  ///
  /// Errors:
  ///   OUT_OF_RANGE  it does not, or the sum does not fit in 64 bits.
  absl::Status CheckRange(int64_t offset, int64_t bytes) const;

  /// Gives the pages wholly inside [offset, offset + bytes) back to the system; they read as
  /// zero afterwards, in every process.
  absl::Status Punch(int64_t offset, int64_t bytes);

 private:
  Region(int fd, std::byte* data, int64_t bytes) : fd_(fd), data_(data), bytes_(bytes) {}
  static absl::StatusOr<Region> MapOwned(int fd, int64_t bytes);
  void Reset() noexcept;

  int fd_ = -1;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace shoal::memory
