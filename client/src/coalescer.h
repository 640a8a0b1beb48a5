#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "shoal/options.h"

namespace shoal::internal {

/// When the tasks of a session that wait to be sent are sent. Pure: time comes with each event.
///
/// At once when idle: nothing is unanswered, or the last message went long ago, or it carried one
/// task (so that a lone caller is never made to wait). Else when `flush_tasks` or `flush_bytes`
/// have gathered, or `flush_delay` after the first.
class Coalescer {
 public:
  explicit Coalescer(const SessionOptions& options) : options_(options) {}

  /// Tasks were added to those that wait.
  void Added(Instant now, int64_t tasks, int64_t bytes);

  /// True: send now. `unanswered`: tasks that were sent and have not ended.
  bool Due(Instant now, int64_t unanswered) const;

  /// When `Due` will turn true by itself; nothing if no task waits.
  std::optional<Instant> DueAt() const;

  /// That many of the tasks that wait have left in one message.
  void Flushed(Instant now, int64_t tasks, int64_t bytes);

  int64_t waiting_tasks() const { return waiting_tasks_; }

 private:
  const SessionOptions options_;
  int64_t waiting_tasks_ = 0;
  int64_t waiting_bytes_ = 0;
  Instant first_{};  // When the oldest that waits was added; later ones count as old as it.
  std::optional<Instant> last_flush_;
  int64_t last_flush_tasks_ = 0;
};

}  // namespace shoal::internal
