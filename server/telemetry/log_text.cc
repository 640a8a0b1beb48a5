#include "server/telemetry/log_text.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/check.h"

namespace shoal::telemetry {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the well-formed UTF-8 character at the start of `text` (Unicode, table 3-7), or 0.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : bytes;
}

// Appends one ASCII character so that it can stand between quotes, in JSON as in C.
void AppendEscaped(char c, bool escape_quotes, std::string* out) {
  switch (c) {
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '"':
      *out += escape_quotes ? "\\\"" : "\"";
      return;
    default:
      break;
  }
  if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
    absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned>(c));
  } else {
    *out += c;
  }
}

void AppendSafe(std::string_view text, bool escape_quotes, std::string* out) {
  const size_t end = out->size() + kLogTextMax;
  while (!text.empty()) {
    if (out->size() >= end) {
      *out += "...";
      return;
    }
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      *out += kReplacement;
    } else if (bytes == 1) {
      AppendEscaped(text[0], escape_quotes, out);
    } else {
      out->append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  AppendSafe(text, true, out);
  *out += '"';
}

bool IsPlainWord(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (static_cast<uint8_t>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7F) {
      return false;
    }
  }
  return true;
}

void AppendValue(const LogField::Value& value, LogFormat format, std::string* out) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (format == LogFormat::kText && IsPlainWord(*text)) {
      AppendSafe(*text, true, out);
    } else {
      AppendQuoted(*text, out);
    }
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    *out += *truth ? "true" : "false";
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    absl::StrAppend(out, *whole);
  } else if (const auto* natural = std::get_if<uint64_t>(&value)) {
    absl::StrAppend(out, *natural);
  } else if (const double real = std::get<double>(value);
             std::isfinite(real) || format == LogFormat::kText) {
    char buffer[32];
    const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), real);
    out->append(buffer, end.ptr);
  } else {
    *out += std::isnan(real) ? "\"nan\"" : real > 0 ? "\"inf\"" : "\"-inf\"";
  }
}

std::string FormatTimestamp(std::chrono::system_clock::time_point time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromChrono(time), absl::UTCTimeZone());
}

}  // namespace

std::string_view Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  SHOAL_UNREACHABLE("log level");
}

std::string FormatLogLine(LogFormat format, const LogLine& line) {
  std::string out;
  out.reserve(256);
  const std::string_view level = Name(line.level);
  if (format == LogFormat::kText) {
    out.append(FormatTimestamp(line.time)).append(1, ' ').append(level).append(1, ' ');
    AppendSafe(line.message, false, &out);
  } else {
    out.append(R"({"time":")").append(FormatTimestamp(line.time));
    out.append(R"(","level":")").append(level).append(R"(","message":)");
    AppendQuoted(line.message, &out);
  }
  for (const LogField& field : line.fields) {
    out += format == LogFormat::kText ? " " : ",\"";
    AppendSafe(field.key(), true, &out);
    out += format == LogFormat::kText ? "=" : "\":";
    AppendValue(field.value(), format, &out);
  }
  out += format == LogFormat::kText ? "\n" : "}\n";
  return out;
}

}  // namespace shoal::telemetry
