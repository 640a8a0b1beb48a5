#include "server/service/apply_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/runtime/calls.h"
#include "tests/server/service/chunks.h"
#include "tests/support/details.h"
#include "tests/support/gate.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::Gate;
using support::Halt;
using support::ReasonOf;
using support::TestStream;

constexpr size_t kChunk = 1024;

support::EngineOptions Options() {
  support::EngineOptions options;
  options.limits.chunk_bytes = kChunk;
  options.limits.credit_chunks = 4;
  return options;
}

std::string ChunkMessage(const v1::Chunk& chunk) {
  return MessageOf<v1::ApplyStreamRequest>(chunk);
}

/// What came back: the description, the outputs' bytes, and how it ended.
struct Answer {
  absl::Status status;
  v1::ApplyResponse call;
  int64_t acknowledged = 0;
  std::vector<std::string> outputs;
};

class ApplyStreamTest : public ::testing::Test {
 protected:
  std::unique_ptr<TestStream> Open() {
    return std::make_unique<TestStream>(
        [this](transport::StreamCall* call) { return NewApplyStream(engine_.get(), call); });
  }

  /// `op` over streamed int32 arrays of these lengths.
  static v1::ApplyStreamRequest Call(const char* op, const std::vector<int64_t>& counts) {
    v1::ApplyStreamRequest request;
    request.mutable_call()->set_op(op);
    for (const int64_t count : counts) {
      support::SetSpec(v1::DTYPE_INT32, {count},
                       request.mutable_call()->add_arguments()->mutable_streamed());
    }
    return request;
  }

  static Answer Collect(TestStream& stream) {
    Answer answer;
    std::vector<std::string> messages;
    answer.status = stream.ReceiveAll(&messages);
    Assembler assembler;
    bool described = false;
    for (const std::string& message : messages) {
      const auto response = Parsed<v1::ApplyStreamResponse>(message);
      if (response.acknowledged_bytes() > 0) answer.acknowledged = response.acknowledged_bytes();
      if (response.has_call()) {
        EXPECT_FALSE(described) << "described twice";
        described = true;
        answer.call = response.call();
      }
      EXPECT_TRUE(described || !response.has_chunk()) << "a chunk before the description";
      assembler.Take(response);
    }
    for (int i = 0; i < answer.call.outputs_size(); ++i) {
      answer.outputs.push_back(assembler.array(static_cast<size_t>(i)));
    }
    return answer;
  }

  absl::Status StatusOf(const std::vector<std::string>& messages) {
    auto stream = Open();
    for (const std::string& message : messages) {
      if (!stream->Send(message)) break;
    }
    engine_.Settle();
    if (!stream->IsFinished() && stream->IsReading()) stream->HalfClose();
    return stream->AwaitFinish();
  }

  support::TestEngine engine_{Options()};
};

std::vector<int32_t> Numbers(size_t count, int32_t step) {
  std::vector<int32_t> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = step * static_cast<int32_t>(i % 1000);
  return numbers;
}

TEST_F(ApplyStreamTest, ArgumentsOfAnySizeComeInAndTheResultGoesOut) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{256}, size_t{257}, size_t{300'000}}) {
    const auto x = Numbers(count, 3);
    const auto y = Numbers(count, -5);
    auto stream = Open();
    const auto signed_count = static_cast<int64_t>(count);
    ASSERT_TRUE(stream->Send(Call("add", {signed_count, signed_count}).SerializeAsString()));
    std::vector<v1::Chunk> chunks = Chunks(support::ToBytes(x), kChunk, 0);
    for (const v1::Chunk& chunk : Chunks(support::ToBytes(y), kChunk, 1)) chunks.push_back(chunk);
    for (const v1::Chunk& chunk : chunks) {
      ASSERT_TRUE(stream->Send(ChunkMessage(chunk), 500));
    }
    const Answer answer = Collect(*stream);
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    ASSERT_EQ(answer.outputs.size(), 1U);
    EXPECT_TRUE(support::FromBytes<int32_t>(answer.outputs[0]) == Numbers(count, -2));
    stream.reset();
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }
}

