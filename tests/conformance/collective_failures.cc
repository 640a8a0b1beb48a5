// What a group refuses, what breaks it, and what it then says.
#include <gmock/gmock.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/collective_suite.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using Ranks = Communicator::Ranks;
using Done = Communicator::Done;

std::vector<int64_t> Times(int size, int64_t value) {
  return std::vector<int64_t>(static_cast<size_t>(size), value);
}

void ExpectAll(const std::vector<absl::Status>& statuses, absl::StatusCode code,
               const std::string& text) {
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(text));
  }
}

TEST_P(CollectiveSuite, WrongSizesAreRefusedNamingTheRank) {
  const int last = size() - 1;
  const std::vector<int64_t> counts = Times(size(), 10);
  Args args;
  args.counts = counts;
  std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 10), Times(size(), 10 * size()));
  ranks[static_cast<size_t>(last)].send.bytes = 9;
  ExpectAll(CallAll(ranks, [&](Communicator& member, Ranks local,
                               Done done) { member.AllGather(args, local, std::move(done)); }),
            absl::StatusCode::kInvalidArgument, absl::StrCat("rank ", last, ": send has 9 bytes"));
  ranks[static_cast<size_t>(last)].send.bytes = 10;
  ranks[0].recv.bytes += 1;
  ExpectAll(CallAll(ranks, [&](Communicator& member, Ranks local,
                               Done done) { member.AllGather(args, local, std::move(done)); }),
            absl::StatusCode::kInvalidArgument, "rank 0: recv has");
  ExpectWhole();
}

TEST_P(CollectiveSuite, ArgumentsThatCannotBeAreRefused) {
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 0), Times(size(), 0));
  const auto statuses = [&](const Args& args, Operation operation) {
    return CallAll(ranks, [&](Communicator& member, Ranks local, Done done) {
      if (operation == Operation::kScatter) member.Scatter(args, local, std::move(done));
      if (operation == Operation::kAllReduce) member.AllReduce(args, local, std::move(done));
    });
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const std::vector<int64_t> zeros = Times(size(), 0);
  Args args;
  args.counts = zeros;
  args.root = size();
  ExpectAll(statuses(args, Operation::kScatter), kInvalid, "root");
  args.root = -1;
  ExpectAll(statuses(args, Operation::kScatter), kInvalid, "root");
  args.root = 0;

  const std::vector<int64_t> short_counts = Times(size() + 1, 0);
  args.counts = short_counts;
  ExpectAll(statuses(args, Operation::kScatter), kInvalid, "counts");
  std::vector<int64_t> negative = zeros;
  negative.back() = -1;
  args.counts = negative;
  ExpectAll(statuses(args, Operation::kScatter), kInvalid, "negative");
  const std::vector<int64_t> huge = Times(size(), INT64_MAX);
  args.counts = huge;
  args.dtype = DType::kFloat64;
  ExpectAll(statuses(args, Operation::kScatter), kInvalid, "2^63");

  const std::vector<int64_t> one = {0};
  args.counts = one;
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
      args.dtype = dtype;
      args.op = op;
      ExpectAll(statuses(args, Operation::kAllReduce), kInvalid, "not defined");
    }
  }
  ExpectWhole();
}

TEST_P(CollectiveSuite, OverlapsThatAreNotInPlaceAreRefused) {
  const std::vector<int64_t> counts = Times(size(), 64);
  Args args;
  args.counts = counts;
  std::vector<RankBuffers> ranks =
      MakeBuffers(Times(size(), 64 * size()), Times(size(), 64 * size()));
  for (RankBuffers& rank : ranks) rank.recv.bytes = 64;
  // Half a block off its place.
  ranks[0].recv.data = const_cast<std::byte*>(ranks[0].send.data) + 32;
  if (size() > 1) {
    ExpectAll(
        CallAll(ranks, [&](Communicator& member, Ranks local,
                           Done done) { member.ReduceScatter(args, local, std::move(done)); }),
        absl::StatusCode::kInvalidArgument, "rank 0: ");
  }
  const std::vector<int64_t> square(static_cast<size_t>(size() * size()), 64);
  args.counts = square;
  for (RankBuffers& rank : ranks) {
    rank.recv = {const_cast<std::byte*>(rank.send.data), rank.send.bytes};
  }
  ExpectAll(CallAll(ranks, [&](Communicator& member, Ranks local,
                               Done done) { member.AllToAll(args, local, std::move(done)); }),
            absl::StatusCode::kInvalidArgument, "overlap");
  ExpectWhole();
}

TEST_P(CollectiveSuite, MembersThatDisagreeAreToldWhichRankDiffers) {
  const std::vector<Communicator*> members = world().Members();
  if (members.size() < 2) GTEST_SKIP() << "one member cannot disagree with itself";
  const int odd = members.back()->LocalRanks().front();
  const std::vector<int64_t> four = {4};
  const std::vector<int64_t> two = {2};
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 4), Times(size(), 4));
  const auto statuses = [&](const Args& common, const Args& differing) {
    return CallAll(ranks, [&](Communicator& member, Ranks local, Done done) {
      member.AllReduce(&member == members.back() ? differing : common, local, std::move(done));
    });
  };
  Args args;
  args.counts = four;
  Args other = args;
  other.dtype = DType::kInt16;
  other.counts = two;
  const std::string named = absl::StrCat("rank ", odd, " has ");
  ExpectAll(statuses(args, other), absl::StatusCode::kInvalidArgument, named + "dtype int16");
  other.dtype = args.dtype;
  ExpectAll(statuses(args, other), absl::StatusCode::kInvalidArgument, named + "counts (2,)");
  other.counts = four;
  other.op = ReduceOp::kMax;
  ExpectAll(statuses(args, other), absl::StatusCode::kInvalidArgument, named + "reduction max");
  ExpectAll(CallAll(ranks,
                    [&](Communicator& member, Ranks local, Done done) {
                      if (&member == members.back()) {
                        member.Barrier(args, local, std::move(done));
                      } else {
                        member.AllReduce(args, local, std::move(done));
                      }
                    }),
            absl::StatusCode::kInvalidArgument, named + "operation barrier");
  ExpectWhole();
}

