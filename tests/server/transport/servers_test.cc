#include "server/transport/servers.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/inbox.h"

namespace shoal::transport {
namespace {

/// What the servers of the two transports below are and were told.
struct Started {
  std::string transport;
  std::vector<std::string> addresses;
  std::vector<std::string> services;
  std::map<std::string, bool> health;
  int64_t connections_max = 0;
  bool stopped = false;
};
std::vector<std::shared_ptr<Started>>* started = nullptr;  // Of the test that runs.
support::Inbox<bool>* stops = nullptr;                     // If set, a shutdown waits for all.

class FakeServer final : public Server {
 public:
  FakeServer(std::shared_ptr<Started> record, std::vector<int> ports)
      : record_(std::move(record)), ports_(std::move(ports)) {}

  const std::vector<int>& Ports() const override { return ports_; }
  void SetServing(const std::string& name, bool serving) override {
    record_->health[name] = serving;
  }
  void Shutdown(Duration) override {
    record_->stopped = true;
    if (stops == nullptr) return;
    stops->Put(true);
    while (stops->size() < started->size()) {
    }
  }

 private:
  const std::shared_ptr<Started> record_;
  const std::vector<int> ports_;
};

absl::StatusOr<std::unique_ptr<Server>> StartFake(const char* transport,
                                                  const ServerOptions& options,
                                                  const std::vector<ServiceTable>& services) {
  auto record = std::make_shared<Started>();
  record->transport = transport;
  record->connections_max = options.connections_max;
  std::vector<int> ports;
  for (const Endpoint& endpoint : options.endpoints) {
    if (endpoint.address == "taken") return absl::UnavailableError("cannot listen on taken");
    record->addresses.push_back(endpoint.address);
    ports.push_back(static_cast<int>(endpoint.address.size()));
  }
  for (const ServiceTable& service : services) record->services.push_back(service.name);
  started->push_back(record);
  return std::make_unique<FakeServer>(std::move(record), std::move(ports));
}

constexpr Transport kTransports[] = {
    {"one", [](const ServerOptions& options,
               std::vector<ServiceTable> services) { return StartFake("one", options, services); }},
    {"two", [](const ServerOptions& options, std::vector<ServiceTable> services) {
       return StartFake("two", options, services);
     }}};

class ServersTest : public ::testing::Test {
 protected:
  ServersTest() { started = &records_; }
  ~ServersTest() override {
    started = nullptr;
    stops = nullptr;
  }

  static ServersSetup Setup(std::vector<Listener> listeners) {
    ServersSetup setup;
    setup.transports = kTransports;
    setup.listeners = std::move(listeners);
    setup.services = {{"compute", {}}, {"worker", {}}};
    return setup;
  }

  static Listener At(const char* scheme, const char* address,
                     std::vector<std::string> services = {}) {
    return {scheme, {address, std::nullopt}, std::move(services)};
  }

  std::vector<std::shared_ptr<Started>> records_;
};

TEST_F(ServersTest, ListenersThatAreAlikeShareAServer) {
  const auto server = StartServers(Setup({At("one", "a"), At("one", "bb"), At("two", "ccc")}));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->Ports(), (std::vector<int>{1, 2, 3}));
  ASSERT_EQ(records_.size(), 2U);
  EXPECT_EQ(records_[0]->addresses, (std::vector<std::string>{"a", "bb"}));
  EXPECT_EQ(records_[0]->services, (std::vector<std::string>{"compute", "worker"}));
  EXPECT_EQ(records_[1]->transport, "two");
}

TEST_F(ServersTest, APortMayOfferSomeServicesOnlyAndTellsTheirHealthOnly) {
  const auto server =
      StartServers(Setup({At("one", "bb", {"worker"}), At("one", "a"), At("one", "ccc")}));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->Ports(), (std::vector<int>{2, 1, 3})) << "in the order of the listeners";
  for (const char* name : {"", "compute", "worker", "worker/0"}) (*server)->SetServing(name, true);
  ASSERT_EQ(records_.size(), 2U);
  for (const auto& record : records_) {
    const bool all = record->addresses.size() == 2;
    EXPECT_EQ(record->services.size(), all ? 2U : 1U);
    EXPECT_EQ(record->health.contains("compute"), all);
    for (const char* name : {"", "worker", "worker/0"}) EXPECT_TRUE(record->health[name]) << name;
  }
}

TEST_F(ServersTest, TogetherTheyTakeAsManyConnectionsAsWereGranted) {
  ServersSetup setup = Setup({At("one", "a"), At("two", "b"), At("two", "c", {"worker"})});
  setup.options.connections_max = 10;
  const auto server = StartServers(setup);
  ASSERT_TRUE(server.ok()) << server.status();
  ASSERT_EQ(records_.size(), 3U);
  for (const auto& record : records_) EXPECT_EQ(record->connections_max, 3);
}

TEST_F(ServersTest, AShutdownReachesAllAtOnce) {
  support::Inbox<bool> all;
  stops = &all;
  const auto server =
      StartServers(Setup({At("one", "a"), At("two", "b"), At("two", "c", {"worker"})}));
  ASSERT_TRUE(server.ok()) << server.status();
  (*server)->Shutdown(Duration::zero());  // Returns only if each was told while others wait.
  EXPECT_EQ(all.size(), 3U);
}

TEST_F(ServersTest, WhatCannotBeIsRefusedAndNothingListens) {
  EXPECT_EQ(StartServers(Setup({At("three", "a")})).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartServers(Setup({At("one", "a", {"nothing"})})).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(records_.empty());
  EXPECT_EQ(StartServers(Setup({At("one", "a"), At("two", "taken")})).status().code(),
            absl::StatusCode::kUnavailable);
  ASSERT_EQ(records_.size(), 1U);
  EXPECT_TRUE(records_[0]->stopped);
}

}  // namespace
}  // namespace shoal::transport
