// The C++ client against a real shoald, on every plane.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <future>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shoal/client.h"
#include "tests/integration/support/shoald_process.h"
#include "tests/integration/support/tcp_proxy.h"

namespace shoal {
namespace {

using testing::ShoaldProcess;
using testing::TcpProxy;

constexpr int64_t kMiB = 1 << 20;

std::unique_ptr<Client> Connected(const std::string& address, Plane plane, RetryPolicy retry = {}) {
  ClientOptions options;
  options.address = address;
  options.plane = plane;
  options.retry = retry;
  options.timeout = std::chrono::seconds(60);
  auto client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return client.ok() ? *std::move(client) : nullptr;
}

/// Bytes that no neighbour resembles.
void FillRandom(Array* array, uint64_t seed) {
  std::mt19937_64 random(seed);
  const absl::Span<std::byte> bytes = array->mutable_data();
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(&bytes[at], &word, std::min(sizeof(word), bytes.size() - at));
  }
}

Array RandomBytes(int64_t count, uint64_t seed) {
  Array array = *Array::Create(Dtype::kUint8, {count});
  FillRandom(&array, seed);
  return array;
}

Array Doubles(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Array array = *Array::Create(Dtype::kFloat64, {count});
  const auto elements = *array.MutableAs<double>();
  std::generate(elements.begin(), elements.end(), [&] { return value(random); });
  return array;
}

class PlaneTest : public ::testing::TestWithParam<Plane> {
 protected:
  static void SetUpTestSuite() { server_ = ShoaldProcess::Start().release(); }
  static void TearDownTestSuite() {
    if (server_ != nullptr) {
      EXPECT_TRUE(server_->Stop());
    }
    delete server_;
    server_ = nullptr;
  }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    client_ = Connected(server_->address(), GetParam());
    ASSERT_NE(client_, nullptr);
  }
  void TearDown() override {
    if (client_ == nullptr) return;
    const auto arrays = client_->List();
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    for (const ArrayInfo& array : *arrays) {
      EXPECT_TRUE(client_->Free({ArrayRef::ById(array.id)}).ok());
    }
  }

  static ShoaldProcess* server_;
  std::unique_ptr<Client> client_;
};

ShoaldProcess* PlaneTest::server_ = nullptr;

INSTANTIATE_TEST_SUITE_P(Planes, PlaneTest,
                         ::testing::Values(Plane::kTcp, Plane::kUnix, Plane::kMemfd),
                         [](const ::testing::TestParamInfo<Plane>& plane) {
                           switch (plane.param) {
                             case Plane::kTcp:
                               return "tcp";
                             case Plane::kUnix:
                               return "unix";
                             case Plane::kMemfd:
                               return "memfd";
                             case Plane::kAuto:
                               break;
                           }
                           return "auto";
                         });

TEST_P(PlaneTest, IsTheOneThatWasAskedFor) {
  EXPECT_EQ(client_->plane(), GetParam());
  EXPECT_EQ(client_->info().worker_count, 2);
}

