#include "server/transport/servers.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/start_thread.h"
#include "base/status.h"

namespace shoal::transport {
namespace {

/// The listeners that one server can have together, and where their ports belong.
struct Group {
  std::vector<Endpoint> endpoints;
  std::vector<size_t> places;
};
using GroupKey = std::pair<std::string, std::vector<std::string>>;  // Scheme, services by name.

class Servers final : public Server {
 public:
  Servers(size_t listener_count, std::vector<std::string> services)
      : ports_(listener_count, 0), services_(std::move(services)) {}

  void Add(std::unique_ptr<Server> server, std::vector<std::string> services,
           const std::vector<size_t>& places) {
    for (size_t i = 0; i < places.size(); ++i) ports_[places[i]] = server->Ports()[i];
    parts_.push_back({std::move(server), std::move(services)});
  }

  const std::vector<int>& Ports() const override { return ports_; }

  void SetServing(const std::string& name, bool serving) override {
    const bool is_service = Contains(services_, name);
    for (const Part& part : parts_) {
      if (is_service && !part.services.empty() && !Contains(part.services, name)) continue;
      part.server->SetServing(name, serving);
    }
  }

  void Shutdown(Duration grace) override {
    // One after the other, the last would accept calls for as long as the first waits.
    std::vector<std::thread> others;
    for (size_t i = 1; i < parts_.size(); ++i) {
      Server* const server = parts_[i].server.get();
      auto other = StartThread([server, grace] { server->Shutdown(grace); });
      if (other.ok()) {
        others.push_back(*std::move(other));
      } else {
        server->Shutdown(grace);
      }
    }
    if (!parts_.empty()) parts_[0].server->Shutdown(grace);
    for (std::thread& other : others) other.join();
  }

 private:
  struct Part {
    std::unique_ptr<Server> server;
    std::vector<std::string> services;  // Empty: all.
  };

  static bool Contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::vector<int> ports_;
  const std::vector<std::string> services_;
  std::vector<Part> parts_;
};

absl::StatusOr<Transport> FindTransport(absl::Span<const Transport> table,
                                        const std::string& scheme) {
  for (const Transport& transport : table) {
    if (transport.scheme == scheme) return transport;
  }
  return absl::InvalidArgumentError(absl::StrCat("no transport '", scheme, "' is built in"));
}

absl::StatusOr<std::vector<ServiceTable>> Choose(const std::vector<ServiceTable>& services,
                                                 const std::vector<std::string>& names) {
  if (names.empty()) return services;
  std::vector<ServiceTable> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(services.begin(), services.end(),
                                    [&](const ServiceTable& table) { return table.name == name; });
    if (found == services.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no service '", name, "'"));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

absl::StatusOr<std::unique_ptr<Server>> StartGroup(const ServersSetup& setup, const GroupKey& key,
                                                   const Group& group, int64_t server_count) {
  SHOAL_ASSIGN_OR_RETURN(const Transport transport, FindTransport(setup.transports, key.first));
  SHOAL_ASSIGN_OR_RETURN(std::vector<ServiceTable> chosen, Choose(setup.services, key.second));
  ServerOptions options = setup.options;
  options.endpoints = group.endpoints;
  // Each its share, so that together they keep to it.
  options.connections_max = std::max<int64_t>(setup.options.connections_max / server_count, 1);
  return transport.start(options, std::move(chosen));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> StartServers(const ServersSetup& setup) {
  SHOAL_CHECK(!setup.listeners.empty());
  std::map<GroupKey, Group> groups;
  for (size_t i = 0; i < setup.listeners.size(); ++i) {
    const Listener& listener = setup.listeners[i];
    Group& group = groups[{listener.scheme, listener.services}];
    group.endpoints.push_back(listener.endpoint);
    group.places.push_back(i);
  }
  std::vector<std::string> names;
  for (const ServiceTable& table : setup.services) names.push_back(table.name);
  auto servers = std::make_unique<Servers>(setup.listeners.size(), std::move(names));
  for (const auto& [key, group] : groups) {
    auto server = StartGroup(setup, key, group, static_cast<int64_t>(groups.size()));
    if (!server.ok()) {
      servers->Shutdown(Duration::zero());  // Those before it may have accepted calls.
      return server.status();
    }
    servers->Add(*std::move(server), key.second, group.places);
  }
  return servers;
}

}  // namespace shoal::transport
