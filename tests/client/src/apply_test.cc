#include <gtest/gtest.h>

#include <future>

#include "client/src/host.h"
#include "shoal/client.h"
#include "shoal/v1/details.pb.h"
#include "tests/client/support/fixture.h"

namespace shoal {
namespace {

using testing::Connected;
using testing::EagerOptions;
using testing::FakeServer;
using testing::Faults;
using testing::LocalServer;
using testing::Ramp;
using testing::Seen;

constexpr int64_t kLarge = 200'000;  // Floats: beyond what travels inline.

Array Doubled(int64_t count) {
  Array array = Ramp(count);
  const absl::Span<float> values = *array.MutableAs<float>();
  for (float& value : values) value *= 2;
  return array;
}

int64_t Calls(FakeServer& server, const std::string& method) {
  return server.With([&](Faults&, Seen& seen) { return seen.calls[method]; });
}

TEST(ApplyTest, SmallCallsAreOneMessage) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const absl::StatusOr<Result> result =
      client->Apply({.op = "add", .arguments = {Ramp(50), {"y", Ramp(50)}}, .want_timing = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(50)));
  EXPECT_EQ(result->backend, "cpu");
  EXPECT_EQ(result->worker_count, 2);
  EXPECT_EQ(result->timing->compute, std::chrono::nanoseconds(7));
  EXPECT_EQ(Calls(server, "Apply"), 1);
  EXPECT_EQ(Calls(server, "ApplyStream"), 0);
}

TEST(ApplyTest, LargeCallsAreStreams) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const absl::StatusOr<Result> result =
      client->Apply({.op = "add", .arguments = {Ramp(kLarge), Ramp(kLarge)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
  EXPECT_EQ(Calls(server, "Apply"), 0);
  EXPECT_EQ(Calls(server, "ApplyStream"), 1);
}

TEST(ApplyTest, AReplyTooLargeForAMessageComesAsAStream) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) { faults.inline_bytes = 100; });
  const absl::StatusOr<Result> result =
      client->Apply({.op = "add", .arguments = {Ramp(50), Ramp(50)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(50)));
  EXPECT_EQ(Calls(server, "ApplyStream"), 1);
}

TEST(ApplyTest, SeveralOutputsAndEmptyArraysKeepTheirPlaces) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  const std::vector<Array> arrays = {Ramp(kLarge), Ramp(0), Ramp(7), Ramp(kLarge + 1)};
  Call call{.op = "echo"};
  for (const Array& array : arrays) call.arguments.emplace_back(array);
  const absl::StatusOr<Result> result = client->Apply(call);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outputs.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(SameBytes(result->outputs[i].array, arrays[i])) << i;
}

TEST(ApplyTest, StoredArraysAreArgumentsAndOutputs) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  ASSERT_TRUE(client->Put(Ramp(kLarge), {.name = "x"}).ok());
  const Call call{.op = "add",
                  .arguments = {ArrayRef::ByName("x"), ArrayRef::ByName("x")},
                  .destinations = {Store{.name = "y"}}};
  const absl::StatusOr<Result> result = client->Apply(call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NE(result->outputs.at(0).array_id, 0U);
  EXPECT_EQ(result->outputs.at(0).shape, Shape{kLarge});
  EXPECT_TRUE(SameBytes(*client->Get(ArrayRef::ByName("y")), Doubled(kLarge)));

  const auto sum = client->Apply({.op = "sum", .arguments = {ArrayRef::ByName("y")}});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->outputs.at(0).shape, Shape{});
  EXPECT_EQ(Calls(server, "ApplyStream"), 0) << "a scalar needs no stream";
  const auto whole = client->Apply({.op = "echo", .arguments = {ArrayRef::ByName("y")}});
  EXPECT_TRUE(SameBytes(whole->outputs.at(0).array, Doubled(kLarge)));
}

