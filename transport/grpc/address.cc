#include "transport/grpc/address.h"

#include <sys/un.h>

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace shoal::transport {
namespace {

absl::Status Refused(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("address \"", address, "\": ", why));
}

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  // SimpleAtoi would also take signs and blanks.
  return text.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(text, &port) && port >= 1 && port <= UINT16_MAX;
}

}  // namespace

absl::Status CheckAddress(const std::string& address) {
  absl::string_view rest = address;
  if (rest.empty()) return absl::InvalidArgumentError("address is empty");
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (rest.empty()) return Refused(address, "no path");
    return rest.size() < sizeof(sockaddr_un::sun_path)
               ? absl::OkStatus()
               : Refused(address, "the path is too long for a socket");
  }
  for (const char* scheme : {"dns:", "ipv4:", "ipv6:"}) {
    if (!absl::ConsumePrefix(&rest, scheme)) continue;
    // What is before the last slash names a DNS server.
    if (absl::StartsWith(rest, "//")) rest.remove_prefix(rest.rfind('/') + 1);
    break;
  }
  const size_t colon = rest.rfind(':');
  if (colon == absl::string_view::npos || rest.back() == ']') return Refused(address, "no port");
  const absl::string_view host = rest.substr(0, colon);
  if (host.empty()) return Refused(address, "no host");
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find_first_of("[]") != absl::string_view::npos) {
    return Refused(address, "brackets that hold no host");
  }
  if (!bracketed && host.find(':') != absl::string_view::npos) {
    return Refused(address, "an IPv6 host goes in brackets");
  }
  if (!IsPort(rest.substr(colon + 1))) return Refused(address, "the port is not one of 1 to 65535");
  return absl::OkStatus();
}

}  // namespace shoal::transport
