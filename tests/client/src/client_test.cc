#include "shoal/client.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <iostream>
#include <tuple>

#include "client/src/host.h"
#include "shoal/v1/details.pb.h"
#include "tests/client/support/fixture.h"
#include "tests/support/eventually.h"

namespace shoal {
namespace {

using testing::Connected;
using testing::EagerOptions;
using testing::FakeServer;
using testing::Faults;
using testing::LocalServer;
using testing::Ramp;
using testing::Seen;

TEST(ConnectTest, LearnsWhatTheServerIs) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  EXPECT_EQ(client->info().version, "0.1.0");
  EXPECT_EQ(client->info().limits.credit_chunks, 4);
  EXPECT_EQ(client->info().ops.at(0).dtypes, std::vector<Dtype>{Dtype::kFloat32});
  EXPECT_EQ(client->plane(), Plane::kTcp);
  EXPECT_EQ(client->FetchInfo()->worker_count, 2);
}

TEST(ConnectTest, NobodyThereIsUnavailableAtOnce) {
  ClientOptions options;
  options.address = "127.0.0.1:1";
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ConnectTest, WaitsForAServerIfAskedTo) {
  ClientOptions options;
  options.address = "unix:" + testing::SocketPath("late");
  options.wait_for_server = true;
  options.connect_timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kDeadlineExceeded);
  options.connect_timeout = std::chrono::seconds(30);
  auto connecting =
      std::async(std::launch::async, [&options] { return Client::Connect(options).status(); });
  testing::FakeServerOptions late;
  late.unix_socket = testing::SocketPath("late");
  const FakeServer server(late);
  EXPECT_TRUE(connecting.get().ok());
}