TEST_P(CollectiveSuite, TransfersThatDisagreeAreRefusedAndCountAsMet) {
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 8), Times(size(), 16));
  Communicator& first = *world().Members().front();
  Communicator& last = *world().Members().back();
  const int end = size() - 1;
  const auto exchange = [&](int64_t recv_bytes) {
    std::vector<absl::Status> statuses;
    Transfer send{0, end, ranks.front().send, {}, ranks.front().stream, nullptr};
    Transfer recv{0, end, {}, ranks.back().recv.Sub(0, recv_bytes), nullptr, ranks.back().stream};
    if (&first == &last) {
      send.recv = recv.recv;
      send.recv_stream = recv.recv_stream;
      statuses.push_back(Await([&](Done done) {
        first.SendRecv({}, {&send, 1}, std::move(done));
      }));
    } else {
      statuses = AwaitBoth(
          [&](Done done) {
            first.SendRecv({}, {&send, 1}, std::move(done));
          },
          [&](Done done) {
            last.SendRecv({}, {&recv, 1}, std::move(done));
          });
    }
    return statuses;
  };
  ExpectAll(exchange(16), absl::StatusCode::kInvalidArgument, "8 bytes");
  ExpectAll(exchange(8), absl::StatusCode::kOk, "");

  Transfer outside{0, size(), ranks[0].send, {}, ranks[0].stream, nullptr};
  const absl::Status status = Await([&](Done done) {
    first.SendRecv({}, {&outside, 1}, std::move(done));
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  ExpectWhole();
}

TEST_P(CollectiveSuite, AbortEndsLaterCallsOnEveryMember) {
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 0), Times(size(), 0));
  const std::vector<Communicator*> members = world().Members();
  members.back()->Abort();
  members.back()->Abort();
  for (int round = 0; round < 2; ++round) {
    const std::vector<absl::Status> statuses =
        CallAll(ranks, [](Communicator& member, Ranks local, Done done) {
          member.Barrier({}, local, std::move(done));
        });
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(statuses[i].code(), i + 1 == members.size() ? absl::StatusCode::kAborted
                                                            : absl::StatusCode::kUnavailable)
          << statuses[i];
    }
    const absl::Status exchange =
        Await([&](Done done) { members.back()->SendRecv({}, {}, std::move(done)); });
    EXPECT_EQ(exchange.code(), absl::StatusCode::kAborted);
  }
}

TEST_P(CollectiveSuite, AbortEndsPendingCalls) {
  const std::vector<Communicator*> members = world().Members();
  if (members.size() < 2) GTEST_SKIP() << "nothing of a sole member is pending";
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 0), Times(size(), 0));
  const Ranks local = Ranks(ranks).subspan(0, members[0]->LocalRanks().size());
  const Transfer never{size() - 1, 0, {}, {}, nullptr, ranks[0].stream};
  const std::vector<absl::Status> statuses =
      AwaitBoth([&](Done done) { members[0]->Barrier({}, local, std::move(done)); },
                [&](Done done) {
                  members[0]->SendRecv({}, {&never, 1}, std::move(done));
                  members.back()->Abort();
                });
  ExpectAll(statuses, absl::StatusCode::kUnavailable,
            absl::StrCat("rank ", members.back()->LocalRanks().front()));
}

TEST_P(CollectiveSuite, ARankThatDoesNotComeEndsTheCallInTime) {
  const std::vector<Communicator*> members = world().Members();
  if (members.size() < 2) GTEST_SKIP() << "a sole member always comes";
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 0), Times(size(), 0));
  const Ranks local = Ranks(ranks).subspan(0, members[0]->LocalRanks().size());
  Args args;
  args.timeout = std::chrono::milliseconds(20);
  const absl::Status status =
      Await([&](Done done) { members[0]->Barrier(args, local, std::move(done)); });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  ExpectAll(CallAll(ranks, [](Communicator& member, Ranks all,
                              Done done) { member.Barrier({}, all, std::move(done)); }),
            absl::StatusCode::kDeadlineExceeded, "in time");
}

TEST_P(CollectiveSuite, AMessageThatDoesNotComeEndsTheCallInTime) {
  const std::vector<RankBuffers> ranks = MakeBuffers(Times(size(), 0), Times(size(), 0));
  const std::vector<Communicator*> members = world().Members();
  if (members.size() < 2) GTEST_SKIP() << "a sole member brings both ends";
  const Transfer never{size() - 1, 0, {}, {}, nullptr, ranks[0].stream};
  Args args;
  args.timeout = std::chrono::milliseconds(20);
  const absl::Status status = Await([&](Done done) {
    members[0]->SendRecv(args, {&never, 1}, std::move(done));
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

}  // namespace
}  // namespace shoal::collective
