#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace shoal {

void CheckFailed(const char* file, int line, const char* message) noexcept {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message);
  std::abort();
}

}  // namespace shoal
