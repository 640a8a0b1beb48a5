#include "server/telemetry/log_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace shoal::telemetry {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::system_clock::time_point kTime{std::chrono::microseconds(1769860800000123)};

std::string Format(LogFormat format, std::string_view message,
                   std::initializer_list<LogField> fields) {
  return FormatLogLine(format, {.time = kTime,
                                .level = LogLevel::kWarning,
                                .message = message,
                                .fields = LogFields(fields.begin(), fields.size())});
}

std::string Text(std::string_view value) { return Format(LogFormat::kText, "m", {{"k", value}}); }
std::string Json(std::string_view value) { return Format(LogFormat::kJson, "m", {{"k", value}}); }

TEST(LogTextTest, TextReadsAsWordsAndJsonAsOneObject) {
  const int64_t big = std::numeric_limits<int64_t>::min();
  const uint64_t huge = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(Format(LogFormat::kText, "worker lost",
                   {{"worker", 3},
                    {"name", "a b"},
                    {"big", big},
                    {"huge", huge},
                    {"ratio", 0.5},
                    {"safe", true},
                    {"kind", "cpu"}}),
            "2026-01-31T12:00:00.000123Z warning worker lost worker=3 name=\"a b\" "
            "big=-9223372036854775808 huge=18446744073709551615 ratio=0.5 safe=true kind=cpu\n");
  EXPECT_EQ(Format(LogFormat::kJson, "worker lost",
                   {{"worker", 3}, {"name", "a b"}, {"ratio", 0.5}, {"safe", false}}),
            "{\"time\":\"2026-01-31T12:00:00.000123Z\",\"level\":\"warning\","
            "\"message\":\"worker lost\",\"worker\":3,\"name\":\"a b\",\"ratio\":0.5,"
            "\"safe\":false}\n");
}

TEST(LogTextTest, NothingAPeerSendsStartsASecondLine) {
  const std::string evil = "a\nb\r\t\"\\\x01\x7f" + std::string(1, '\0');
  const std::string escaped = "\"a\\nb\\r\\t\\\"\\\\\\u0001\\u007f\\u0000\"";
  EXPECT_THAT(Text(evil), HasSubstr("k=" + escaped + "\n"));
  EXPECT_THAT(Json(evil), HasSubstr("\"k\":" + escaped + "}\n"));
  const std::string message = Format(LogFormat::kText, "two\nlines \"quoted\"", {});
  EXPECT_THAT(message, HasSubstr("warning two\\nlines \"quoted\"\n"));
}

TEST(LogTextTest, InvalidUtf8IsReplacedByteByByte) {
  struct Case {
    std::string bytes, shown;
  };
  const std::string r = "\xEF\xBF\xBD";
  const std::array<Case, 9> cases = {{
      {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9F", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9F"},
      {"\xFF", r},
      {"\xC3", r},                          // cut short
      {"\xC0\xAF", r + r},                  // overlong
      {"\xE0\x80\xAF", r + r + r},          // overlong
      {"\xED\xA0\x80", r + r + r},          // a surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // beyond U+10FFFF
      {"\xF0\x80\x80\x80", r + r + r + r},  // overlong
      {"a\x80z", "a" + r + "z"},
  }};
  for (const Case& each : cases) {
    EXPECT_THAT(Json(each.bytes), HasSubstr("\"k\":\"" + each.shown + "\"}"));
    EXPECT_THAT(Text(each.bytes), HasSubstr("k=" + each.shown + "\n"));
  }
}

TEST(LogTextTest, AValueIsQuotedOnlyWhereAReaderNeedsIt) {
  EXPECT_THAT(Text("plain-word/1.5:x"), HasSubstr("k=plain-word/1.5:x\n"));
  EXPECT_THAT(Text(""), HasSubstr("k=\"\"\n"));
  EXPECT_THAT(Text("a=b"), HasSubstr("k=\"a=b\"\n"));
}

TEST(LogTextTest, WhatJsonHasNoNumberForIsAString) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Format(LogFormat::kJson, "m", {{"a", inf}, {"b", -inf}, {"c", nan}}),
              HasSubstr("\"a\":\"inf\",\"b\":\"-inf\",\"c\":\"nan\"}"));
  EXPECT_THAT(Format(LogFormat::kText, "m", {{"a", inf}}), HasSubstr(" a=inf\n"));
}

TEST(LogTextTest, LongValuesAreCutAtACharacter) {
  std::string bytes;
  while (bytes.size() < 2 * kLogTextMax) bytes += "\xE2\x82\xAC";
  const std::string line = Json(bytes);
  EXPECT_LT(line.size(), kLogTextMax + 200);
  EXPECT_THAT(line, HasSubstr("\xE2\x82\xAC...\"}\n"));
}

}  // namespace
}  // namespace shoal::telemetry