TEST(ApplyTest, OutputsGoWhereTheCallerWantsThem) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  for (const int64_t count : {int64_t{10}, kLarge}) {
    Array target = *Array::Create(Dtype::kFloat32, {count});
    const Call call{
        .op = "add", .arguments = {Ramp(count), Ramp(count)}, .destinations = {WriteTo{target}}};
    const absl::StatusOr<Result> result = client->Apply(call);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->outputs.at(0).array.data().data(), target.data().data());
    EXPECT_TRUE(SameBytes(target, Doubled(count)));
    Array small = *Array::Create(Dtype::kFloat32, {count - 1});
    const Call wrong{
        .op = "add", .arguments = {Ramp(count), Ramp(count)}, .destinations = {WriteTo{small}}};
    EXPECT_EQ(client->Apply(wrong).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(ApplyTest, ErrorsOfTheServerComeThrough) {
  const FakeServer server;
  const auto client = Connected(EagerOptions(server));
  EXPECT_EQ(client->Apply({.op = "nonsense", .arguments = {Ramp(1)}}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(client->Apply({.op = "nonsense", .arguments = {Ramp(kLarge)}}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(client->Apply({.op = "sum", .arguments = {ArrayRef::ByName("no")}}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client->Apply({}).status().code(), absl::StatusCode::kInvalidArgument);
  const Call many{.op = "echo", .arguments = std::vector<Argument>(17, Ramp(1))};
  EXPECT_EQ(client->Apply(many).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ApplyTest, ABrokenStreamIsRepeatedFromTheStart) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) {
    faults.failures["ApplyStream"] = {{grpc::StatusCode::ABORTED, "worker lost"}};
  });
  const auto result = client->Apply({.op = "add", .arguments = {Ramp(kLarge), Ramp(kLarge)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
  EXPECT_EQ(Calls(server, "ApplyStream"), 2);
}

TEST(ApplyTest, AFullQueueIsAskedAgainWhenTheServerSays) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  v1::RetryInfo soon;
  soon.mutable_retry_delay()->set_nanos(1000);
  const grpc::Status full =
      testing::WithDetail(grpc::StatusCode::RESOURCE_EXHAUSTED, "RetryInfo", soon);
  server.With([&](Faults& faults, Seen&) { faults.failures["Apply"] = {full, full}; });
  const Call storing{.op = "echo", .arguments = {Ramp(2)}, .destinations = {Store{.name = "s"}}};
  EXPECT_TRUE(client->Apply(storing).ok()) << "it was refused, so that it may be sent again";
  EXPECT_EQ(Calls(server, "Apply"), 3);
}

TEST(ApplyAsyncTest, AnswersAndRetriesComeWithoutWaiting) {
  FakeServer server;
  const auto client = Connected(EagerOptions(server));
  server.With([](Faults& faults, Seen&) {
    faults.failures["Apply"] = {{grpc::StatusCode::UNAVAILABLE, "not yet"}};
  });
  for (const int64_t count : {int64_t{10}, int64_t{10}, kLarge}) {
    std::promise<absl::StatusOr<Result>> answer;
    client->ApplyAsync(
        {.op = "add", .arguments = {Ramp(count), Ramp(count)}},
        [&answer](absl::StatusOr<Result> result) { answer.set_value(std::move(result)); });
    const auto result = answer.get_future().get();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(count)));
  }
}

class LeasedApplyTest : public ::testing::Test {
 protected:
  LeasedApplyTest() : server_(LocalServer(internal::LocalHostId())) {
    client_ = Connected(EagerOptions(server_, Plane::kMemfd));
  }

  Array LeasedRamp(int64_t count) {
    Array array = *client_->Allocate(Dtype::kFloat32, {count});
    EXPECT_TRUE(array.leased());
    const Array ramp = Ramp(count);
    std::copy(ramp.data().begin(), ramp.data().end(), array.mutable_data().begin());
    return array;
  }
  Seen SeenNow() {
    return server_.With([](Faults&, Seen& seen) { return seen; });
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(LeasedApplyTest, LeasedArraysTravelAsReferencesBothWays) {
  const Array x = LeasedRamp(kLarge);
  const auto result = client_->Apply({.op = "add", .arguments = {x, x}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->outputs.at(0).array.leased());
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
  EXPECT_EQ(SeenNow().leased_arguments, 2);
  EXPECT_EQ(SeenNow().calls["ApplyStream"], 0);
}

TEST_F(LeasedApplyTest, PlainLargeArraysAreCopiedIntoLeases) {
  const auto result = client_->Apply({.op = "add", .arguments = {Ramp(kLarge), Ramp(kLarge)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
  EXPECT_EQ(SeenNow().leased_arguments, 2);
  EXPECT_EQ(SeenNow().calls["ApplyStream"], 0);
}

TEST_F(LeasedApplyTest, SmallArraysStayInline) {
  const auto result = client_->Apply({.op = "add", .arguments = {LeasedRamp(10), Ramp(10)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(SeenNow().inline_arguments, 2);
}

TEST_F(LeasedApplyTest, EchoIsWrittenWhereItIsWanted) {
  const Array payload = LeasedRamp(kLarge);
  Array leased = *client_->Allocate(Dtype::kFloat32, {kLarge});
  ASSERT_TRUE(client_->EchoInto(payload, leased).ok());
  EXPECT_TRUE(SameBytes(payload, leased));
  Array plain = *Array::Create(Dtype::kFloat32, {kLarge});
  ASSERT_TRUE(client_->EchoInto(payload, plain).ok());
  EXPECT_TRUE(SameBytes(payload, plain));
  EXPECT_EQ(SeenNow().calls["ApplyStream"], 0);
}

TEST_F(LeasedApplyTest, AnOutputOfUnknownSizeIsNeverWrittenIntoALease) {
  // "sum" gives 4 bytes; were the server told to write an output there, it could not know that
  // the array ends where its neighbour begins.
  const Array neighbour = LeasedRamp(5000);
  Array target = *client_->Allocate(Dtype::kFloat32, {});
  const auto result =
      client_->Apply({.op = "sum", .arguments = {neighbour}, .destinations = {WriteTo{target}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*target.As<float>())[0], (*result->outputs[0].array.As<float>())[0]);
  EXPECT_TRUE(SameBytes(neighbour, Ramp(5000)));
}

TEST_F(LeasedApplyTest, PutAndGetOfLargeArraysGoThroughLeases) {
  for (const Array& array : {LeasedRamp(kLarge), Ramp(kLarge)}) {
    int64_t progress = 0;
    const auto count = [&progress](int64_t done, int64_t) { progress += done; };
    const auto info = client_->Put(array, {.name = "x", .replace = true, .progress = count});
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->shape, Shape{kLarge});
    const auto fetched = client_->Get(ArrayRef::ById(info->id), {.progress = count});
    ASSERT_TRUE(fetched.ok()) << fetched.status();
    EXPECT_TRUE(fetched->leased());
    EXPECT_TRUE(SameBytes(*fetched, array));
    EXPECT_EQ(progress, 2 * array.byte_count());
    Array plain = *Array::Create(Dtype::kFloat32, {kLarge});
    ASSERT_TRUE(client_->GetInto(ArrayRef::ById(info->id), plain.mutable_data()).ok());
    EXPECT_TRUE(SameBytes(plain, array));
    EXPECT_EQ(
        client_->GetInto(ArrayRef::ById(info->id), plain.mutable_data().subspan(4)).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(SeenNow().calls["Put"], 0);
  EXPECT_EQ(SeenNow().calls["Get"], 0);
  EXPECT_EQ(client_->Get(ArrayRef::ByName("y")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LeasedApplyTest, SmallArraysArePutAndFetchedByChunks) {
  ASSERT_TRUE(client_->Put(Ramp(100), {.name = "x"}).ok());
  EXPECT_TRUE(SameBytes(*client_->Get(ArrayRef::ByName("x")), Ramp(100)));
  EXPECT_EQ(SeenNow().calls["Put"], 1);
  EXPECT_EQ(SeenNow().calls["Get"], 1);
}

TEST_F(LeasedApplyTest, AServerStartedAnewIsNoticed) {
  const Array x = LeasedRamp(kLarge);
  server_.leases()->DropAll();
  const auto result = client_->Apply({.op = "add", .arguments = {x, x}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
}

TEST_F(LeasedApplyTest, ArraysOutliveTheirClient) {
  const Array x = LeasedRamp(kLarge);
  const Array sum = client_->Apply({.op = "add", .arguments = {x, x}})->outputs.at(0).array;
  client_.reset();
  EXPECT_TRUE(SameBytes(sum, Doubled(kLarge)));
}

TEST(LeaselessApplyTest, WithoutRoomInLeasesItIsAStream) {
  testing::FakeServerOptions options = LocalServer(internal::LocalHostId());
  options.lease_bytes = 64 * 1024;
  FakeServer server(options);
  const auto client = Connected(EagerOptions(server, Plane::kMemfd));
  EXPECT_FALSE(client->Allocate(Dtype::kFloat32, {kLarge})->leased());
  const auto result = client->Apply({.op = "add", .arguments = {Ramp(kLarge), Ramp(kLarge)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(SameBytes(result->outputs.at(0).array, Doubled(kLarge)));
  EXPECT_EQ(Calls(server, "ApplyStream"), 1);
}

}  // namespace
}  // namespace shoal
