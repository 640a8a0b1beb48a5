#include "bench/ceilings/server_process.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/ceilings/grpc_server.h"
#include "bench/ceilings/raw_server.h"
#include "bench/ceilings/socket.h"

namespace shoal::bench {
namespace {

constexpr char kAddressLine[] = "ceiling: listening on ";

void Announce(const std::string& address) {
  std::printf("%s%s\n", kAddressLine, address.c_str());
  std::fflush(stdout);
}

absl::Status Serve(const CeilingServerOptions& options) {
  if (options.kind == "grpc") return ServeGrpc(options.plane, Announce);
  SHOAL_ASSIGN_OR_RETURN(const Listener listener, Listen(options.plane));
  Announce(listener.address);
  return options.kind == "signal" ? ServeSignal(listener) : ServeRaw(listener);
}

// The parent holds the other end of our standard input: it closes however the parent ends.
void EndWithParent() {
  std::thread([] {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    std::_Exit(EXIT_SUCCESS);
  }).detach();
}

}  // namespace

absl::StatusOr<CeilingServer> StartCeilingServer(const CeilingServerOptions& options) {
  CeilingServer server;
  SHOAL_ASSIGN_OR_RETURN(server.child, Child::Start({"/proc/self/exe", "serve-ceiling", "--kind",
                                                     options.kind, "--plane", options.plane}));
  SHOAL_ASSIGN_OR_RETURN(server.address,
                         server.child->AwaitLine(kAddressLine, std::chrono::seconds(20)));
  return server;
}

int ServeCeiling(const CeilingServerOptions& options) {
  EndWithParent();
  const absl::Status status = Serve(options);
  std::fprintf(stderr, "serve-ceiling: %s\n", status.ToString().c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace shoal::bench