TEST(ConnectTest, OptionsOutOfRangeAreRefused) {
  for (const ClientOptions& options :
       {ClientOptions{.address = ""}, ClientOptions{.address = "host"},
        ClientOptions{.address = "host:0"}, ClientOptions{.address = "host:99999"},
        ClientOptions{.chunk_bytes = 0}, ClientOptions{.async_threads = 0},
        ClientOptions{.retry = {.attempts_max = 0}}}) {
    EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(PlaneTest, OnOneHostTheBestPlaneIsFound) {
  const FakeServer server(LocalServer(internal::LocalHostId()));
  EXPECT_EQ(Connected(EagerOptions(server, Plane::kAuto))->plane(), Plane::kMemfd);
  EXPECT_EQ(Connected(EagerOptions(server, Plane::kUnix))->plane(), Plane::kUnix);
  EXPECT_EQ(Connected(EagerOptions(server, Plane::kTcp))->plane(), Plane::kTcp);
}

TEST(PlaneTest, WithoutLeasesTheUnixSocketIsNext) {
  testing::FakeServerOptions options = LocalServer(internal::LocalHostId());
  options.lease_socket.clear();
  const FakeServer server(options);
  EXPECT_EQ(Connected(EagerOptions(server, Plane::kAuto))->plane(), Plane::kUnix);
  EXPECT_EQ(Client::Connect(EagerOptions(server, Plane::kMemfd)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(PlaneTest, AnotherHostsSocketsAreLeftAlone) {
  const FakeServer server(LocalServer("another kernel:1"));
  EXPECT_EQ(Connected(EagerOptions(server, Plane::kAuto))->plane(), Plane::kTcp);
  EXPECT_EQ(Client::Connect(EagerOptions(server, Plane::kUnix)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(PlaneTest, ASocketThatLeadsElsewhereIsNotUsed) {
  testing::FakeServerOptions options = LocalServer(internal::LocalHostId());
  options.unix_socket = testing::SocketPath("nobody");
  const FakeServer other(options);
  testing::FakeServerOptions liar;
  liar.host_id = options.host_id;
  // It names the socket of another server, which answers under another instance id.
  const FakeServer server(liar);
  ClientOptions client = EagerOptions(server, Plane::kAuto);
  EXPECT_EQ(Connected(client)->plane(), Plane::kTcp);
}

TEST(EchoTest, SmallPayloadsComeBack) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  for (const int64_t count : {0, 1, 2, 1000, 65536}) {
    const Array payload = Ramp(count);
    const absl::StatusOr<Array> reply = client->Echo(payload, {.route = Route::kFront});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(SameBytes(payload, *reply));
  }
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["Echo"]; }), 5);
}

TEST(EchoTest, IntoMemoryOfTheCallers) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const Array payload = Ramp(100);
  Array reply = *Array::Create(Dtype::kFloat32, {100});
  EXPECT_TRUE(client->EchoInto(payload, reply).ok());
  EXPECT_TRUE(SameBytes(payload, reply));
  Array small = *Array::Create(Dtype::kFloat32, {99});
  EXPECT_EQ(client->EchoInto(payload, small).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CatalogueTest, ArraysAreListedPageByPageDescribedAndFreed) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  std::vector<uint64_t> ids;
  for (const char* name : {"a1", "a2", "a3", "a4", "a5", "b1"}) {
    ids.push_back(client->Put(Ramp(3), {.name = name})->id);
  }
  std::vector<uint64_t> listed;
  const auto list = client->List({.name_prefix = "a"});
  for (const ArrayInfo& info : *list) listed.push_back(info.id);
  EXPECT_EQ(listed, (std::vector<uint64_t>(ids.begin(), ids.begin() + 5)));
  EXPECT_EQ(client->Describe(ArrayRef::ByName("a2"))->id, ids[1]);
  EXPECT_EQ(client->Describe(ArrayRef::ById(ids[1]))->shape, Shape{3});

  const std::vector<ArrayRef> some = {ArrayRef::ById(ids[0]), ArrayRef::ByName("b1")};
  EXPECT_EQ(*client->Free(some), 24);
  EXPECT_EQ(client->Free(some).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(*client->Free(some, {.missing_ok = true}), 0);
  EXPECT_EQ(client->Describe(some[0]).status().code(), absl::StatusCode::kNotFound);
}

TEST(RetryTest, WhatIsUnavailableForAMomentIsAskedAgain) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) {
    faults.failures["ListWorkers"] = {{grpc::StatusCode::UNAVAILABLE, "not yet"},
                                      {grpc::StatusCode::UNAVAILABLE, "not yet"}};
    faults.failures["Echo"] = {{grpc::StatusCode::ABORTED, "worker lost"}};
  });
  EXPECT_EQ(client->ListWorkers()->workers.size(), 1U);
  EXPECT_TRUE(client->Echo(Ramp(3)).ok());
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["ListWorkers"]; }), 3);
}

TEST(RetryTest, GivesUpAfterItsAttemptsAndKeepsTheError) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  v1::ErrorInfo info;
  info.set_reason("DRAINING");
  const grpc::Status draining =
      testing::WithDetail(grpc::StatusCode::UNAVAILABLE, "ErrorInfo", info);
  server.With([&](Faults& faults, Seen&) {
    faults.failures["ListWorkers"] = std::deque<grpc::Status>(10, draining);
  });
  const absl::Status status = client->ListWorkers().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrorReason(status), "DRAINING");
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["ListWorkers"]; }), 4);
}

TEST(RetryTest, WhatMayHaveHappenedIsNotRepeated) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const uint64_t id = client->Put(Ramp(3))->id;
  server.With([](Faults& faults, Seen&) {
    faults.failures["Free"] = {{grpc::StatusCode::UNAVAILABLE, "lost"}};
    faults.failures["Apply"] = {{grpc::StatusCode::UNAVAILABLE, "lost"}};
  });
  const std::vector<ArrayRef> references = {ArrayRef::ById(id)};
  EXPECT_EQ(client->Free(references).status().code(), absl::StatusCode::kUnavailable);
  const Call storing{.op = "echo", .arguments = {Ramp(2)}, .destinations = {Store{.name = "s"}}};
  EXPECT_EQ(client->Apply(storing).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["Apply"]; }), 1);
}