TEST_P(PlaneTest, EchoesEverySizeOnEveryRoute) {
  for (const Route route : {Route::kFront, Route::kWorker, Route::kDevice}) {
    for (const int64_t count :
         {int64_t{0}, int64_t{1}, int64_t{100'000}, 256 * 1024 + int64_t{1}, kMiB, 9 * kMiB + 13}) {
      const Array payload = RandomBytes(count, static_cast<uint64_t>(count));
      const auto reply = client_->Echo(payload, {.route = route});
      ASSERT_TRUE(reply.ok()) << count << ": " << reply.status();
      EXPECT_TRUE(SameBytes(payload, *reply)) << count;
      Array target = *client_->Allocate(Dtype::kUint8, {count});
      ASSERT_TRUE(client_->EchoInto(payload, target, {.route = route}).ok()) << count;
      EXPECT_TRUE(SameBytes(payload, target)) << count;
    }
  }
}

TEST_P(PlaneTest, AppliesOpsToArraysOfEverySize) {
  for (const int64_t count : {0, 1, 1000, 40'000, 2'000'000}) {
    const Array x = Doubles(count, 1);
    const Array y = Doubles(count, 2);
    const auto result = client_->Apply({.op = "axpy", .params = {{"a", 3.0}}, .arguments = {x, y}});
    ASSERT_TRUE(result.ok()) << count << ": " << result.status();
    const auto got = *result->outputs[0].array.As<double>();
    const auto xs = *x.As<double>();
    const auto ys = *y.As<double>();
    ASSERT_EQ(static_cast<int64_t>(got.size()), count);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 3.0 * xs[i] + ys[i]) << i;
  }
}

TEST_P(PlaneTest, SortsIntoAnArrayOfTheCallers) {
  Array x = *client_->Allocate(Dtype::kFloat64, {500'000});
  const Array values = Doubles(500'000, 3);
  std::memcpy(x.mutable_data().data(), values.data().data(), values.data().size());
  Array target = *client_->Allocate(Dtype::kFloat64, {500'000});
  const auto result =
      client_->Apply({.op = "sort", .arguments = {x}, .destinations = {WriteTo{target}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outputs[0].array.data().data(), target.data().data());
  std::vector<double> expected(values.As<double>()->begin(), values.As<double>()->end());
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), target.As<double>()->begin()));
  EXPECT_TRUE(SameBytes(x, values)) << "the argument is as it was";
}

TEST_P(PlaneTest, StoresAndFetches) {
  const Array x = Doubles(1'000'003, 4);
  int64_t seen = 0;
  const auto stored = client_->Put(x, {.name = "x", .progress = [&](int64_t done, int64_t total) {
                                         EXPECT_GE(done, seen);
                                         EXPECT_EQ(total, x.byte_count());
                                         seen = done;
                                       }});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(seen, x.byte_count());
  EXPECT_TRUE(SameBytes(*client_->Get(ArrayRef::ByName("x")), x));
  const auto moved = client_->Redistribute(ArrayRef::ById(stored->id),
                                           {.kind = Distribution::Kind::kSingle, .workers = {1}});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->shards.size(), 1U);
  EXPECT_TRUE(SameBytes(*client_->Get(ArrayRef::ById(stored->id)), x));
  EXPECT_EQ(client_->Describe(ArrayRef::ByName("x"))->id, stored->id);
  EXPECT_EQ(*client_->Free({ArrayRef::ByName("x")}), x.byte_count());
  EXPECT_EQ(client_->Get(ArrayRef::ByName("x")).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(PlaneTest, ArraysMayBeFreedAsSoonAsTheyAreRead) {
  for (int round = 0; round < 200; ++round) {
    const Array x = RandomBytes(round % 2 == 0 ? 100 : 2 * kMiB, 1);
    const auto stored = client_->Put(x);
    ASSERT_TRUE(stored.ok()) << stored.status();
    const ArrayRef array = ArrayRef::ById(stored->id);
    if (round % 4 < 2) {
      ASSERT_TRUE(client_->Get(array).ok());
    } else {
      ASSERT_TRUE(
          client_->Apply({.op = "echo", .arguments = {array}, .route = Route::kFront}).ok());
    }
    const auto freed = client_->Free({array});
    ASSERT_TRUE(freed.ok()) << round << ": " << freed.status();
  }
}

TEST_P(PlaneTest, OutputsMayStayWithTheServer) {
  for (const int64_t count : {100, 1'000'000}) {
    const Array x = Doubles(count, 5);
    const auto result = client_->Apply({.op = "add",
                                        .arguments = {x, x},
                                        .destinations = {Store{.name = "twice", .replace = true}}});
    ASSERT_TRUE(result.ok()) << count << ": " << result.status();
    EXPECT_NE(result->outputs[0].array_id, 0U);
    const auto total = client_->Apply({.op = "sum", .arguments = {ArrayRef::ByName("twice")}});
    ASSERT_TRUE(total.ok()) << total.status();
    const auto xs = *x.As<double>();
    EXPECT_NEAR((*total->outputs[0].array.As<double>())[0],
                2 * std::accumulate(xs.begin(), xs.end(), 0.0), 1e-6);
  }
}

TEST_P(PlaneTest, ErrorsAreTheServers) {
  EXPECT_EQ(client_->Apply({.op = "no_such_op"}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(client_->Apply({.op = "sum", .arguments = {ArrayRef::ByName("none")}}).status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status differ =
      client_->Apply({.op = "add", .arguments = {Doubles(3, 1), Doubles(4, 1)}}).status();
  EXPECT_EQ(differ.code(), absl::StatusCode::kInvalidArgument) << differ;
  ASSERT_TRUE(client_->Put(Doubles(9, 1), {.name = "taken"}).ok());
  EXPECT_EQ(client_->Put(Doubles(9, 1), {.name = "taken"}).status().code(),
            absl::StatusCode::kAlreadyExists);
  const absl::Status late = client_
                                ->Apply({.op = "sort",
                                         .arguments = {Doubles(4'000'000, 1)},
                                         .timeout = std::chrono::milliseconds(1)})
                                .status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
}

TEST_P(PlaneTest, ManyThreadsShareOneClient) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 12; ++round) {
        const auto seed = static_cast<uint64_t>(t * 100 + round);
        const int64_t count = round % 3 == 0 ? 2 * kMiB + t : 1000 + 100 * t;
        const Array payload = RandomBytes(count, seed);
        const auto reply = client_->Echo(payload);
        const std::string name = "thread" + std::to_string(t);
        const auto stored = client_->Put(payload, {.name = name, .replace = true});
        const auto fetched = client_->Get(ArrayRef::ByName(name));
        if (reply.ok() && stored.ok() && fetched.ok() && SameBytes(payload, *reply) &&
            SameBytes(payload, *fetched)) {
          ++right;
        } else {
          ADD_FAILURE() << reply.status() << stored.status() << fetched.status();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 12);
}

TEST_P(PlaneTest, AsynchronousCallsEndOnce) {
  std::vector<std::promise<absl::StatusOr<Array>>> replies(40);
  for (size_t i = 0; i < replies.size(); ++i) {
    const int64_t count = i % 4 == 0 ? 3 * kMiB : 500;
    client_->EchoAsync(RandomBytes(count, i), {}, [&replies, i](absl::StatusOr<Array> reply) {
      replies[i].set_value(std::move(reply));
    });
  }
  for (size_t i = 0; i < replies.size(); ++i) {
    const absl::StatusOr<Array> reply = replies[i].get_future().get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(SameBytes(*reply, RandomBytes(reply->byte_count(), i)));
  }
}

TEST_P(PlaneTest, SessionsCarryManyTasks) {
  const auto call = PreparedCall::Make({.op = "echo"});
  ASSERT_TRUE(call.ok());
  for (const bool ordered : {false, true}) {
    auto session = client_->OpenSession({.ordered = ordered});
    ASSERT_TRUE(session.ok());
    const auto flood = (*session)->Flood(*call, 100'000);
    ASSERT_TRUE(flood.ok()) << flood.status();
    EXPECT_EQ(flood->ok_count, 100'000);

    std::vector<double> sums(200, -1);
    std::vector<uint64_t> order;
    for (size_t i = 0; i < sums.size(); ++i) {
      std::vector<double> values(i + 1, 1.0);
      const Array x = *Array::From<double>(values);
      const auto id = (*session)->Submit({.op = "sum", .arguments = {x}},
                                         [&sums, &order, i](const TaskResult& result) {
                                           if (result.status.ok())
                                             sums[i] = (*result.outputs[0].array.As<double>())[0];
                                           order.push_back(result.id);
                                         });
      ASSERT_TRUE(id.ok());
    }
    ASSERT_TRUE((*session)->Wait().ok());
    for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], static_cast<double>(i + 1));
    if (ordered) {
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
    EXPECT_TRUE((*session)->Close().ok());
  }
}

TEST(LeaseTest, ResultsLieInTheLeaseThatWasGiven) {
  const auto server = ShoaldProcess::Start();
  ASSERT_NE(server, nullptr);
  const auto client = Connected(server->address(), Plane::kAuto);
  ASSERT_EQ(client->plane(), Plane::kMemfd) << "the best on one host";
  constexpr int64_t kCount = 1'000'000;
  Array x = *client->Allocate(Dtype::kFloat64, {kCount});
  Array sum = *client->Allocate(Dtype::kFloat64, {kCount});
  ASSERT_TRUE(x.leased() && sum.leased());
  const auto elements = *x.MutableAs<double>();
  std::iota(elements.begin(), elements.end(), 0.0);
  const auto result =
      client->Apply({.op = "add", .arguments = {x, x}, .destinations = {WriteTo{sum}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outputs[0].array.data().data(), sum.data().data());
  EXPECT_TRUE(result->outputs[0].array.leased());
  EXPECT_EQ((*sum.As<double>())[kCount - 1], 2.0 * (kCount - 1));

  const auto report = client->Throughput("add");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->rows.size(), 1U);
  EXPECT_EQ(report->rows[0].plane, "lease");
  EXPECT_EQ(report->rows[0].bytes_in, 2 * kCount * 8);
  EXPECT_EQ(report->rows[0].bytes_out, kCount * 8);

  // The memory outlives both ends.
  const Array kept = sum;
  EXPECT_TRUE(server->Stop());
  EXPECT_EQ((*kept.As<double>())[1], 2.0);
}

/// Puts and gets through connections that break at random places.
TEST(ResumeTest, TransfersGoOnWhereTheConnectionBroke) {
  const auto server = ShoaldProcess::Start();
  ASSERT_NE(server, nullptr);
  RetryPolicy retry;
  retry.attempts_max = 50;
  retry.backoff_initial = std::chrono::milliseconds(1);
  retry.backoff_max = std::chrono::milliseconds(50);
  std::mt19937_64 random(7);
  for (int round = 0; round < 6; ++round) {
    TcpProxy proxy(server->port());
    const auto client = Connected(proxy.address(), Plane::kTcp, retry);
    ASSERT_NE(client, nullptr);
    const Array x = RandomBytes(16 * kMiB + round, random());
    std::deque<int64_t> cuts(4);
    for (int64_t& cut : cuts) cut = 1 + static_cast<int64_t>(random() % (4 * kMiB));
    proxy.CutAfter(cuts);
    const std::string name = "resumed" + std::to_string(round);
    const auto stored = client->Put(x, {.name = name});
    ASSERT_TRUE(stored.ok()) << round << ": " << stored.status();
    EXPECT_EQ(proxy.cuts_left(), 0);

    for (int64_t& cut : cuts) cut = 1 + static_cast<int64_t>(random() % (4 * kMiB));
    proxy.CutAfter(cuts);
    const auto fetched = client->Get(ArrayRef::ByName(name));
    ASSERT_TRUE(fetched.ok()) << round << ": " << fetched.status();
    EXPECT_TRUE(SameBytes(*fetched, x)) << round;
    EXPECT_EQ(proxy.cuts_left(), 0);
  }
  EXPECT_TRUE(server->Stop());
}

TEST(ServerGoneTest, CallsSaySoAndWorkAgainWhenItIsBack) {
  auto server = ShoaldProcess::Start();
  ASSERT_NE(server, nullptr);
  const std::string port = "--port=" + std::to_string(server->port());
  RetryPolicy once;
  once.attempts_max = 1;
  const auto client = Connected(server->address(), Plane::kTcp, once);
  const auto patient = Connected(server->address(), Plane::kTcp);
  ASSERT_TRUE(client->Echo(RandomBytes(100, 1)).ok());
  server->Kill();
  EXPECT_EQ(client->Echo(RandomBytes(100, 1)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client->Put(RandomBytes(4 * kMiB, 1)).status().code(), absl::StatusCode::kUnavailable);

  server = ShoaldProcess::Start({port});
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(patient->Echo(RandomBytes(100, 1)).ok());
  EXPECT_TRUE(patient->Echo(RandomBytes(4 * kMiB, 1)).ok());
  EXPECT_TRUE(patient->Drain().ok());
  const auto refused = Connected(server->address(), Plane::kTcp, once);
  EXPECT_EQ(refused->Echo(RandomBytes(100, 1)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(server->Stop());
}

}  // namespace
}  // namespace shoal
