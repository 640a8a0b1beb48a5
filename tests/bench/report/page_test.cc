#include "bench/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "bench/report/document.h"

namespace shoal::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string StoredText() {
  std::ifstream file(SHOAL_TEST_DATA "/results.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string PageOf(const std::string& text) {
  const auto document = ParseDocument("results.json", text);
  EXPECT_TRUE(document.ok()) << document.status();
  return BuildPage({*document});
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PageTest, ShowsEverySectionOfAStoredRun) {
  const std::string page = PageOf(StoredText());
  for (const char* part :
       {"0123456789ab", "Test CPU", "shoal-bench sweep --op put", "--op=put", "0 wrong",
        "<h2>Payload size</h2>", "put, plane tcp", "<h2>Tiny tasks</h2>",
        "<h2>Collectives between embedded workers</h2>", "The mpi4py experiment", "raw Unix socket",
        "<h2>Programs on arrays</h2>", "x + y, float32, 2 threads", "NumPy, out=", "not built",
        "Latency, 99th percentile", "0.960 × gRPC stream"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_GE(CountOf(page, "<svg"), 9U);
  EXPECT_EQ(CountOf(page, "<svg"), CountOf(page, "</svg>"));
  EXPECT_EQ(CountOf(page, "<section>"), CountOf(page, "</section>"));
}

TEST(PageTest, NeedsNothingElse) {
  const std::string page = PageOf(StoredText());
  for (const char* part : {"http://", "https://", "<script", "<link", "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(PageTest, SaysAloudThatSomethingWasWrong) {
  const std::string page =
      PageOf(R"({"head": {}, "rows": [{"bench": "sweep", "subject": "shoal", "wrong": 1234}]})");
  EXPECT_THAT(page, HasSubstr("1,234 wrong bytes or elements"));
  EXPECT_THAT(page, Not(HasSubstr("0 wrong")));
}

TEST(PageTest, HasAColumnForEachPeerOfTheRun) {
  const std::string page = PageOf(
      R"({"head": {}, "rows": [
          {"bench": "tasks", "subject": "shoal", "mode": "batched", "plane": "tcp", "count": 9,
           "ops_per_s": 9000, "ratio": {"dask": 1234}},
          {"bench": "tasks", "subject": "dask", "mode": "batched", "plane": "tcp", "count": 9,
           "ops_per_s": 8, "ratio": {}}]})");
  EXPECT_THAT(page, HasSubstr("÷ Dask"));
  EXPECT_THAT(page, HasSubstr("1234"));
  EXPECT_THAT(page, Not(HasSubstr("÷ ipyparallel")));
  EXPECT_THAT(PageOf(StoredText()), Not(HasSubstr("÷ Dask")));
}

TEST(PageTest, EscapesWhatAFileSays) {
  const std::string page = PageOf(
      R"({"head": {"commit": "<b>x</b>", "command": "a & b"},
          "rows": [{"bench": "sweep", "subject": "<i>", "op": "<u>", "bytes": 8,
                    "gib_per_s": 1}]})");
  for (const char* part : {"<b>x", "<i>\"", "<u>", "a & b"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;x"));
}

TEST(PageTest, TakesRowsOfAnyShape) {
  const std::string page = PageOf(
      R"({"head": 7, "rows": [{}, {"bench": 3}, {"bench": "sweep", "bytes": "many", "ratio": 4},
          {"bench": "tasks", "count": null}, {"bench": "collectives", "ranks": "two"},
          {"bench": "collectives", "iterations": 1, "dot": "perhaps"},
          {"bench": "kernels", "threads": "two", "call_us": 1, "ratio": [1]},
          {"bench": "kernels", "subject": "shoal", "elements": "many"}]})");
  EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(ParseDocumentTest, RefusesWhatIsNoRun) {
  for (const char* text : {"", "{", "[]", "{}", R"({"rows": 1})", R"({"rows": [1]})"}) {
    const auto document = ParseDocument("x.json", text);
    EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(document.status().message()), HasSubstr("x.json"));
  }
}

}  // namespace
}  // namespace shoal::bench
