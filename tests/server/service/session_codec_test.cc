#include "server/service/session_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "shoal/v1/compute.pb.h"
#include "tests/support/arrays.h"

namespace shoal::service {
namespace {

absl::Status Decode(const std::string& bytes, SessionBatch* batch) {
  return DecodeSessionRequest(bytes, batch);
}

v1::SessionRequest RandomRequest(std::mt19937_64& random) {
  v1::SessionRequest request;
  // Numbers of every length that a varint may have.
  const auto number = [&] { return random() >> random() % 64; };
  if (random() % 3 == 0) request.mutable_open()->set_ordered(random() % 2 == 0);
  for (uint64_t i = random() % 4; i > 0; --i) {
    v1::SessionTask* task = request.add_tasks();
    if (random() % 4 != 0) task->set_id(number());
    if (random() % 4 != 0) task->mutable_call()->set_op(std::string(random() % 300, 'q'));
    if (random() % 2 == 0) task->set_timeout_us(static_cast<int64_t>(number()));
  }
  for (uint64_t i = random() % 4; i > 0; --i) request.add_cancel(number());
  return request;
}

void ExpectSame(const SessionBatch& batch, const v1::SessionRequest& request) {
  EXPECT_EQ(batch.has_open, request.has_open());
  EXPECT_EQ(batch.ordered, request.open().ordered());
  ASSERT_EQ(static_cast<int>(batch.tasks.size()), request.tasks_size());
  for (int i = 0; i < request.tasks_size(); ++i) {
    const SessionTaskView& task = batch.tasks[static_cast<size_t>(i)];
    EXPECT_EQ(task.id, request.tasks(i).id());
    EXPECT_EQ(task.timeout_us, request.tasks(i).timeout_us());
    EXPECT_EQ(std::string(task.call), request.tasks(i).call().SerializeAsString());
  }
  EXPECT_EQ(batch.cancel, std::vector<uint64_t>(request.cancel().begin(), request.cancel().end()));
}

TEST(DecodeSessionRequestTest, ReadsWhatProtobufWrites) {
  std::mt19937_64 random(1);
  SessionBatch batch;
  for (int round = 0; round < 2000; ++round) {
    const v1::SessionRequest request = RandomRequest(random);
    batch.Clear();
    const std::string bytes = request.SerializeAsString();
    ASSERT_TRUE(Decode(bytes, &batch).ok());
    ExpectSame(batch, request);
  }
}

TEST(DecodeSessionRequestTest, TakesCancelsOneByOneAndSkipsUnknownFields) {
  const std::string bytes(
      "\x18\x07"                       // cancel, not packed
      "\x28\x96\x01"                   // field 5, a varint
      "\x31\1\2\3\4\5\6\7\x08"         // field 6, eight bytes
      "\x3d\1\2\3\4"                   // field 7, four bytes
      "\x42\x02hi"                     // field 8, bytes
      "\x1a\x02\x01\x02"               // cancel, packed
      "\x12\x05\x08\x09\x48\x01\x10",  // a task cut short in a field that is skipped
      35);
  SessionBatch batch;
  EXPECT_FALSE(Decode(bytes, &batch).ok());
  batch.Clear();
  ASSERT_TRUE(Decode(bytes.substr(0, 28), &batch).ok());
  EXPECT_EQ(batch.cancel, (std::vector<uint64_t>{7, 1, 2}));
}

TEST(DecodeSessionRequestTest, TruncationsEitherStillParseOrAreRefused) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    const std::string bytes = RandomRequest(random).SerializeAsString();
    for (size_t length = 0; length < bytes.size(); ++length) {
      const std::string cut = bytes.substr(0, length);
      SessionBatch batch;
      v1::SessionRequest request;
      const bool parses = request.ParseFromString(cut);
      const absl::Status decoded = Decode(cut, &batch);
      EXPECT_EQ(decoded.code(),
                parses ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
      if (parses) ExpectSame(batch, request);
    }
  }
}

TEST(DecodeSessionRequestTest, TakesWhateverProtobufTakesOfDamagedBytes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = round % 2 == 0 ? support::RandomBytes(random() % 40, random())
                                       : RandomRequest(random).SerializeAsString();
    for (uint64_t i = random() % 4; i > 0 && !bytes.empty(); --i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    SessionBatch batch;
    Decode(bytes, &batch).IgnoreError();  // Whatever comes, it ends.
    for (const SessionTaskView& task : batch.tasks) {
      if (task.call.empty()) continue;
      EXPECT_GE(task.call.data(), bytes.data());
      EXPECT_LE(task.call.data() + task.call.size(), bytes.data() + bytes.size());
    }
  }
}

TEST(EncodeSessionResponseTest, IsWhatProtobufReads) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> done;
    for (uint64_t i = random() % 20; i > 0; --i) done.push_back(random() >> random() % 64);
    std::string results;
    std::vector<v1::SessionResult> sent;
    for (uint64_t i = random() % 4; i > 0; --i) {
      v1::SessionResult& result = sent.emplace_back();
      result.set_id(random());
      result.mutable_status()->set_message(std::string(random() % 300, 'm'));
      AppendResult(result.SerializeAsString(), &results);
    }
    const auto credits =
        static_cast<int64_t>(random() % 3 == 0 ? 0 : random() >> 1 >> random() % 63);
    v1::SessionResponse response;
    ASSERT_TRUE(response.ParseFromString(EncodeSessionResponse(credits, done, results)));
    EXPECT_EQ(response.credits(), credits);
    EXPECT_EQ(std::vector<uint64_t>(response.done().begin(), response.done().end()), done);
    ASSERT_EQ(static_cast<size_t>(response.results_size()), sent.size());
    for (size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(response.results(static_cast<int>(i)).SerializeAsString(),
                sent[i].SerializeAsString());
    }
    // Nor is a byte longer than what protobuf would write.
    EXPECT_EQ(EncodeSessionResponse(credits, done, results).size(), response.ByteSizeLong());
  }
}

}  // namespace
}  // namespace shoal::service
