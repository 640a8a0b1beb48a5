#include <gtest/gtest.h>

#include "shoal/client.h"
#include "shoal/status.h"
#include "tests/client/support/fixture.h"

namespace shoal {
namespace {

using testing::Connected;
using testing::EagerOptions;
using testing::FakeServer;
using testing::Faults;
using testing::Ramp;
using testing::Seen;

// One chunk of the fake server is 64 KiB: 16,384 floats.
constexpr int64_t kChunkFloats = 16'384;

TEST(PutTest, EverySizeComesBackAsItWas) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  for (const int64_t count : {int64_t{0}, int64_t{1}, kChunkFloats - 1, kChunkFloats,
                              kChunkFloats + 1, 10 * kChunkFloats + 7}) {
    const Array array = Ramp(count);
    const absl::StatusOr<ArrayInfo> stored = client->Put(array);
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_TRUE(stored->complete);
    EXPECT_EQ(stored->bytes, count * 4);
    const absl::StatusOr<Array> fetched = client->Get(ArrayRef::ById(stored->id));
    ASSERT_TRUE(fetched.ok()) << fetched.status();
    EXPECT_TRUE(SameBytes(array, *fetched)) << count;
  }
  EXPECT_GT(server.With([](Faults&, Seen& seen) { return seen.put_checksums; }), 0);
}

TEST(PutTest, ChecksumsCanBeSwitchedOff) {
  FakeServer server;
  ClientOptions options = EagerOptions(server);
  options.checksum = false;
  const auto client = Connected(options);
  const uint64_t id = client->Put(Ramp(3 * kChunkFloats))->id;
  EXPECT_TRUE(client->Get(ArrayRef::ById(id)).ok());
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.put_checksums; }), 0);
}

TEST(PutTest, SmallChunksAndOneCreditAreSlowButWork) {
  const FakeServer server({.credit_chunks = 2});
  ClientOptions options = EagerOptions(server);
  options.chunk_bytes = 1000;
  const auto client = Connected(options);
  const Array array = Ramp(5000);
  const uint64_t id = client->Put(array)->id;
  EXPECT_TRUE(SameBytes(array, *client->Get(ArrayRef::ById(id))));
}

TEST(PutTest, ABrokenStreamGoesOnWhereItStopped) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  // More breaks than a call without progress would survive, one of them at the very end.
  server.With([](Faults& faults, Seen&) {
    faults.put_cuts = {1, 200'000, 300'000, 400'000, 500'000, 600'000, 40 * kChunkFloats * 4};
  });
  const Array array = Ramp(40 * kChunkFloats);
  std::vector<int64_t> progress;
  const absl::StatusOr<ArrayInfo> stored =
      client->Put(array, {.name = "x", .progress = [&](int64_t done, int64_t total) {
                            EXPECT_EQ(total, array.byte_count());
                            progress.push_back(done);
                          }});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_TRUE(SameBytes(array, *client->Get(ArrayRef::ByName("x"))));
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.put_bytes; }), array.byte_count())
      << "no byte was sent to its place twice";
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["Put"]; }), 8);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), array.byte_count());
}

TEST(PutTest, ALostAnswerIsNoLostArray) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) { faults.lose_put_answer = true; });
  const absl::StatusOr<ArrayInfo> stored = client->Put(Ramp(100), {.name = "x"});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->name, "x");
  EXPECT_EQ(client->List()->size(), 1U);
}

TEST(PutTest, WithoutProgressItEndsAfterItsAttempts) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) {
    faults.failures["Put"] =
        std::deque<grpc::Status>(20, {grpc::StatusCode::UNAVAILABLE, "draining"});
  });
  const absl::Status status = client->Put(Ramp(kChunkFloats)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.With([](Faults&, Seen& seen) { return seen.calls["Put"]; }), 4);
}

TEST(PutTest, ANameThatIsTakenIsAnErrorWithItsReason) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  ASSERT_TRUE(client->Put(Ramp(1), {.name = "x"}).ok());
  const absl::Status status = client->Put(Ramp(5 * kChunkFloats), {.name = "x"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrorReason(status), "NAME_TAKEN");
}

TEST(PutTest, AServerThatReadsNothingCannotKeepTheCallersMemory) {
  FakeServer server({.credit_chunks = 1000});
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) { faults.stall_put = true; });
  {
    std::vector<float> values(64 * kChunkFloats, 1.0F);
    const auto bytes = absl::MakeConstSpan(reinterpret_cast<const std::byte*>(values.data()),
                                           values.size() * sizeof(float));
    const Array view =
        *Array::Borrow(Dtype::kFloat32, {static_cast<int64_t>(values.size())}, bytes);
    EXPECT_EQ(client->Put(view, {.timeout = std::chrono::milliseconds(100)}).status().code(),
              absl::StatusCode::kDeadlineExceeded);
  }
  // A sanitizer would see any use of `values` from here on.
  server.With([](Faults& faults, Seen&) { faults.stall_put = false; });
  EXPECT_TRUE(client->Put(Ramp(10)).ok());
}

TEST(GetTest, ABrokenStreamGoesOnWhereItStopped) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const Array array = Ramp(20 * kChunkFloats + 5);
  ASSERT_TRUE(client->Put(array, {.name = "x"}).ok());
  server.With([](Faults& faults, Seen&) {
    faults.get_cuts = {0, 100'000, 400'000, 600'000, 700'000, 900'000};
  });
  int64_t last = 0;
  const absl::StatusOr<Array> fetched =
      client->Get(ArrayRef::ByName("x"), {.progress = [&](int64_t done, int64_t) { last = done; }});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_TRUE(SameBytes(array, *fetched));
  EXPECT_EQ(last, array.byte_count());
}

TEST(GetTest, ADamagedChunkIsFetchedAgain) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const Array array = Ramp(4 * kChunkFloats);
  ASSERT_TRUE(client->Put(array, {.name = "x"}).ok());
  server.With([](Faults& faults, Seen&) { faults.corrupt_chunks = 2; });
  EXPECT_TRUE(SameBytes(array, *client->Get(ArrayRef::ByName("x"))));
  server.With([](Faults& faults, Seen&) { faults.corrupt_chunks = 1000; });
  EXPECT_EQ(client->Get(ArrayRef::ByName("x")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(GetTest, IntoMemoryOfTheCallers) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const Array array = Ramp(2 * kChunkFloats);
  ASSERT_TRUE(client->Put(array, {.name = "x"}).ok());
  Array target = *Array::Create(Dtype::kFloat32, {2 * kChunkFloats});
  const auto info = client->GetInto(ArrayRef::ByName("x"), target.mutable_data());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_TRUE(SameBytes(array, target));
  EXPECT_EQ(
      client->GetInto(ArrayRef::ByName("x"), target.mutable_data().subspan(1)).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client->Get(ArrayRef::ByName("y")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal
