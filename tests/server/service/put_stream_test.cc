#include "server/service/put_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/runtime/operand.h"
#include "tests/server/service/chunks.h"
#include "tests/support/bytes.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "tests/support/gate.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::ReasonOf;
using support::TestStream;

constexpr size_t kChunk = 1024;

support::EngineOptions Options() {
  support::EngineOptions options;
  options.limits.chunk_bytes = kChunk;
  options.limits.credit_chunks = 4;
  return options;
}

std::string ChunkMessage(const v1::Chunk& chunk) { return MessageOf<v1::PutRequest>(chunk); }

class PutStreamTest : public ::testing::Test {
 protected:
  std::unique_ptr<TestStream> Open() {
    return std::make_unique<TestStream>(
        [this](transport::StreamCall* call) { return NewPutStream(engine_.get(), call); });
  }

  static v1::PutRequest Header(size_t byte_count, const char* name = "x") {
    v1::PutRequest request;
    support::SetSpec(v1::DTYPE_UINT8, {static_cast<int64_t>(byte_count)},
                     request.mutable_header()->mutable_spec());
    request.mutable_header()->mutable_store()->set_name(name);
    return request;
  }

  /// Sends the header, then `count` chunks.
  std::unique_ptr<TestStream> Begin(const std::string& bytes, size_t count) {
    auto stream = Open();
    EXPECT_TRUE(stream->Send(Header(bytes.size()).SerializeAsString()));
    const auto chunks = Chunks(bytes, kChunk);
    for (size_t i = 0; i < count; ++i) EXPECT_TRUE(stream->Send(ChunkMessage(chunks[i])));
    engine_.Settle();
    return stream;
  }

  /// The status of a stream of these messages.
  absl::Status StatusOf(const std::vector<std::string>& messages) {
    auto stream = Open();
    for (const std::string& message : messages) {
      if (!stream->Send(message)) break;
    }
    engine_.Settle();
    if (!stream->IsFinished() && stream->IsReading()) stream->HalfClose();
    return stream->AwaitFinish();
  }

  std::string BytesOf(const std::string& name) {
    const auto use = engine_->catalogue->Find({{}, name});
    if (!use.ok()) return std::string(use.status().message());
    return support::ReadBytes(runtime::ArrayOperand(**use, nullptr));
  }

  void ExpectNothingKept() {
    EXPECT_EQ(engine_->catalogue->count(), 0);
    EXPECT_EQ(engine_.BytesInUse(), 0);
  }

  support::TestEngine engine_{Options()};
};

TEST_F(PutStreamTest, StoresWhatComesAndAcknowledgesTwiceAWindow) {
  const std::string bytes = support::RandomBytes(10 * kChunk + 7, 1);
  auto stream = Begin(bytes, 11);
  std::vector<std::string> messages;
  EXPECT_TRUE(stream->ReceiveAll(&messages).ok());
  std::vector<int64_t> acknowledged;
  for (const std::string& message : messages) {
    acknowledged.push_back(Parsed<v1::PutResponse>(message).acknowledged_bytes());
  }
  EXPECT_EQ(acknowledged, (std::vector<int64_t>{0, 2048, 4096, 6144, 8192, 10240, 10247}));
  const auto last = Parsed<v1::PutResponse>(messages.back());
  EXPECT_EQ(last.array().name(), "x");
  EXPECT_TRUE(last.array().complete());
  EXPECT_EQ(last.array().id(), last.array_id());
  EXPECT_TRUE(BytesOf("x") == bytes);
}

TEST_F(PutStreamTest, ASmallArrayTakesOneMessageEachWay) {
  const std::string bytes = support::RandomBytes(100, 2);
  v1::PutRequest request = Header(100);
  *request.mutable_chunk() = ChunkOf(bytes, 0, 100);
  auto stream = Open();
  ASSERT_TRUE(stream->Send(request.SerializeAsString(), /*piece_bytes=*/7));
  EXPECT_FALSE(stream->IsReading());
  std::vector<std::string> messages;
  EXPECT_TRUE(stream->ReceiveAll(&messages).ok());
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_EQ(BytesOf("x"), bytes);
}

TEST_F(PutStreamTest, AnArrayOfNoBytesHasNoChunk) {
  EXPECT_TRUE(StatusOf({Header(0).SerializeAsString()}).ok());
  EXPECT_EQ(BytesOf("x"), "");
}

