#include "client/src/session_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "shoal/v1/compute.pb.h"

namespace shoal::internal {
namespace {

/// Decodes `bytes` in pieces of `piece` bytes, as a socket might deliver them.
absl::Status Decode(const std::string& bytes, size_t piece, SessionReply* reply) {
  std::vector<std::string> parts;  // Each in memory of its own, so that nobody reads on.
  for (size_t at = 0; at < bytes.size(); at += piece) parts.push_back(bytes.substr(at, piece));
  wire::Pieces pieces;
  for (const std::string& part : parts) {
    pieces.emplace_back(reinterpret_cast<const std::byte*>(part.data()), part.size());
  }
  return DecodeSessionReply(pieces, nullptr, reply);
}

std::string Bytes(const transport::Frame& frame) {
  std::string bytes;
  for (const transport::Frame::Part& part : frame.parts) {
    bytes += part.head;
    const wire::ConstBytes payload = part.payload.bytes;
    bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  return bytes;
}

/// The rest of a task whose call names that op.
std::string Encoded(const std::string& op) {
  v1::SessionTask task;
  task.mutable_call()->set_op(op);
  return task.SerializeAsString();
}

TEST(SessionWriterTest, WritesWhatProtobufReads) {
  SessionWriter writer;
  writer.Open(true);
  writer.Tasks(120, 20, Encoded("echo"));  // Over the edge between one and two bytes.
  writer.Tasks((uint64_t{1} << 35) - 2, 4, Encoded(std::string(300, 'x')));
  const std::vector<uint64_t> cancels = {1, 127, 128, UINT64_MAX};
  writer.Cancel(cancels);
  v1::SessionRequest request;
  ASSERT_TRUE(request.ParseFromString(Bytes(writer.Take())));
  EXPECT_TRUE(request.open().ordered());
  ASSERT_EQ(request.tasks_size(), 24);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(request.tasks(i).id(), 120U + static_cast<unsigned>(i));
    EXPECT_EQ(request.tasks(i).call().op(), "echo");
  }
  for (int i = 20; i < 24; ++i) {
    EXPECT_EQ(request.tasks(i).id(), (uint64_t{1} << 35) - 22 + static_cast<unsigned>(i));
    EXPECT_EQ(request.tasks(i).call().op().size(), 300U);
  }
  EXPECT_EQ(std::vector<uint64_t>(request.cancel().begin(), request.cancel().end()), cancels);
}

TEST(SessionWriterTest, AnUnorderedOpenIsStillThere) {
  SessionWriter writer;
  writer.Open(false);
  v1::SessionRequest request;
  ASSERT_TRUE(request.ParseFromString(Bytes(writer.Take())));
  EXPECT_TRUE(request.has_open());
  EXPECT_FALSE(request.open().ordered());
}

TEST(SessionWriterTest, IdsAtTheEndOfTheirRangeDoNotLoop) {
  SessionWriter writer;
  writer.Tasks(UINT64_MAX - 3, 3, Encoded("echo"));
  v1::SessionRequest request;
  ASSERT_TRUE(request.ParseFromString(Bytes(writer.Take())));
  EXPECT_EQ(request.tasks_size(), 3);
}

TEST(DecodeSessionReplyTest, ReadsPackedIdsHoweverTheyAreCut) {
  v1::SessionResponse response;
  response.set_credits(77);
  std::mt19937_64 random(7);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 1000; ++i) ids.push_back(random() >> (random() % 64));
  ids.push_back(0);
  ids.push_back(UINT64_MAX);
  response.mutable_done()->Assign(ids.begin(), ids.end());
  const std::string bytes = response.SerializeAsString();
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{10}, size_t{64}, bytes.size()}) {
    SessionReply reply;
    ASSERT_TRUE(Decode(bytes, piece, &reply).ok()) << piece;
    EXPECT_EQ(reply.credits, 77);
    EXPECT_EQ(reply.done, ids) << piece;
  }
}

TEST(DecodeSessionReplyTest, ReadsResultsWithStatusAndOutputs) {
  v1::SessionResponse response;
  response.add_done(5);
  v1::SessionResult* failed = response.add_results();
  failed->set_id(6);
  failed->mutable_status()->set_code(5);
  failed->mutable_status()->set_message("gone");
  v1::SessionResult* with_output = response.add_results();
  with_output->set_id(7);
  v1::Output* output = with_output->add_outputs();
  output->mutable_spec()->set_dtype(v1::DTYPE_UINT8);
  output->mutable_spec()->add_shape(3);
  output->set_data("abc");
  SessionReply reply;
  ASSERT_TRUE(Decode(response.SerializeAsString(), 2, &reply).ok());
  EXPECT_EQ(reply.done, std::vector<uint64_t>{5});
  ASSERT_EQ(reply.results.size(), 2U);
  EXPECT_EQ(reply.results[0].id, 6U);
  EXPECT_EQ(reply.results[0].status, absl::NotFoundError("gone"));
  EXPECT_TRUE(reply.results[1].status.ok());
  const auto values = reply.results[1].outputs.at(0).array.As<uint8_t>();
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(std::string(values->begin(), values->end()), "abc");
}

TEST(DecodeSessionReplyTest, ReadsIdsThatAreNotPacked) {
  const std::string bytes = {0x10, 0x05, 0x10, 0x06};
  SessionReply reply;
  ASSERT_TRUE(Decode(bytes, 4, &reply).ok());
  EXPECT_EQ(reply.done, (std::vector<uint64_t>{5, 6}));
}

TEST(DecodeSessionReplyTest, EveryTruncationIsAnErrorOrAShorterMessage) {
  v1::SessionResponse response;
  for (uint64_t id = 1; id < 2000; id += 13) response.add_done(id);
  v1::SessionResult* result = response.add_results();
  result->set_id(1);
  result->add_outputs()->mutable_spec()->set_dtype(v1::DTYPE_FLOAT32);
  result->mutable_outputs(0)->set_data("1234");
  const std::string whole = response.SerializeAsString();
  int errors = 0;
  for (size_t size = 1; size < whole.size(); ++size) {
    SessionReply reply;
    if (!Decode(whole.substr(0, size), 16, &reply).ok()) ++errors;
  }
  EXPECT_GE(errors, static_cast<int>(whole.size()) - 3);
}

TEST(DecodeSessionReplyTest, NoiseIsNeverMoreThanAnError) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string noise(random() % 64 + 1, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    if (round % 2 == 0) noise[0] = 0x12;  // Packed ids, to get beyond the first byte.
    SessionReply reply;
    Decode(noise, 7, &reply).IgnoreError();
  }
}

}  // namespace
}  // namespace shoal::internal
