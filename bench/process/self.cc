#include "bench/process/self.h"

#include <unistd.h>

#include <array>

#include "absl/strings/str_cat.h"

namespace shoal::bench {

std::string PathBesideProgram(const std::string& relative) {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), static_cast<size_t>(length > 0 ? length : 0));
  return absl::StrCat(self.substr(0, self.rfind('/') + 1), relative);
}

}  // namespace shoal::bench
