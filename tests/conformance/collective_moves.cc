// Operations that move bytes and compute nothing.
#include <numeric>
#include <utility>

#include "tests/conformance/collective_suite.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using Ranks = Communicator::Ranks;
using Done = Communicator::Done;

int64_t BlockBytes(const Args& args, int rank) {
  return args.counts[static_cast<size_t>(rank)] * kernels::ItemBytes(args.dtype);
}

int64_t OffsetBytes(const Args& args, int rank) {
  return std::accumulate(args.counts.begin(), args.counts.begin() + rank, int64_t{0}) *
         kernels::ItemBytes(args.dtype);
}

std::vector<std::byte> AllBlocks(const Args& args) {
  std::vector<std::byte> all;
  for (int rank = 0; rank < static_cast<int>(args.counts.size()); ++rank) {
    Append(all, PatternBytes(rank, BlockBytes(args, rank)));
  }
  return all;
}

TEST_P(CollectiveSuite, ScatterGivesEachRankItsBlock) {
  ForBlocks([&](const Args& args, Placement placement) {
    const std::vector<std::byte> all = AllBlocks(args);
    std::vector<RankCase> ranks(static_cast<size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) {
      RankCase& here = ranks[static_cast<size_t>(rank)];
      here.expected = Slice(all, OffsetBytes(args, rank), BlockBytes(args, rank));
      if (rank != args.root) continue;
      here.send = all;
      if (placement == Placement::kInPlace) here.in_place_offset = OffsetBytes(args, rank);
    }
    Check(ranks, [&](Communicator& member, Ranks local, Done done) {
      member.Scatter(args, local, std::move(done));
    });
  });
}

TEST_P(CollectiveSuite, GatherCollectsTheBlocksInRankOrder) {
  ForBlocks([&](const Args& args, Placement placement) {
    std::vector<RankCase> ranks(static_cast<size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) {
      RankCase& here = ranks[static_cast<size_t>(rank)];
      here.send = PatternBytes(rank, BlockBytes(args, rank));
      if (rank != args.root) continue;
      here.expected = AllBlocks(args);
      if (placement == Placement::kInPlace) here.in_place_offset = OffsetBytes(args, rank);
    }
    Check(ranks, [&](Communicator& member, Ranks local, Done done) {
      member.Gather(args, local, std::move(done));
    });
  });
}

TEST_P(CollectiveSuite, BroadcastGivesEveryRankTheRootsBytes) {
  ForWhole([&](const Args& args, Placement placement) {
    const std::vector<std::byte> all = PatternBytes(args.root, BlockBytes(args, 0));
    std::vector<RankCase> ranks(static_cast<size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) {
      RankCase& here = ranks[static_cast<size_t>(rank)];
      here.expected = all;
      if (rank != args.root) continue;
      here.send = all;
      if (placement == Placement::kInPlace) here.in_place_offset = 0;
    }
    Check(ranks, [&](Communicator& member, Ranks local, Done done) {
      member.Broadcast(args, local, std::move(done));
    });
  });
}

TEST_P(CollectiveSuite, AllGatherCollectsTheBlocksOnEveryRank) {
  ForBlocks([&](const Args& args, Placement placement) {
    std::vector<RankCase> ranks(static_cast<size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) {
      RankCase& here = ranks[static_cast<size_t>(rank)];
      here.send = PatternBytes(rank, BlockBytes(args, rank));
      here.expected = AllBlocks(args);
      if (placement == Placement::kInPlace) here.in_place_offset = OffsetBytes(args, rank);
    }
    Check(ranks, [&](Communicator& member, Ranks local, Done done) {
      member.AllGather(args, local, std::move(done));
    });
  });
}

TEST_P(CollectiveSuite, AllToAllTransposesTheBlocks) {
  const auto n = static_cast<size_t>(size());
  for (const DType dtype : kSuiteWidths) {
    for (const int64_t count : {0, 1, 33, 1000, 9001}) {
      std::vector<int64_t> counts(n * n);
      for (size_t i = 0; i < n * n; ++i) {
        counts[i] = i % 4 == 1 ? 0 : count + static_cast<int64_t>(i % 3);
      }
      Args args;
      args.dtype = dtype;
      args.counts = counts;
      const auto message = [&](size_t source, size_t target) {
        return PatternBytes(static_cast<int>(source * n + target),
                            counts[source * n + target] * kernels::ItemBytes(dtype));
      };
      std::vector<RankCase> ranks(n);
      for (size_t rank = 0; rank < n; ++rank) {
        for (size_t peer = 0; peer < n; ++peer) {
          Append(ranks[rank].send, message(rank, peer));
          Append(ranks[rank].expected, message(peer, rank));
        }
      }
      Check(ranks, [&](Communicator& member, Ranks local, Done done) {
        member.AllToAll(args, local, std::move(done));
      });
      ASSERT_FALSE(HasFatalFailure()) << Name(dtype) << " " << count;
    }
  }
}