TEST_F(ApplyStreamTest, AcknowledgesTwiceAWindowOverAllArguments) {
  const std::string x(3 * kChunk, '\1');
  auto stream = Open();
  stream->Send(Call("add", {768, 768}).SerializeAsString());
  for (const int array : {0, 1}) {
    for (const v1::Chunk& chunk : Chunks(x, kChunk, array)) stream->Send(ChunkMessage(chunk));
  }
  const Answer answer = Collect(*stream);
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.acknowledged, 6 * 1024);
}

TEST_F(ApplyStreamTest, StreamedInlineAndStoredArgumentsMix) {
  v1::ApplyStreamRequest request;
  request.mutable_call()->set_op("add");
  support::SetInline({1, 2}, request.mutable_call()->add_arguments());
  support::SetSpec(v1::DTYPE_FLOAT32, {2},
                   request.mutable_call()->add_arguments()->mutable_streamed());
  *request.mutable_chunk() = ChunkOf(support::ToBytes(std::vector<float>{10, 20}), 0, 8, 1);
  request.mutable_call()->add_destinations()->mutable_store()->set_name("out");
  auto stream = Open();
  stream->Send(request.SerializeAsString());
  Answer answer = Collect(*stream);
  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_NE(answer.call.outputs(0).array_id(), 0U);

  v1::ApplyStreamRequest none;  // Nothing streams in, something streams out.
  none.mutable_call()->set_op("axpy");
  none.mutable_call()->add_arguments()->mutable_ref()->set_name("out");
  none.mutable_call()->add_arguments()->mutable_ref()->set_name("out");
  v1::Param* a = none.mutable_call()->add_params();
  a->set_name("a");
  a->set_int_value(2);
  stream = Open();
  stream->Send(none.SerializeAsString());
  answer = Collect(*stream);
  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_TRUE(answer.call.outputs(0).streamed());
  EXPECT_EQ(support::FromBytes<float>(answer.outputs[0]), (std::vector<float>{33, 66}));
}

