#include "server/service/echo_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/service/apply_stream.h"
#include "tests/server/service/chunks.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "tests/support/gate.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::Halt;
using support::ReasonOf;
using support::TestStream;

constexpr size_t kChunk = 1024;
constexpr int kCredits = 3;

support::EngineOptions Options() {
  support::EngineOptions options;
  options.limits.chunk_bytes = kChunk;
  options.limits.credit_chunks = kCredits;
  return options;
}

std::string ChunkMessage(const v1::Chunk& chunk) {
  return MessageOf<v1::ApplyStreamRequest>(chunk);
}

class EchoStreamTest : public ::testing::TestWithParam<v1::Route> {
 protected:
  std::unique_ptr<TestStream> Open(size_t byte_count) {
    auto stream = std::make_unique<TestStream>(
        [this](transport::StreamCall* call) { return NewApplyStream(engine_.get(), call); });
    v1::ApplyStreamRequest request;
    request.mutable_call()->set_op("echo");
    request.mutable_call()->set_route(GetParam());
    support::SetSpec(v1::DTYPE_UINT8, {static_cast<int64_t>(byte_count)},
                     request.mutable_call()->add_arguments()->mutable_streamed());
    EXPECT_TRUE(stream->Send(request.SerializeAsString()));
    return stream;
  }

  /// Takes all that comes, and checks that it is the description, then `bytes`.
  static void ExpectEcho(TestStream& stream, const std::string& bytes) {
    std::vector<std::string> messages;
    const absl::Status status = stream.ReceiveAll(&messages);
    ASSERT_TRUE(status.ok()) << status;
    Assembler assembler;
    for (size_t i = 0; i < messages.size(); ++i) {
      const auto response = Parsed<v1::ApplyStreamResponse>(messages[i]);
      EXPECT_EQ(response.has_call(), i == 0);
      assembler.Take(response);
    }
    EXPECT_TRUE(assembler.array(0) == bytes);
  }

  support::TestEngine engine_{Options()};
};

TEST_P(EchoStreamTest, ChunksOfAnySizeComeBackAsTheyWere) {
  std::mt19937_64 random(1);
  for (const size_t size : {size_t{0}, size_t{1}, kChunk, 5 * kChunk + 3, 40 * kChunk}) {
    const std::string bytes = support::RandomBytes(size, size);
    auto stream = Open(size);
    std::thread sender([&] {
      for (size_t at = 0; at < size;) {
        const size_t count = std::min(size - at, 1 + random() % kChunk);
        if (!stream->Send(ChunkMessage(ChunkOf(bytes, at, count)), 100)) break;
        at += count;
      }
    });
    ExpectEcho(*stream, bytes);
    sender.join();
    stream.reset();
    engine_.Settle();
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }
}

TEST_P(EchoStreamTest, ACallerThatDoesNotReadIsNotReadFrom) {
  const std::string bytes = support::RandomBytes(20 * kChunk, 2);
  auto stream = Open(bytes.size());
  const auto chunks = Chunks(bytes, kChunk);
  size_t sent = 0;
  while (sent < chunks.size() && stream->IsReading()) {
    stream->Send(ChunkMessage(chunks[sent++]));
    engine_.Settle();  // Kernels end on the workers' own threads.
  }
  EXPECT_LE(sent, kCredits + 1U);  // One more than may wait is on its way.
  EXPECT_GE(sent, static_cast<size_t>(kCredits));
  std::thread sender([&] {
    while (sent < chunks.size()) stream->Send(ChunkMessage(chunks[sent++]));
  });
  ExpectEcho(*stream, bytes);
  sender.join();
}

