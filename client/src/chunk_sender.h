#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/strings/string_view.h"
#include "shoal/array.h"
#include "transport/message.h"

namespace shoal::internal {

struct StreamOptions {
  int64_t chunk_bytes = 0;    ///< At least 1.
  int32_t credit_chunks = 0;  ///< At least 1.
  bool checksum = true;
};

/// Cuts arrays into chunk messages, in order, no more at a time than the peer has credits for.
///
/// Thread-safety: one thread.
class ChunkSender {
 public:
  explicit ChunkSender(const StreamOptions& options) : options_(options) {}

  /// Adds the bytes of `array` from `offset` on. Lifetime: `array` outlives the sender.
  void Add(const Array& array, int32_t index, int64_t offset = 0);

  /// All has been handed out.
  bool done() const { return current_ == sources_.size(); }
  /// There is more, and a credit for it.
  bool may_send() const;

  /// The next chunk, in a message that begins with the encoded fields `rest`; if there is none, a
  /// message of these alone. For a stream: payload of borrowed arrays has no owner.
  transport::Frame Next(absl::string_view rest);

  /// That many bytes of what was added have arrived, in all. A number that cannot be is ignored.
  void Acknowledge(int64_t total_bytes);
  int64_t acknowledged_bytes() const { return acknowledged_bytes_; }

 private:
  struct Source {
    const Array* array;
    int32_t index;
    int64_t offset;  // Of what is to be sent next.
  };
  void SkipFinished();

  const StreamOptions options_;
  std::vector<Source> sources_;
  size_t current_ = 0;
  int64_t sent_bytes_ = 0;
  int64_t acknowledged_bytes_ = 0;
  std::deque<int64_t> chunk_ends_;  // Of the unacknowledged chunks, in bytes sent.
};

}  // namespace shoal::internal
