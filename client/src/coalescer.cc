#include "client/src/coalescer.h"

#include "base/check.h"

namespace shoal::internal {

void Coalescer::Added(Instant now, int64_t tasks, int64_t bytes) {
  if (waiting_tasks_ == 0) first_ = now;
  waiting_tasks_ += tasks;
  waiting_bytes_ += bytes;
}

bool Coalescer::Due(Instant now, int64_t unanswered) const {
  if (waiting_tasks_ == 0) return false;
  if (waiting_tasks_ >= options_.flush_tasks || waiting_bytes_ >= options_.flush_bytes) return true;
  const bool idle = unanswered == 0 || last_flush_tasks_ <= 1 || !last_flush_.has_value() ||
                    now - *last_flush_ >= options_.flush_delay;
  return idle || now - first_ >= options_.flush_delay;
}

std::optional<Instant> Coalescer::DueAt() const {
  if (waiting_tasks_ == 0) return std::nullopt;
  return first_ + options_.flush_delay;
}

void Coalescer::Flushed(Instant now, int64_t tasks, int64_t bytes) {
  SHOAL_CHECK(tasks <= waiting_tasks_ && bytes <= waiting_bytes_);
  waiting_tasks_ -= tasks;
  waiting_bytes_ -= bytes;
  last_flush_ = now;
  last_flush_tasks_ = tasks;
}

}  // namespace shoal::internal
