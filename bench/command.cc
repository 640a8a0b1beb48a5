#include "bench/command.h"

#include <cstdio>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace shoal::bench {
namespace {

void Complain(const std::string& command, const std::string& text) {
  std::fprintf(stderr, "shoal-bench %s: %s\n", command.c_str(), text.c_str());
}

}  // namespace

std::optional<int> ParseOrExplain(FlagSet* set, absl::Span<const std::string> arguments,
                                  std::vector<std::string>* rest) {
  const absl::StatusOr<std::vector<std::string>> others = set->Parse(arguments);
  if (absl::IsCancelled(others.status())) {
    std::fputs(set->Help().c_str(), stdout);
    return 0;
  }
  if (!others.ok()) {
    Complain(set->command(), std::string(others.status().message()));
    return 2;
  }
  if (rest != nullptr) {
    *rest = *others;
  } else if (!others->empty()) {
    Complain(set->command(), absl::StrCat("what is '", others->front(), "'? See --help"));
    return 2;
  }
  return std::nullopt;
}

int ExitStatus(const std::string& command, std::initializer_list<absl::Status> statuses,
               int64_t wrong) {
  int exit_status = 0;
  for (const absl::Status& status : statuses) {
    if (status.ok()) continue;
    Complain(command, status.ToString());
    if (exit_status == 0) exit_status = absl::IsInvalidArgument(status) ? 2 : 1;
  }
  if (wrong == 0) return exit_status;
  Complain(command, absl::StrCat(wrong, " bytes or elements were wrong"));
  return 1;
}

}  // namespace shoal::bench
