#include "bench/kernels/limits.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/units.h"
#include "bench/kernels/streams.h"
#include "bench/stats.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// As device::RunWork cuts: by the bytes of the output, and reductions by those of an input.
constexpr int64_t kWriteChunkBytes = 256 * kKiB;
constexpr int64_t kReadChunkBytes = kMiB;
// So that every chunk but the last is whole lines of memory in every array.
constexpr int64_t kChunkUnit = 4096;

int64_t ChunkElements(Limit limit, const Traffic& traffic) {
  const int64_t bytes = limit == Limit::kRead ? kReadChunkBytes / traffic.input_item_bytes
                                              : kWriteChunkBytes / traffic.output_item_bytes;
  return std::max(bytes / kChunkUnit, int64_t{1}) * kChunkUnit;
}

void RunChunk(Limit limit, const Traffic& traffic, int64_t begin, int64_t end) {
  const int64_t input_bytes = (end - begin) * traffic.input_item_bytes;
  StreamBlock block;
  block.inputs = traffic.inputs;
  for (int i = 0; i < traffic.inputs; ++i) {
    block.input[static_cast<size_t>(i)] =
        traffic.input[static_cast<size_t>(i)] + begin * traffic.input_item_bytes;
  }
  block.input_bytes = input_bytes;
  if (limit == Limit::kRead) {
    ReadBlock(block);
    return;
  }
  block.output = traffic.output + begin * traffic.output_item_bytes;
  block.output_bytes = (end - begin) * traffic.output_item_bytes;
  if (limit == Limit::kCopy) {
    SHOAL_CHECK(block.output_bytes == input_bytes);
    std::memcpy(block.output, block.input[0], static_cast<size_t>(input_bytes));
    return;
  }
  block.around_caches = limit == Limit::kStreamNt;
  MoveBlock(block);
}

class LimitContender final : public Contender {
 public:
  LimitContender(Limit limit, const Traffic& traffic, threads::Team* team)
      : limit_(limit), traffic_(traffic), team_(team) {}

  const std::string& Name() const override { return NameOf(limit_); }

  absl::StatusOr<double> Burst(int64_t calls) override {
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < calls; ++i) RunLimit(limit_, traffic_, *team_);
    return Seconds(Clock::now() - begin) / static_cast<double>(calls);
  }

 private:
  const Limit limit_;
  const Traffic traffic_;
  threads::Team* const team_;
};

}  // namespace

const std::string& NameOf(Limit limit) {
  static const auto* const kNames =
      new std::array<std::string, 4>{"stream", "stream_nt", "read", "copy"};
  return (*kNames)[static_cast<size_t>(limit)];
}

void RunLimit(Limit limit, const Traffic& traffic, threads::Team& team) {
  SHOAL_CHECK(limit == Limit::kRead || traffic.output != nullptr);
  const int64_t chunk = ChunkElements(limit, traffic);
  const int64_t chunks = (traffic.count + chunk - 1) / chunk;
  const auto run = [&](int64_t i) {
    RunChunk(limit, traffic, i * chunk, std::min(traffic.count, (i + 1) * chunk));
  };
  if (chunks <= 1 || team.width() == 1) {
    for (int64_t i = 0; i < chunks; ++i) run(i);
  } else {
    team.ParallelFor(chunks, run);
  }
}

std::unique_ptr<Contender> NewLimitContender(Limit limit, const Traffic& traffic,
                                             threads::Team* team) {
  return std::make_unique<LimitContender>(limit, traffic, team);
}

}  // namespace shoal::bench
