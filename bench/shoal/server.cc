#include "bench/shoal/server.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "bench/process/self.h"
#include "bench/process/usage.h"

namespace shoal::bench {
namespace {

constexpr char kAddressLine[] = "shoald: listening on ";

}  // namespace

absl::StatusOr<Server> StartServer(const ServerOptions& options) {
  Server server;
  server.address = options.address;
  if (!options.address.empty()) return server;

  const std::string program = PathBesideProgram("shoald");
  if (access(program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("no ", program, "; name a running server with --address"));
  }
  std::vector<std::string> arguments = {program, "--port",      "0",      "--http-port",
                                        "-1",    "--log-level", "warning"};
  if (options.workers > 0) {
    arguments.insert(arguments.end(), {"--workers", absl::StrCat(options.workers)});
  }
  for (const absl::string_view flag : absl::StrSplit(options.extra_flags, ' ', absl::SkipEmpty())) {
    arguments.emplace_back(flag);
  }
  SHOAL_ASSIGN_OR_RETURN(server.child, Child::Start(arguments));
  SHOAL_ASSIGN_OR_RETURN(server.address,
                         server.child->AwaitLine(kAddressLine, std::chrono::seconds(30)));
  server.idle_rss_bytes = ResidentBytes(server.pid());
  return server;
}

}  // namespace shoal::bench