TEST_F(ApplyStreamTest, RefusesWhatIsMalformed) {
  const std::string bytes(3000, 'q');
  const std::string call = Call("sort", {512}).SerializeAsString();
  const std::string first = ChunkMessage(ChunkOf(bytes, 0, kChunk));
  v1::Chunk wrong = ChunkOf(bytes, 0, 8);
  wrong.set_crc32c(0);
  v1::ApplyStreamRequest with_chunk = Call("sort", {0});
  *with_chunk.mutable_chunk() = ChunkOf(bytes, 0, 4);
  struct Case {
    std::vector<std::string> messages;
    StatusCode code;
    const char* reason;
  };
  for (const Case& one : {
           Case{{}, StatusCode::kInvalidArgument, ""},
           {{""}, StatusCode::kInvalidArgument, ""},
           {{first}, StatusCode::kInvalidArgument, ""},
           {{"\xff\xff"}, StatusCode::kInvalidArgument, ""},
           {{Call("nothing", {1}).SerializeAsString()}, StatusCode::kUnimplemented, "UNKNOWN_OP"},
           {{Call("add", {1}).SerializeAsString()}, StatusCode::kInvalidArgument, ""},
           {{call}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {{call, first}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {{call, ""}, StatusCode::kInvalidArgument, ""},
           {{call, first, first}, StatusCode::kInvalidArgument, "CHUNK_OUT_OF_ORDER"},
           {{call, ChunkMessage(ChunkOf(bytes, 0, 8, 1))}, StatusCode::kInvalidArgument, ""},
           {{call, ChunkMessage(ChunkOf(bytes, 0, kChunk + 1))},
            StatusCode::kInvalidArgument,
            "CHUNK_TOO_LONG"},
           {{call, first, ChunkMessage(ChunkOf(bytes, kChunk, 1024 - 1))},
            StatusCode::kInvalidArgument,
            "TRUNCATED"},
           {{call, ChunkMessage(wrong)}, StatusCode::kDataLoss, "CHECKSUM"},
           {{with_chunk.SerializeAsString()}, StatusCode::kInvalidArgument, ""},
           {{Call("sort", {1 << 28}).SerializeAsString()},
            StatusCode::kResourceExhausted,
            "OUT_OF_MEMORY"},
           {{Call("dot", {0, 1}).SerializeAsString(), ChunkMessage(ChunkOf(bytes, 0, 4, 1))},
            StatusCode::kInvalidArgument,
            ""},
       }) {
    const absl::Status status = StatusOf(one.messages);
    EXPECT_EQ(status.code(), one.code) << status;
    EXPECT_EQ(ReasonOf(status), one.reason) << status;
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }
}

TEST_F(ApplyStreamTest, EndsOnceWhereverItsInputBreaksOff) {
  const std::string bytes(4 * kChunk, 'q');
  for (size_t landed = 0; landed < 5; ++landed) {
    auto stream = Open();
    if (landed > 0) stream->Send(Call("sort", {1024}).SerializeAsString());
    const auto chunks = Chunks(bytes, kChunk);
    for (size_t i = 0; i + 1 < landed; ++i) stream->Send(ChunkMessage(chunks[i]));
    stream->Cancel();
    const absl::Status status = stream->AwaitFinish();
    EXPECT_FALSE(status.ok());
    stream.reset();
    engine_.Settle();
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }
}

TEST_F(ApplyStreamTest, ACancellationReachesACallThatWaits) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  const Gate other(engine_.get(), WorkerId{1});
  auto stream = Open();
  stream->Send(Call("sum", {2}).SerializeAsString());
  stream->Send(ChunkMessage(ChunkOf(std::string(8, 'q'), 0, 8)));
  EXPECT_FALSE(stream->IsFinished());
  stream->Cancel();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
}

TEST_F(ApplyStreamTest, ACancellationReachesACallThatRuns) {
  auto first = std::make_unique<Halt>(engine_.get(), WorkerId{0});
  auto second = std::make_unique<Halt>(engine_.get(), WorkerId{1});
  auto stream = Open();
  stream->Send(Call("sum", {2}).SerializeAsString());
  stream->Send(ChunkMessage(ChunkOf(std::string(8, 'q'), 0, 8)));
  EXPECT_FALSE(stream->IsFinished());
  stream->Cancel();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
  first.reset();
  second.reset();
  stream.reset();
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(ApplyStreamTest, ACancellationReachesTheOutputOnItsWay) {
  auto stream = Open();
  stream->Send(Call("sort", {1024}).SerializeAsString());
  const std::string bytes(4 * kChunk, 'q');
  for (const v1::Chunk& chunk : Chunks(bytes, kChunk)) stream->Send(ChunkMessage(chunk));
  stream->Receive();
  stream->AwaitWrite();
  stream->Cancel();
  stream->AwaitFinish().IgnoreError();
  stream.reset();
  engine_.Drain();  // The kernel may outlive the call that gave it up.
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

// The last acknowledgement may be answered while the result comes from a worker.
TEST_F(ApplyStreamTest, TheDescriptionComesFirstWhateverIsOnItsWay) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "the halted streams keep the chunks from landing";
  const std::string bytes(2 * kChunk, 'q');
  for (int round = 0; round < 50; ++round) {
    auto first = std::make_unique<Halt>(engine_.get(), WorkerId{0});
    auto second = std::make_unique<Halt>(engine_.get(), WorkerId{1});
    auto stream = Open();
    stream->Send(Call("sort", {512}).SerializeAsString());
    for (const v1::Chunk& chunk : Chunks(bytes, kChunk)) stream->Send(ChunkMessage(chunk));
    stream->AwaitWrite();
    std::thread worker([&] {
      first.reset();
      second.reset();
    });
    const Answer answer = Collect(*stream);
    worker.join();
    ASSERT_TRUE(answer.status.ok());
    ASSERT_EQ(answer.outputs.size(), 1U);
    ASSERT_TRUE(answer.outputs[0] == bytes);
  }
}

TEST_F(ApplyStreamTest, AFailedRunIsOneLineOfTheLog) {
  v1::ApplyStreamRequest request = Call("sort", {1});
  request.mutable_call()->add_destinations()->mutable_leased()->set_lease_id(99);
  auto stream = Open();
  stream->Send(request.SerializeAsString());
  stream->Send(ChunkMessage(ChunkOf("abcd", 0, 4)));
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kNotFound);
  stream.reset();
  const std::string log = engine_.Log();
  const size_t line = log.find("call failed");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_NE(log.find("no lease 99"), std::string::npos) << log;
  EXPECT_EQ(log.find("call failed", line + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace shoal::service
