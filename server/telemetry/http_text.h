#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// The little of HTTP/1.1 (RFC 9112) that probes and scrapers speak.

namespace shoal::telemetry {

struct HttpRequest {
  std::string method;  ///< Empty: what came is not HTTP/1.
  std::string path;    ///< Without the query.
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

/// The request whose head `received` begins with; nothing while its empty line has not come. Header
/// fields and bodies are not looked at.
std::optional<HttpRequest> ParseRequest(absl::string_view received);

/// The answer as it is sent, the last of its connection. To HEAD it goes without its body.
std::string ResponseText(const HttpResponse& response, bool with_body);

}  // namespace shoal::telemetry