TEST_P(EchoStreamTest, RefusesWhatIsMalformed) {
  const std::string bytes(3000, 'q');
  v1::Chunk wrong = ChunkOf(bytes, 0, 8);
  wrong.set_crc32c(0);
  struct Case {
    size_t size;
    std::vector<std::string> messages;
    StatusCode code;
    const char* reason;
  };
  const std::string first = ChunkMessage(ChunkOf(bytes, 0, kChunk));
  for (const Case& one : {
           Case{3000, {}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {3000, {first}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {3000, {first, first}, StatusCode::kInvalidArgument, "CHUNK_OUT_OF_ORDER"},
           {3000, {ChunkMessage(wrong)}, StatusCode::kDataLoss, "CHECKSUM"},
           {3000, {""}, StatusCode::kInvalidArgument, ""},
           {3000, {"\xff"}, StatusCode::kInvalidArgument, ""},
           {3000, {ChunkMessage(ChunkOf(bytes, 0, 8, 1))}, StatusCode::kInvalidArgument, ""},
           {10,
            {ChunkMessage(ChunkOf(bytes, 0, 11))},
            StatusCode::kInvalidArgument,
            "CHUNK_BEYOND_END"},
       }) {
    auto stream = Open(one.size);
    for (const std::string& message : one.messages) {
      if (!stream->Send(message)) break;
    }
    engine_.Settle();
    if (!stream->IsFinished() && stream->IsReading()) stream->HalfClose();
    const absl::Status status = stream->AwaitFinish();
    EXPECT_EQ(status.code(), one.code) << status;
    EXPECT_EQ(ReasonOf(status), one.reason) << status;
  }
}

TEST_P(EchoStreamTest, EndsOnceWhereverItIsCancelled) {
  const std::string bytes = support::RandomBytes(6 * kChunk, 3);
  const auto chunks = Chunks(bytes, kChunk);
  for (size_t sent = 0; sent <= chunks.size(); ++sent) {
    auto stream = Open(bytes.size());
    for (size_t i = 0; i < sent; ++i) {
      stream->Send(ChunkMessage(chunks[i]));
      if (i % 2 == 1) stream->Receive();
    }
    stream->Cancel();
    stream->AwaitFinish().IgnoreError();
    stream.reset();
    engine_.Settle();
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Routes, EchoStreamTest,
                         ::testing::Values(v1::ROUTE_FRONT, v1::ROUTE_WORKER, v1::ROUTE_DEVICE),
                         [](const auto& route) { return v1::Route_Name(route.param); });

using EchoOnDeviceTest = EchoStreamTest;

TEST_P(EchoOnDeviceTest, KeepsTheOrderThoughTheFirstWorkerIsTheSlowest) {
  const std::string bytes = support::RandomBytes(2 * kChunk, 4);
  auto stream = Open(bytes.size());
  Halt halt(engine_.get(), WorkerId{0});  // It holds the first chunk, the other the second.
  for (const v1::Chunk& chunk : Chunks(bytes, kChunk)) stream->Send(ChunkMessage(chunk));
  EXPECT_FALSE(stream->IsWriting());
  halt.Resume();
  ExpectEcho(*stream, bytes);
}

TEST_P(EchoOnDeviceTest, KernelsThatFallBehindHoldUpTheSender) {
  const std::string bytes = support::RandomBytes(10 * kChunk, 5);
  auto stream = Open(bytes.size());
  Halt halt(engine_.get(), WorkerId{0});
  const auto chunks = Chunks(bytes, kChunk);
  size_t sent = 0;
  while (stream->IsReading()) stream->Send(ChunkMessage(chunks[sent++]));
  EXPECT_EQ(sent, static_cast<size_t>(kCredits));
  std::thread worker([&] { halt.Resume(); });
  std::thread sender([&] {
    while (sent < chunks.size()) stream->Send(ChunkMessage(chunks[sent++]));
  });
  ExpectEcho(*stream, bytes);
  worker.join();
  sender.join();
}

TEST_P(EchoOnDeviceTest, ACancellationLeavesKernelsTheirMemory) {
  const std::string bytes = support::RandomBytes(4 * kChunk, 6);
  auto halt = std::make_unique<Halt>(engine_.get(), WorkerId{0});
  auto stream = Open(bytes.size());
  stream->Send(ChunkMessage(ChunkOf(bytes, 0, kChunk)));
  stream->Cancel();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
  stream.reset();
  const size_t staged = support::RunsOnSealedDevices() ? kChunk : 0;
  EXPECT_EQ(engine_.BytesInUse(), static_cast<int64_t>(2 * bytes.size() + staged));
  halt.reset();
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

INSTANTIATE_TEST_SUITE_P(Device, EchoOnDeviceTest, ::testing::Values(v1::ROUTE_DEVICE));

}  // namespace
}  // namespace shoal::service
