#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "server/runtime/engine.h"
#include "server/telemetry/log.h"
#include "server/telemetry/throughput.h"

namespace shoal::support {

struct EngineOptions {
  int workers = 2;
  int threads = 1;  ///< A worker.
  int64_t worker_bytes = 8 * kMiB;
  int64_t front_bytes = 8 * kMiB;
  runtime::Limits limits = {};
};

/// Whether this run's engines have workers whose memory the host cannot touch (sealed_device.h):
/// the test programs that use TestEngine run once on each kind, as SHOAL_TEST_DEVICE says.
bool RunsOnSealedDevices();

/// A whole engine, of the real parts, with little memory.
class TestEngine {
 public:
  explicit TestEngine(const EngineOptions& options = {});
  ~TestEngine();

  runtime::Engine& operator*() { return engine_; }
  runtime::Engine* operator->() { return &engine_; }
  runtime::Engine* get() { return &engine_; }

  /// Admits nothing more, and waits until nothing is under way: no call, no kernel that one gave
  /// up.
  void Drain();

  /// Waits until the workers' streams are idle, and the Dones of all work have returned.
  void Settle();

  /// Payload bytes in use, the front end's and all workers'.
  int64_t BytesInUse() const;

  /// The lines that were logged so far.
  std::string Log() const;

 private:
  const int log_fd_;
  telemetry::Logger logger_;
  telemetry::ThroughputTable throughput_;
  runtime::Engine engine_;
};

}  // namespace shoal::support
