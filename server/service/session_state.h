#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "base/ids.h"
#include "server/runtime/call_run.h"
#include "server/runtime/engine.h"
#include "server/service/session_output.h"
#include "server/transport/call.h"

namespace shoal::service {

/// What tasks under way share with the stream. Its owners are the stream and each of them.
struct SessionState {
  SessionState(runtime::Engine* the_engine, transport::StreamCall* call)
      : engine(*the_engine), output(call, the_engine->limits.message_bytes()) {}

  runtime::Engine& engine;
  SessionOutput output;

  struct Running {
    TaskId task;                            // Of an empty task.
    std::shared_ptr<runtime::CallRun> run;  // Of any other.
  };
  std::mutex mutex;
  absl::flat_hash_map<uint64_t, Running> running;  // By the client's id.
  std::atomic<bool> cancelled = false;             // Written under the mutex.
};

}  // namespace shoal::service
