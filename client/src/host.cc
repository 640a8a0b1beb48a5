#include "client/src/host.h"

#include <sys/stat.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace shoal::internal {

std::string LocalHostId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  struct stat facts {};
  if (!std::getline(file, boot_id) || stat("/proc/self/ns/net", &facts) != 0) return {};
  return absl::StrCat(boot_id, ":", static_cast<uint64_t>(facts.st_ino));
}

bool IsUnixAddress(const std::string& address) { return absl::StartsWith(address, "unix:"); }

}  // namespace shoal::internal
