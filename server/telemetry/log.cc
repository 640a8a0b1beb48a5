#include "server/telemetry/log.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace shoal::telemetry {

void Logger::LogLimited(LogLimiter& limiter, LogLevel level, std::string_view message,
                        Fields fields) {
  if (!Enabled(level)) return;
  const Instant now(std::chrono::steady_clock::now().time_since_epoch());
  const std::optional<int64_t> swallowed = limiter.Admit(now);
  if (!swallowed.has_value()) return;
  std::vector<LogField> all(fields);
  if (*swallowed > 0) all.emplace_back("swallowed_count", *swallowed);
  Write(level, message, all);
}

void Logger::Write(LogLevel level, std::string_view message, LogFields fields) {
  const std::string line =
      FormatLogLine(options_.format,
                    {.time = options_.now(), .level = level, .message = message, .fields = fields});
  std::string_view rest = line;
  const std::scoped_lock lock(writing_);
  while (!rest.empty()) {
    const ssize_t written = ::write(options_.fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      lost_count_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace shoal::telemetry