TEST_F(PutStreamTest, AReplicatedArrayReachesAllWorkersBeforeTheEnd) {
  for (const size_t size : {size_t{3}, 5 * kChunk}) {
    const std::string bytes = support::RandomBytes(size, 3);
    auto stream = Open();
    v1::PutRequest header = Header(size);
    header.mutable_header()->mutable_store()->set_replace(true);
    header.mutable_header()->mutable_store()->mutable_distribution()->set_kind(
        v1::Distribution::KIND_REPLICATED);
    stream->Send(header.SerializeAsString());
    for (const v1::Chunk& chunk : Chunks(bytes, kChunk)) stream->Send(ChunkMessage(chunk));
    ASSERT_TRUE(stream->AwaitFinish().ok());
    stream.reset();
    const auto array = *engine_->catalogue->Find({{}, "x"});
    ASSERT_EQ(array->shards.size(), 2U);
    for (const runtime::Shard& shard : array->shards) {
      EXPECT_TRUE(support::ReadBytes(support::ShardOperand(*array, shard)) == bytes);
    }
  }
}

TEST_F(PutStreamTest, ACancellationWhileTheReplicasAreMadeEndsTheStreamOnce) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "the halted stream keeps the chunk itself from landing";
  support::Halt halt(engine_.get(), WorkerId{1});
  auto stream = Open();
  v1::PutRequest request = Header(3);
  request.mutable_header()->mutable_store()->mutable_distribution()->set_kind(
      v1::Distribution::KIND_REPLICATED);
  *request.mutable_chunk() = ChunkOf("abc", 0, 3);
  stream->Send(request.SerializeAsString());
  EXPECT_FALSE(stream->IsFinished());
  stream->Cancel();
  EXPECT_FALSE(stream->IsFinished());  // The copy still writes.
  halt.Resume();
  EXPECT_TRUE(stream->AwaitFinish().ok());
  EXPECT_EQ(BytesOf("x"), "abc");
}