TEST(RetryTest, AWaitNeverOutlastsTheDeadline) {
  FakeServer server;
  ClientOptions options = EagerOptions(server);
  options.retry.backoff_initial = std::chrono::hours(1);
  options.retry.backoff_max = std::chrono::hours(1);
  const auto client = Connected(options);
  server.With([](Faults& faults, Seen&) {
    faults.failures["ListWorkers"] = {{grpc::StatusCode::UNAVAILABLE, "not yet"}};
  });
  EXPECT_EQ(client->ListWorkers({.timeout = std::chrono::seconds(5)}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(TimeoutTest, ATimeoutThatHasPassedIsDeadlineExceeded) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  for (const std::chrono::nanoseconds timeout :
       {std::chrono::nanoseconds(0), std::chrono::nanoseconds(-5)}) {
    EXPECT_EQ(client->Echo(Ramp(3), {.timeout = timeout}).status().code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(client->Put(Ramp(3), {.timeout = timeout}).status().code(),
              absl::StatusCode::kDeadlineExceeded);
  }
  EXPECT_TRUE(client->Echo(Ramp(3), {.timeout = std::chrono::nanoseconds::max()}).ok());
}

TEST(AsyncTest, ManyCallsAtOnceEachGetTheirOwnAnswer) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  constexpr int kCalls = 60;
  std::vector<std::promise<absl::StatusOr<Array>>> answers(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    // Some within a message, some as a stream.
    const int64_t count = i % 3 == 0 ? 100'000 + i : i;
    client->EchoAsync(Ramp(count), {}, [&answers, i](absl::StatusOr<Array> reply) {
      answers[static_cast<size_t>(i)].set_value(std::move(reply));
    });
  }
  for (int i = 0; i < kCalls; ++i) {
    const auto reply = answers[static_cast<size_t>(i)].get_future().get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(SameBytes(*reply, Ramp(i % 3 == 0 ? 100'000 + i : i)));
  }
}

// In a process of its own, which may not have another thread.
TEST(AsyncTest, WithoutThreadsWhatNeedsOneIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [] {
    const FakeServer server;
    const auto client = Connected(EagerOptions(server));
    const rlimit none{};
    setrlimit(RLIMIT_NPROC, &none);
    if (geteuid() == 0) std::ignore = setuid(65534);  // The limit does not hold for root.
    std::cerr << client->OpenSession().status();
    client->EchoAsync(Ramp(1), {},
                      [](const absl::StatusOr<Array>& reply) { std::cerr << reply.status(); });
    client->ApplyAsync({.op = "sum", .arguments = {Ramp(1)}},
                       [](const absl::StatusOr<Result>& result) { std::cerr << result.status(); });
    _exit(0);
  };
  const std::string error = "RESOURCE_EXHAUSTED: no thread.*";
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), error + error + error);
}

TEST(AsyncTest, DestroyingTheClientCancelsAndWaits) {
  FakeServer server;
  server.With([](Faults& faults, Seen&) { faults.stall_put = true; });
  std::vector<absl::Status> ends;
  {
    ClientOptions options = EagerOptions(server);
    options.async_threads = 1;
    const auto client = Connected(options);
    for (int i = 0; i < 3; ++i) {
      client->PutAsync(Ramp(1'000'000), {},
                       [&ends](absl::StatusOr<ArrayInfo> info) { ends.push_back(info.status()); });
    }
    // One of them is at the server, the others wait for its thread.
    ASSERT_TRUE(support::Eventually([&server] {
      return server.With([](Faults&, Seen& seen) { return seen.calls["Put"]; }) > 0;
    }));
  }
  ASSERT_EQ(ends.size(), 3U);
  for (const absl::Status& end : ends) EXPECT_EQ(end.code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace shoal
