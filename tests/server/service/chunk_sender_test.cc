#include "server/service/chunk_sender.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "shoal/v1/compute.pb.h"
#include "tests/server/runtime/calls.h"
#include "tests/server/service/chunks.h"
#include "tests/support/bytes.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using kernels::DType;

class ChunkSenderTest : public ::testing::Test {
 protected:
  runtime::Operand Scattered(const std::string& bytes) {
    auto array = *engine_->workers->NewArray(
        support::Type(DType::kUint8, {static_cast<int64_t>(bytes.size())}),
        {plan::DistributionKind::kBlock, engine_->workers->ids()});
    const runtime::StoredArray& held = *array;
    runtime::Operand operand = runtime::ArrayOperand(held, std::move(array));
    support::WriteBytes(bytes, operand);
    return operand;
  }

  support::TestEngine engine_{{.workers = 3}};
};

TEST_F(ChunkSenderTest, SeveralArraysComeOneAfterAnotherEachInOrder) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "frames reference shards; there they carry copies";
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> sent;
    std::vector<runtime::Operand> arrays;
    for (size_t i = 0; i < random() % 4; ++i) {
      sent.push_back(support::RandomBytes(random() % 3 == 0 ? 0 : random() % 50, random()));
      arrays.push_back(Scattered(sent.back()));
    }
    const auto chunk_bytes = static_cast<int64_t>(1 + random() % 30);
    ChunkSender sender(std::move(arrays), {.chunk_bytes = chunk_bytes, .checksum = round % 2 == 0});
    Assembler assembler;
    while (!sender.done()) {
      const auto response = Parsed<v1::ApplyStreamResponse>(support::Flatten(sender.Next("")));
      EXPECT_LE(static_cast<int64_t>(response.chunk().data().size()), chunk_bytes);
      EXPECT_EQ(response.chunk().has_crc32c(), round % 2 == 0);
      assembler.Take(response);
    }
    for (size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(assembler.array(i), sent[i]);
  }
}

TEST_F(ChunkSenderTest, TheRestGoesWithTheFirstChunkOrAlone) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "frames reference shards; there they carry copies";
  v1::ApplyStreamResponse rest;
  rest.mutable_call()->set_worker_count(3);
  ChunkSender sender({Scattered("abc")}, {});
  const auto first =
      Parsed<v1::ApplyStreamResponse>(support::Flatten(sender.Next(rest.SerializeAsString())));
  EXPECT_EQ(first.call().worker_count(), 3);
  EXPECT_EQ(first.chunk().data(), "abc");
  EXPECT_TRUE(sender.done());
  const auto alone =
      Parsed<v1::ApplyStreamResponse>(support::Flatten(sender.Next(rest.SerializeAsString())));
  EXPECT_TRUE(alone.has_call());
  EXPECT_FALSE(alone.has_chunk());
}

TEST_F(ChunkSenderTest, FramesReferenceTheArrayAndKeepIt) {
  if (support::RunsOnSealedDevices())
    GTEST_SKIP() << "frames reference shards; there they carry copies";
  runtime::Operand operand = Scattered(std::string(30, 'q'));
  const std::byte* place = operand.extents[0].data;
  auto sender = std::make_unique<ChunkSender>(std::move(operand), 0, 30, ChunkOptions{});
  transport::Frame frame = sender->Next("");
  sender.reset();
  EXPECT_EQ(frame.parts[0].payload.bytes.data(), place);
  EXPECT_EQ(frame.parts.size(), 3U);  // One a shard.
  EXPECT_EQ(engine_.BytesInUse(), 30);
  frame = transport::Frame();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

}  // namespace
}  // namespace shoal::service
