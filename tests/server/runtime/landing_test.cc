#include "server/runtime/landing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/arrays.h"
#include "tests/support/bytes.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "wire/crc32c.h"

namespace shoal::runtime {
namespace {

using kernels::DType;
using support::ReasonOf;

constexpr int64_t kChunkMax = 64;

/// A chunk of `bytes`, in pieces of `piece` bytes.
wire::ChunkMessage Chunk(const std::string& bytes, int64_t offset, size_t piece = SIZE_MAX) {
  wire::ChunkMessage chunk;
  chunk.has_chunk = true;
  chunk.header.offset = offset;
  for (size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size())) {
    chunk.data.push_back(support::View(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  }
  chunk.data_bytes = static_cast<int64_t>(bytes.size());
  return chunk;
}

class LandingTest : public ::testing::Test {
 protected:
  /// `count` float64 in blocks over three workers: 24-byte steps between the borders.
  Landing Make(int64_t count) {
    array_ = *engine_->workers->NewArray(support::Type(DType::kFloat64, {count}),
                                         {plan::DistributionKind::kBlock, engine_->workers->ids()});
    return Landing(ArrayOperand(*array_, array_), kChunkMax);
  }

  std::string Landed() const { return support::ReadBytes(ArrayOperand(*array_, nullptr)); }

  /// Takes a chunk, and brings it to the array.
  static absl::Status Land(Landing& landing, const wire::ChunkMessage& chunk) {
    const absl::Status taken = landing.Land(chunk);
    if (!taken.ok() || !landing.staged()) return taken;
    support::Inbox<absl::Status> ends;
    landing.Stage(chunk, [&](const absl::Status& status) { ends.Put(status); });
    return ends.Take();
  }

  support::TestEngine engine_{{.workers = 3}};
  std::shared_ptr<StoredArray> array_;
};

TEST_F(LandingTest, ChunksOfAnySizeInAnyPiecesComeDownWhereTheyBelong) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<int64_t>(random() % 40);
    Landing landing = Make(count);
    const std::string sent = support::RandomBytes(static_cast<size_t>(count * 8), random());
    size_t at = 0;
    while (at < sent.size()) {
      const std::string bytes = sent.substr(at, 1 + random() % static_cast<uint64_t>(kChunkMax));
      wire::ChunkMessage chunk = Chunk(bytes, static_cast<int64_t>(at), 1 + random() % 20);
      if (random() % 2 == 0) chunk.header.crc32c = wire::Crc32c(support::View(bytes));
      ASSERT_FALSE(landing.complete());
      ASSERT_TRUE(Land(landing, chunk).ok());
      at += bytes.size();
      ASSERT_EQ(landing.landed_bytes(), static_cast<int64_t>(at));
    }
    ASSERT_TRUE(landing.complete());
    ASSERT_EQ(Landed(), sent);
  }
}

TEST_F(LandingTest, RefusesWhatIsNotTheNextChunkAndCountsNothing) {
  Landing landing = Make(20);
  ASSERT_TRUE(Land(landing, Chunk(std::string(10, 'a'), 0)).ok());
  const auto expect = [&](const wire::ChunkMessage& chunk, const std::string& reason) {
    const absl::Status status = Land(landing, chunk);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(ReasonOf(status), reason);
    EXPECT_EQ(support::DetailOf<v1::ErrorInfo>(status)->metadata().at("offset"),
              std::to_string(chunk.header.offset));
    EXPECT_EQ(landing.landed_bytes(), 10);
  };
  const std::string ten(10, 'b');
  const std::string long_chunk(65, 'b');
  expect(Chunk(ten, 0), "CHUNK_OUT_OF_ORDER");
  expect(Chunk(ten, 11), "CHUNK_OUT_OF_ORDER");
  expect(Chunk(ten, -10), "CHUNK_OUT_OF_ORDER");
  expect(Chunk(ten, INT64_MAX), "CHUNK_OUT_OF_ORDER");
  expect(Chunk(long_chunk, 10), "CHUNK_TOO_LONG");
  expect(Chunk("", 10), "CHUNK_EMPTY");
  EXPECT_EQ(Landed().substr(0, 10), std::string(10, 'a'));
}

TEST_F(LandingTest, RefusesBytesBeyondTheEnd) {
  Landing landing = Make(2);
  const std::string seventeen(17, 'x');
  EXPECT_EQ(ReasonOf(Land(landing, Chunk(seventeen, 0))), "CHUNK_BEYOND_END");
  const std::string sixteen(16, 'x');
  ASSERT_TRUE(Land(landing, Chunk(sixteen, 0)).ok());
  EXPECT_EQ(ReasonOf(Land(landing, Chunk("x", 16))), "CHUNK_BEYOND_END");
  Landing empty = Make(0);
  EXPECT_TRUE(empty.complete());
  EXPECT_EQ(ReasonOf(Land(empty, Chunk("x", 0))), "CHUNK_BEYOND_END");
}

TEST_F(LandingTest, AWrongChecksumCountsNothingAndTheChunkMayComeAgain) {
  Landing landing = Make(8);
  const std::string sent = support::RandomBytes(64, 3);
  wire::ChunkMessage chunk = Chunk(sent, 0, 7);
  chunk.header.crc32c = wire::Crc32c(support::View(sent)) ^ 1U;
  const absl::Status status = Land(landing, chunk);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(status), "CHECKSUM");
  EXPECT_EQ(landing.landed_bytes(), 0);
  *chunk.header.crc32c ^= 1U;
  EXPECT_TRUE(Land(landing, chunk).ok());
  EXPECT_EQ(Landed(), sent);
}

TEST_F(LandingTest, GoesOnWhereAnotherLeftOff) {
  Landing first = Make(8);
  const std::string sent = support::RandomBytes(64, 4);
  ASSERT_TRUE(Land(first, Chunk(sent.substr(0, 30), 0)).ok());
  Landing second(ArrayOperand(*array_, array_), kChunkMax, first.landed_bytes());
  const std::string rest = sent.substr(30);
  ASSERT_TRUE(Land(second, Chunk(rest, 30)).ok());
  EXPECT_TRUE(second.complete());
  EXPECT_EQ(Landed(), sent);
}

}  // namespace
}  // namespace shoal::runtime
