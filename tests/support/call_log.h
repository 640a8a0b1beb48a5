#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "server/telemetry/call_observer.h"

namespace shoal::support {

/// Remembers every call that it is told of.
class CallLog final : public telemetry::CallObserver {
 public:
  struct Entry {
    telemetry::CallRecord record;  // Its span of tasks is empty; they are in `tasks`.
    std::vector<TaskId> tasks;
    int64_t count = 0;
  };

  void OnCalls(const telemetry::CallRecord& record, int64_t count) override {
    Entry entry{record, {record.tasks.begin(), record.tasks.end()}, count};
    entry.record.tasks = {};
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  std::vector<Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace shoal::support