TEST_P(CollectiveSuite, BarrierEndsOnEveryMember) {
  const std::vector<RankBuffers> ranks =
      MakeBuffers(std::vector<int64_t>(static_cast<size_t>(size())),
                  std::vector<int64_t>(static_cast<size_t>(size())));
  for (int round = 0; round < 100; ++round) {
    const auto statuses = CallAll(ranks, [](Communicator& member, Ranks local, Done done) {
      member.Barrier({}, local, std::move(done));
    });
    for (const absl::Status& status : statuses) ASSERT_TRUE(status.ok()) << status;
  }
}

/// The transfers of `all` that a member takes part in, with only its own sides filled in.
std::vector<Transfer> LocalPart(const std::vector<Transfer>& all, Communicator& member) {
  const auto is_local = [&](int rank) {
    return rank >= member.LocalRanks().front() && rank <= member.LocalRanks().back();
  };
  std::vector<Transfer> part;
  for (Transfer transfer : all) {
    if (!is_local(transfer.source)) {
      transfer.send = {};
      transfer.send_stream = nullptr;
    }
    if (!is_local(transfer.destination)) {
      transfer.recv = {};
      transfer.recv_stream = nullptr;
    }
    if (is_local(transfer.source) || is_local(transfer.destination)) part.push_back(transfer);
  }
  return part;
}

TEST_P(CollectiveSuite, SendRecvShiftsAroundARing) {
  for (const int64_t count : kSuiteCounts) {
    std::vector<RankCase> ranks(static_cast<size_t>(size()));
    for (int rank = 0; rank < size(); ++rank) {
      ranks[static_cast<size_t>(rank)].send = PatternBytes(rank, count);
      ranks[static_cast<size_t>((rank + 1) % size())].expected = PatternBytes(rank, count);
    }
    Check(ranks, [&](Communicator& member, Ranks local, Done done) {
      const auto side = [&](int rank) {
        const int index = rank - member.LocalRanks().front();
        const bool is_local = index >= 0 && index < static_cast<int>(local.size());
        return is_local ? local[static_cast<size_t>(index)] : RankBuffers();
      };
      std::vector<Transfer> transfers;
      for (int rank = 0; rank < size(); ++rank) {
        const int next = (rank + 1) % size();
        const RankBuffers from = side(rank);
        const RankBuffers to = side(next);
        if (from.stream == nullptr && to.stream == nullptr) continue;
        transfers.push_back({rank, next, from.send, to.recv, from.stream, to.stream});
      }
      member.SendRecv({}, transfers, std::move(done));
    });
    ASSERT_FALSE(HasFatalFailure()) << count;
  }
}

TEST_P(CollectiveSuite, MessagesBetweenTwoRanksKeepTheirOrder) {
  const int last = size() - 1;
  const std::vector<RankBuffers> first =
      MakeBuffers(std::vector<int64_t>(static_cast<size_t>(size()), 8),
                  std::vector<int64_t>(static_cast<size_t>(size()), 8));
  const std::vector<RankBuffers> second =
      MakeBuffers(std::vector<int64_t>(static_cast<size_t>(size()), 16),
                  std::vector<int64_t>(static_cast<size_t>(size()), 16));
  const auto transfer = [&](const std::vector<RankBuffers>& ranks) {
    return Transfer{0,
                    last,
                    ranks.front().send,
                    ranks.back().recv,
                    &world().StreamOf(0),
                    &world().StreamOf(last)};
  };
  // Sizes differ, so that a message taken for the other one would be refused.
  const std::vector<Transfer> both = {transfer(first), transfer(second)};
  const auto statuses = CallAll(first, [&](Communicator& member, Ranks, Done done) {
    member.SendRecv({}, LocalPart(both, member), std::move(done));
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace shoal::collective