TEST_F(PutStreamTest, WhoHasTheAnswerMayFreeTheArrayAtOnce) {
  v1::PutRequest request = Header(3);
  *request.mutable_chunk() = ChunkOf("abc", 0, 3);
  auto stream = Open();
  stream->Send(request.SerializeAsString());
  stream->AwaitWrite();  // The answer is on its way; the handler is still there.
  const plan::StoredRef ref{{}, "x"};
  EXPECT_TRUE(engine_->catalogue->Free({&ref, 1}, false).ok());
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(PutStreamTest, RefusesWhatIsMalformedAndKeepsNothing) {
  const std::string bytes(3000, 'q');
  const std::string header = Header(3000).SerializeAsString();
  const std::string first = ChunkMessage(ChunkOf(bytes, 0, kChunk));
  v1::PutRequest bad_spec = Header(1);
  bad_spec.mutable_header()->mutable_spec()->set_shape(0, -1);
  v1::PutRequest bad_worker = Header(1);
  bad_worker.mutable_header()->mutable_store()->mutable_distribution()->add_workers(2);
  const auto numbered = [&](int32_t array) {
    v1::Chunk chunk = ChunkOf(bytes, array < 0 ? kChunk : 0, kChunk);
    chunk.set_array(array);
    return ChunkMessage(chunk);
  };
  struct Case {
    std::vector<std::string> messages;
    StatusCode code;
    const char* reason;
  };
  for (const Case& one : {
           Case{{}, StatusCode::kInvalidArgument, ""},
           {{""}, StatusCode::kInvalidArgument, ""},
           {{first}, StatusCode::kInvalidArgument, ""},
           {{"\x0b\xff\xff"}, StatusCode::kInvalidArgument, ""},
           {{bad_spec.SerializeAsString()}, StatusCode::kInvalidArgument, ""},
           {{bad_worker.SerializeAsString()}, StatusCode::kNotFound, ""},
           {{header}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {{header, first}, StatusCode::kInvalidArgument, "TRUNCATED"},
           {{header, header}, StatusCode::kInvalidArgument, ""},
           {{header, header + first}, StatusCode::kInvalidArgument, ""},
           {{header, numbered(1)}, StatusCode::kInvalidArgument, ""},
           {{header, first, numbered(-1)}, StatusCode::kInvalidArgument, ""},
           {{header + numbered(1)}, StatusCode::kInvalidArgument, ""},
           {{header, first, first}, StatusCode::kInvalidArgument, "CHUNK_OUT_OF_ORDER"},
           {{header, ChunkMessage(ChunkOf(bytes, 10, 10))},
            StatusCode::kInvalidArgument,
            "CHUNK_OUT_OF_ORDER"},
           {{header, ChunkMessage(ChunkOf(bytes, 0, kChunk + 1))},
            StatusCode::kInvalidArgument,
            "CHUNK_TOO_LONG"},
           {{Header(10).SerializeAsString(), ChunkMessage(ChunkOf(bytes, 0, 11))},
            StatusCode::kInvalidArgument,
            "CHUNK_BEYOND_END"},
           {{header, ChunkMessage({})}, StatusCode::kInvalidArgument, "CHUNK_EMPTY"},
           {{Header(1 << 30).SerializeAsString()}, StatusCode::kResourceExhausted, "OUT_OF_MEMORY"},
       }) {
    const absl::Status status = StatusOf(one.messages);
    EXPECT_EQ(status.code(), one.code) << status;
    EXPECT_EQ(ReasonOf(status), one.reason) << status;
    ExpectNothingKept();
  }
}

TEST_F(PutStreamTest, ATakenNameIsRefusedFromTheHeader) {
  ASSERT_TRUE(StatusOf({Header(0).SerializeAsString()}).ok());
  EXPECT_EQ(StatusOf({Header(1).SerializeAsString()}).code(), StatusCode::kAlreadyExists);
}

TEST_F(PutStreamTest, AWrongChecksumMayBeMadeGood) {
  const std::string bytes = support::RandomBytes(2 * kChunk, 4);
  v1::Chunk wrong = ChunkOf(bytes, kChunk, kChunk);
  wrong.set_crc32c(wrong.crc32c() + 1);
  auto stream = Begin(bytes, 1);
  const auto id = Parsed<v1::PutResponse>(stream->Receive()).array_id();
  stream->Send(ChunkMessage(wrong));
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kDataLoss);
  stream = Open();
  v1::PutRequest resume;
  resume.mutable_header()->set_resume_id(id);
  stream->Send(resume.SerializeAsString());
  EXPECT_EQ(Parsed<v1::PutResponse>(stream->Receive()).acknowledged_bytes(), kChunk);
  stream->Send(ChunkMessage(ChunkOf(bytes, kChunk, kChunk)));
  EXPECT_TRUE(stream->AwaitFinish().ok());
  EXPECT_TRUE(BytesOf("x") == bytes);
}

TEST_F(PutStreamTest, AnUploadThatBrokeOffAnywhereGoesOnWhereItWas) {
  const std::string bytes = support::RandomBytes(4 * kChunk, 5);
  for (size_t landed = 0; landed < 4; ++landed) {
    auto stream = Begin(bytes, landed);
    const auto id = Parsed<v1::PutResponse>(stream->Receive()).array_id();
    v1::PutRequest resume;
    resume.mutable_header()->set_resume_id(id);
    // Two must not write one array: while it runs, another is to ask again.
    EXPECT_EQ(StatusOf({resume.SerializeAsString()}).code(), StatusCode::kUnavailable);
    stream->Cancel();
    EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
    stream = Open();
    stream->Send(resume.SerializeAsString());
    EXPECT_EQ(Parsed<v1::PutResponse>(stream->Receive()).acknowledged_bytes(),
              static_cast<int64_t>(landed * kChunk));
    const auto chunks = Chunks(bytes, kChunk);
    for (size_t i = landed; i < 4; ++i) stream->Send(ChunkMessage(chunks[i]));
    EXPECT_TRUE(stream->AwaitFinish().ok());
    EXPECT_TRUE(BytesOf("x") == bytes);
    stream.reset();
    const plan::StoredRef ref{{}, "x"};
    ASSERT_TRUE(engine_->catalogue->Free({&ref, 1}, false).ok());
  }
}

TEST_F(PutStreamTest, WhoLostOnlyTheLastAnswerIsGivenItAgain) {
  const std::string bytes = support::RandomBytes(2 * kChunk, 6);
  auto stream = Begin(bytes, 2);
  const auto id = Parsed<v1::PutResponse>(stream->Receive()).array_id();
  EXPECT_TRUE(stream->AwaitFinish().ok());
  v1::PutRequest resume;
  resume.mutable_header()->set_resume_id(id);
  for (const bool with_chunk : {false, true}) {
    if (with_chunk) *resume.mutable_chunk() = ChunkOf(bytes, 0, kChunk);
    stream = Open();
    stream->Send(resume.SerializeAsString());
    std::vector<std::string> messages;
    EXPECT_TRUE(stream->ReceiveAll(&messages).ok());
    ASSERT_EQ(messages.size(), 1U);
    const auto answer = Parsed<v1::PutResponse>(messages[0]);
    EXPECT_EQ(answer.array_id(), id);
    EXPECT_EQ(answer.acknowledged_bytes(), static_cast<int64_t>(bytes.size()));
    EXPECT_TRUE(answer.array().complete());
    EXPECT_TRUE(BytesOf("x") == bytes);
  }
  stream.reset();
  const plan::StoredRef ref{{}, "x"};
  EXPECT_TRUE(engine_->catalogue->Free({&ref, 1}, false).ok());
}

TEST_F(PutStreamTest, ACancellationBeforeTheHeaderKeepsNothing) {
  auto stream = Open();
  stream->Cancel();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
  stream.reset();
  ExpectNothingKept();
}

TEST_F(PutStreamTest, AFaultIsOneLineOfTheLog) {
  StatusOf({Header(10).SerializeAsString()}).IgnoreError();
  const std::string log = engine_.Log();
  const size_t line = log.find("call failed");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_NE(log.find("closed at offset 0 of 10"), std::string::npos) << log;
  EXPECT_EQ(log.find("call failed", line + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace shoal::service
