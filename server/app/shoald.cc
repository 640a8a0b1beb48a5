#include <malloc.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX, beyond <csignal>.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/option_text.h"
#include "base/options.h"
#include "base/start_thread.h"
#include "base/units.h"
#include "server/app/config.h"
#include "server/app/front_end.h"
#include "server/app/shoald_options.h"

namespace shoal::app {
namespace {

constexpr int kUsageError = 2;

std::optional<std::string> Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

/// Payload never comes from malloc; what gRPC takes from it comes and goes by the megabyte. Kept
/// rather than given back, it costs no page faults, and few arenas keep it in one place.
void TuneAllocator() {
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
}

/// The signals that stop the server, blocked in this thread and all that it starts.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int WaitFor(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

void PrintAddresses(const Config& config, const FrontEnd& front_end) {
  std::cout << "shoald: listening on " << HostAndPort(config.host, front_end.port()) << "\n";
  if (!front_end.unix_socket().empty()) {
    std::cout << "shoald: unix socket " << front_end.unix_socket() << "\n";
  }
  if (front_end.http_port() >= 0) {
    std::cout << "shoald: http on " << HostAndPort(config.host, front_end.http_port()) << "\n";
  }
  std::cout << "shoald: ready" << std::endl;  // Whoever started us waits for this line.
}

int Serve(const Config& config) {
  const sigset_t signals = BlockStopSignals();
  auto front_end = FrontEnd::Start(config);
  if (!front_end.ok()) {
    std::cerr << "shoald: " << front_end.status().message() << "\n";
    return EXIT_FAILURE;
  }
  PrintAddresses(config, **front_end);
  (*front_end)
      ->logger()
      .Info("serving", {{"workers", config.workers},
                        {"threads", config.threads},
                        {"memory_limit", FormatBytes(config.memory_limit_bytes)}});
  WaitFor(signals);
  // While calls finish, a second signal stops the process where it stands. Without a thread for it
  // the drain timeout does.
  auto second = StartThread([signals, remove = (*front_end)->sockets().Remover()] {
    WaitFor(signals);
    remove();
    std::_Exit(EXIT_FAILURE);
  });
  if (second.ok()) second->detach();
  (*front_end)->Shutdown(config.drain_timeout);
  (*front_end)->logger().Info("stopped");
  return EXIT_SUCCESS;
}

int Main(const std::vector<std::string>& arguments) {
  const auto options = ParseOptions(ShoaldOptions(), arguments, Environment);
  if (!options.ok()) {
    std::cerr << "shoald: " << options.status().message() << "\n";
    return kUsageError;
  }
  if (options->help_wanted()) {
    std::cout << HelpText(ShoaldOptions(), "");
    return EXIT_SUCCESS;
  }
  if (options->version_wanted()) {
    std::cout << "shoald " << SHOAL_VERSION << "\n";
    return EXIT_SUCCESS;
  }
  if (options->show_config_wanted()) {
    std::cout << ConfigText(*options);
    return EXIT_SUCCESS;
  }
  RaiseDescriptorLimit();
  const auto config = MakeConfig(*options, ThisMachine());
  if (!config.ok()) {
    std::cerr << "shoald: " << config.status().message() << "\n";
    return config.status().code() == absl::StatusCode::kInvalidArgument ? kUsageError
                                                                        : EXIT_FAILURE;
  }
  return Serve(*config);
}

}  // namespace
}  // namespace shoal::app

int main(int argc, char** argv) {
  shoal::app::TuneAllocator();
  // Whoever reads what is logged may go away; the lines are counted as lost then.
  signal(SIGPIPE, SIG_IGN);
  return shoal::app::Main({argv + 1, argv + argc});
}
