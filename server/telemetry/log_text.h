#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace shoal::telemetry {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : uint8_t { kText, kJson };

/// One `key=value` of a log line. Borrows its strings: valid for the expression that makes it.
///
/// Keys are words of our own (`[a-z_]+`, the unit last: "queue_us"), and not "time", "level" or
/// "message". Values may hold any bytes, a peer's included.
class LogField {
 public:
  using Value = std::variant<std::string_view, int64_t, uint64_t, double, bool>;

  constexpr LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  constexpr LogField(std::string_view key, const char* value)
      : key_(key), value_(std::string_view(value)) {}
  constexpr LogField(std::string_view key, const std::string& value)
      : key_(key), value_(std::string_view(value)) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr LogField(std::string_view key, T value) : key_(key) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      value_ = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      value_ = static_cast<int64_t>(value);
    } else {
      value_ = static_cast<uint64_t>(value);
    }
  }

  std::string_view key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

using LogFields = std::span<const LogField>;

/// One event, before it is written.
struct LogLine {
  std::chrono::system_clock::time_point time;
  LogLevel level;
  std::string_view message;
  LogFields fields;
};

/// A message or value longer than this is cut there, at a character's border, and ends in "...".
inline constexpr size_t kLogTextMax = 4096;

/// The line with its line feed, and with no other in it: whatever a peer put into a value, it
/// stays one event.
///
/// Text: `2026-01-31T12:00:00.000123Z warning message key=value key="a value"`. Values with
/// blanks, quotes, '=' or control characters are quoted and escaped as in C; the message is only
/// escaped. JSON: `{"time":…,"level":…,"message":…,"key":…}`, in this order, numbers and booleans
/// as such, infinities and NaN as strings. Bytes that are not UTF-8 become U+FFFD in both.
std::string FormatLogLine(LogFormat format, const LogLine& line);

/// "debug", "info", "warning", "error".
std::string_view Name(LogLevel level);

}  // namespace shoal::telemetry
