#include "server/telemetry/http_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace shoal::telemetry {
namespace {

absl::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

/// The path of "/x?y", and of "http://host/x", which a proxy may send.
std::string PathOf(absl::string_view target) {
  constexpr absl::string_view kScheme = "http://";
  if (absl::StartsWith(target, kScheme)) {
    const size_t slash = target.find('/', kScheme.size());
    target = slash == absl::string_view::npos ? "/" : target.substr(slash);
  }
  return std::string(target.substr(0, target.find('?')));
}

}  // namespace

std::optional<HttpRequest> ParseRequest(absl::string_view received) {
  // An empty line before the request is passed over, as old clients send one after a body.
  while (absl::StartsWith(received, "\r\n")) received.remove_prefix(2);
  const size_t end = std::min(received.find("\r\n\r\n"), received.find("\n\n"));
  if (end == absl::string_view::npos) return std::nullopt;
  absl::string_view line = received.substr(0, received.find('\n'));
  if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || words[0].empty() || words[1].empty() ||
      !absl::StartsWith(words[2], "HTTP/1.")) {
    return HttpRequest{};
  }
  return HttpRequest{std::string(words[0]), PathOf(words[1])};
}

std::string ResponseText(const HttpResponse& response, bool with_body) {
  return absl::StrCat(
      "HTTP/1.1 ", response.status, " ", Reason(response.status),
      "\r\nContent-Type: ", response.content_type, "\r\nContent-Length: ", response.body.size(),
      response.status == 405 ? "\r\nAllow: GET, HEAD" : "",
      "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n", with_body ? response.body : "");
}

}  // namespace shoal::telemetry
