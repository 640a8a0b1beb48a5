#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "shoal/client.h"
#include "tests/client/support/fake_server.h"

namespace shoal::testing {

/// A name for a socket of this process's alone.
inline std::string SocketPath(const std::string& word) {
  return ::testing::TempDir() + "shoal-" + std::to_string(getpid()) + "-" + word + ".sock";
}

/// A server that shares the client's host, with all its planes.
inline FakeServerOptions LocalServer(const std::string& host_id) {
  FakeServerOptions options;
  options.unix_socket = SocketPath("grpc");
  options.lease_socket = SocketPath("lease");
  options.host_id = host_id;
  return options;
}

/// Options that try again at once, so that tests of retries take no time.
inline ClientOptions EagerOptions(const FakeServer& server, Plane plane = Plane::kTcp) {
  ClientOptions options;
  options.address = server.address();
  options.plane = plane;
  options.retry = {.attempts_max = 4,
                   .backoff_initial = std::chrono::milliseconds(1),
                   .backoff_max = std::chrono::milliseconds(2)};
  return options;
}

inline std::unique_ptr<Client> Connected(const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return client.ok() ? *std::move(client) : nullptr;
}

/// `count` floats that differ from their neighbours.
inline Array Ramp(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 8191) * 0.5F;
  return *Array::From<float>(values);
}

}  // namespace shoal::testing
