#include "server/service/get_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/server/runtime/calls.h"
#include "tests/server/service/chunks.h"
#include "tests/support/engine.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using kernels::DType;
using support::TestStream;

support::EngineOptions Options() {
  support::EngineOptions options;
  options.limits.chunk_bytes = 100;
  return options;
}

class GetStreamTest : public ::testing::Test {
 protected:
  GetStreamTest() {
    store_.name = "x";
    calls_.Store(support::Type(DType::kInt32, {200}), bytes_, store_);
  }

  std::unique_ptr<TestStream> Open() {
    return std::make_unique<TestStream>(
        [this](transport::StreamCall* call) { return NewGetStream(engine_.get(), call); });
  }

  static v1::GetRequest Named(const char* name) {
    v1::GetRequest request;
    request.mutable_array()->set_name(name);
    return request;
  }

  /// The bytes that come, or the error.
  absl::StatusOr<std::string> Get(const v1::GetRequest& request) {
    auto stream = Open();
    stream->Send(request.SerializeAsString());
    std::vector<std::string> messages;
    const absl::Status status = stream->ReceiveAll(&messages);
    if (!status.ok()) return status;
    Assembler assembler;
    int64_t offset = request.offset();
    for (size_t i = 0; i < messages.size(); ++i) {
      auto response = Parsed<v1::GetResponse>(messages[i]);
      EXPECT_EQ(response.has_array(), i == 0);
      if (response.has_chunk()) {
        EXPECT_EQ(response.chunk().has_crc32c(), !request.no_checksum());
        EXPECT_LE(response.chunk().data().size(), 100U);
        response.mutable_chunk()->set_offset(response.chunk().offset() - offset);
      }
      assembler.Take(response);
    }
    return assembler.array(0);
  }

  absl::Status Free(const char* name) {
    const plan::StoredRef ref{{}, name};
    return engine_->catalogue->Free({&ref, 1}, false).status();
  }

  support::TestEngine engine_{Options()};
  runtime::Calls calls_{engine_.get()};
  const std::string bytes_ = support::RandomBytes(800, 1);
  plan::StoreAs store_;
};

TEST_F(GetStreamTest, GivesTheArrayInAnyChunksFromAnyElement) {
  for (const int chunk_bytes : {0, 1, 7, 64, 99, 100, 5000}) {
    for (const int64_t offset : {0, 4, 396, 400, 796, 800}) {
      for (const int64_t count : {0, 1, 13, 450, 5000}) {
        v1::GetRequest request = Named("x");
        request.set_chunk_bytes(chunk_bytes);
        request.set_offset(offset);
        request.set_byte_count(count);
        request.set_no_checksum(count == 13);
        const auto got = Get(request);
        ASSERT_TRUE(got.ok()) << got.status();
        const size_t wanted = count == 0 ? std::string::npos : static_cast<size_t>(count);
        EXPECT_TRUE(*got == bytes_.substr(static_cast<size_t>(offset), wanted));
      }
    }
  }
}

TEST_F(GetStreamTest, AnArrayOfNoBytesIsItsDescriptionAlone) {
  plan::StoreAs store;
  store.name = "empty";
  calls_.Store(support::Type(DType::kInt32, {3, 0}), "", store);
  auto stream = Open();
  stream->Send(Named("empty").SerializeAsString());
  std::vector<std::string> messages;
  EXPECT_TRUE(stream->ReceiveAll(&messages).ok());
  ASSERT_EQ(messages.size(), 1U);
  const auto response = Parsed<v1::GetResponse>(messages[0]);
  EXPECT_EQ(response.array().spec().shape_size(), 2);
  EXPECT_FALSE(response.has_chunk());
}

TEST_F(GetStreamTest, RefusesWhatIsNotThereOrNotWithin) {
  const auto code_of = [&](const auto& change) {
    v1::GetRequest request = Named("x");
    change(request);
    return Get(request).status().code();
  };
  EXPECT_EQ(code_of([](auto& r) { r.mutable_array()->set_name("y"); }), StatusCode::kNotFound);
  EXPECT_EQ(code_of([](auto& r) { r.clear_array(); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of([](auto& r) { r.set_offset(804); }), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of([](auto& r) { r.set_offset(-4); }), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of([](auto& r) { r.set_offset(2); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of([](auto& r) { r.set_byte_count(-1); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of([](auto& r) { r.set_chunk_bytes(-1); }), StatusCode::kInvalidArgument);
  const auto unfinished = *engine_->catalogue->Create(support::Type(DType::kInt8, {1}), {});
  EXPECT_EQ(code_of([&](auto& r) { r.mutable_array()->set_id(unfinished->id.value); }),
            StatusCode::kFailedPrecondition);
  auto stream = Open();
  stream->Send("\xff\xff");
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kInvalidArgument);
  stream = Open();
  stream->HalfClose();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kInvalidArgument);
}

TEST_F(GetStreamTest, HoldsTheArrayUntilTheLastChunkAndNoLonger) {
  auto stream = Open();
  stream->Send(Named("x").SerializeAsString());
  for (int chunk = 0; chunk < 7; ++chunk) {
    EXPECT_EQ(Free("x").code(), StatusCode::kFailedPrecondition) << chunk;
    stream->Receive();
  }
  // The last one leaves with the end of the call: who has it may free the array.
  stream->AwaitWrite();
  ASSERT_TRUE(stream->IsFinished());
  EXPECT_TRUE(Free("x").ok());  // Though the handler is still there.
  EXPECT_TRUE(stream->Receive().has_value());
}

TEST_F(GetStreamTest, AReaderThatStallsIsSentOneChunk) {
  auto stream = Open();
  stream->Send(Named("x").SerializeAsString());
  stream->AwaitWrite();  // And no other: the stream refuses two at once.
  EXPECT_FALSE(stream->IsReading());
}

TEST_F(GetStreamTest, EndsOnceWhereverItIsCancelled) {
  for (int written = 0; written < 8; ++written) {
    auto stream = Open();
    stream->Send(Named("x").SerializeAsString());
    for (int i = 0; i < written; ++i) stream->Receive();
    stream->Cancel();
    stream->AwaitFinish().IgnoreError();
    stream.reset();
    EXPECT_EQ((*engine_->catalogue->Find({{}, "x"}))->uses, 1);  // Only this one.
  }
  auto stream = Open();
  stream->Cancel();
  EXPECT_EQ(stream->AwaitFinish().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace shoal::service
