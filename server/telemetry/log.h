#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string_view>

#include "base/time.h"
#include "server/telemetry/log_limiter.h"
#include "server/telemetry/log_text.h"

namespace shoal::telemetry {

/// Writes log lines to a file descriptor: one event, one line, one write(2).
///
/// Passed by reference; there is no global one. Thread-safe: lines never mix. A line below the
/// level costs one load and one comparison, so that debug lines may stand in hot paths; arguments
/// that are expensive to make belong behind `Enabled`. When the reader of the descriptor stalls, so
/// do the threads that log; when it is gone, lines are counted as lost.
///
///     log.Warning("worker lost", {{"worker", 3}, {"running_count", 17}});
class Logger {
 public:
  struct Options {
    int fd = 2;  ///< Borrowed: outlives the logger.
    LogFormat format = LogFormat::kText;
    LogLevel level = LogLevel::kInfo;
    std::chrono::system_clock::time_point (*now)() = &std::chrono::system_clock::now;
  };
  using Fields = std::initializer_list<LogField>;

  explicit Logger(const Options& options) : options_(options), level_(options.level) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool Enabled(LogLevel level) const { return level >= level_.load(std::memory_order_relaxed); }
  void set_level(LogLevel level) { level_.store(level, std::memory_order_relaxed); }

  void Log(LogLevel level, std::string_view message, Fields fields = {}) {
    if (Enabled(level)) [[unlikely]] {
      Write(level, message, LogFields(fields.begin(), fields.size()));
    }
  }
  void Debug(std::string_view message, Fields fields = {}) {
    Log(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, Fields fields = {}) { Log(LogLevel::kInfo, message, fields); }
  void Warning(std::string_view message, Fields fields = {}) {
    Log(LogLevel::kWarning, message, fields);
  }
  void Error(std::string_view message, Fields fields = {}) {
    Log(LogLevel::kError, message, fields);
  }

  /// Writes the event if `limiter` has room for it. A line that follows swallowed ones says so in
  /// a field of its own, `swallowed_count`.
  void LogLimited(LogLimiter& limiter, LogLevel level, std::string_view message,
                  Fields fields = {});

  /// Lines that could not be written.
  int64_t lost_count() const { return lost_count_.load(std::memory_order_relaxed); }

 private:
  void Write(LogLevel level, std::string_view message, LogFields fields);

  const Options options_;
  std::atomic<LogLevel> level_;
  std::atomic<int64_t> lost_count_{0};
  std::mutex writing_;  // A write beyond a pipe's PIPE_BUF may be cut into pieces.
};

}  // namespace shoal::telemetry
