#include "server/telemetry/http_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal::telemetry {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(HttpTextTest, ARequestIsWholeWithItsEmptyLine) {
  for (const char* part : {"", "GET", "GET /x HTTP/1.1", "GET /x HTTP/1.1\r\n", "\r\n\r\n",
                           "GET /x HTTP/1.1\r\nHost: a\r\n", "GET /x HTTP/1.1\r\nHost: a\r\n\r"}) {
    EXPECT_FALSE(ParseRequest(part).has_value()) << part;
  }
  for (const char* whole :
       {"GET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.0\r\nHost: a\r\n\r\nbody",
        "\r\nGET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1\n\n", "GET /x?y=z HTTP/1.1\r\n\r\n",
        "GET http://host:1/x HTTP/1.1\r\n\r\n"}) {
    const auto request = ParseRequest(whole);
    ASSERT_TRUE(request.has_value()) << whole;
    EXPECT_EQ(request->method, "GET") << whole;
    EXPECT_EQ(request->path, "/x") << whole;
  }
  EXPECT_EQ(ParseRequest("GET http://host HTTP/1.1\r\n\r\n")->path, "/");
}

TEST(HttpTextTest, WhatIsNotHttp1HasNoMethod) {
  for (const char* bad :
       {"hello\r\n\r\n", "GET /x\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / x HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\n", " / HTTP/1.1\n\n"}) {
    const auto request = ParseRequest(bad);
    ASSERT_TRUE(request.has_value()) << bad;
    EXPECT_EQ(request->method, "") << bad;
  }
}

TEST(HttpTextTest, ResponsesAreFramedAndEndTheirConnection) {
  const HttpResponse response{.status = 503, .body = "draining\n"};
  const std::string text = ResponseText(response, true);
  EXPECT_THAT(text, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 9\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\ndraining\n"));
  const std::string head = ResponseText(response, false);
  EXPECT_THAT(head, HasSubstr("\r\nContent-Length: 9\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Allow")));
  EXPECT_THAT(ResponseText({.status = 405}, true), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

}  // namespace
}  // namespace shoal::telemetry
