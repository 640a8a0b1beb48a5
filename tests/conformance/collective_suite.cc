#include "tests/conformance/collective_suite.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace shoal::collective {
namespace {

constexpr int64_t kGuardBytes = 64;
constexpr std::byte kGuard{0xCD};

/// A Done that a test can wait for.
class Waiter {
 public:
  device::Done MakeDone() {
    return [this](absl::Status status) { promise_.set_value(std::move(status)); };
  }
  absl::Status Wait() { return promise_.get_future().get(); }

 private:
  std::promise<absl::Status> promise_;
};

struct Placed {
  device::Buffer send_buffer;
  device::Buffer recv_buffer;  ///< Empty when in place; else with guards around.
  RankBuffers buffers;
  std::vector<std::byte> image;  ///< All of the buffer that holds `recv`, as copied in.
  int64_t recv_offset = 0;       ///< Of `recv` in it.
};

Placed Place(const RankCase& rank_case, device::Device& device) {
  Placed placed;
  const auto send_bytes = static_cast<int64_t>(rank_case.send.size());
  const auto recv_bytes = static_cast<int64_t>(rank_case.expected.size());
  if (rank_case.in_place_offset < 0) {
    placed.send_buffer = *device.Allocate(send_bytes);
    placed.recv_buffer = *device.Allocate(recv_bytes + 2 * kGuardBytes);
    placed.recv_offset = kGuardBytes;
    placed.buffers.send = placed.send_buffer.span();
    placed.buffers.recv = placed.recv_buffer.span().Sub(kGuardBytes, recv_bytes);
    placed.image.assign(static_cast<size_t>(recv_bytes + 2 * kGuardBytes), kGuard);
    return placed;
  }
  const int64_t bytes = std::max(send_bytes, recv_bytes);
  placed.recv_buffer = *device.Allocate(bytes);
  placed.image.assign(static_cast<size_t>(bytes), kGuard);
  const int64_t send_offset = send_bytes < recv_bytes ? rank_case.in_place_offset : 0;
  placed.recv_offset = send_bytes < recv_bytes ? 0 : rank_case.in_place_offset;
  std::copy(rank_case.send.begin(), rank_case.send.end(), placed.image.begin() + send_offset);
  placed.buffers.send = placed.recv_buffer.span().Sub(send_offset, send_bytes);
  placed.buffers.recv = placed.recv_buffer.span().Sub(placed.recv_offset, recv_bytes);
  return placed;
}

device::ConstSpan Host(const std::vector<std::byte>& bytes) {
  return {bytes.data(), static_cast<int64_t>(bytes.size())};
}

}  // namespace

void CollectiveSuite::ForBlocks(const Body& body) {
  for (const kernels::DType dtype : kSuiteWidths) {
    for (const int64_t count : kSuiteCounts) {
      if (count > 1000 && dtype != kernels::DType::kFloat16) continue;
      for (const std::vector<int64_t>& counts : BlockCounts(size(), count)) {
        Args args;
        args.dtype = dtype;
        args.counts = counts;
        ForPlacements(args, body);
        if (HasFatalFailure()) return;
      }
    }
  }
}

void CollectiveSuite::ForWhole(const Body& body) {
  for (const kernels::DType dtype : kSuiteWidths) {
    for (const int64_t count : kSuiteCounts) {
      if (count > 1000 && dtype != kernels::DType::kFloat16) continue;
      Args args;
      args.dtype = dtype;
      args.counts = {&count, 1};
      ForPlacements(args, body);
      if (HasFatalFailure()) return;
    }
  }
}

void CollectiveSuite::ForPlacements(Args args, const Body& body) {
  for (const int root : std::set<int>{0, size() - 1}) {
    args.root = root;
    for (const Placement placement : {Placement::kSeparate, Placement::kInPlace}) {
      SCOPED_TRACE(absl::StrCat(std::string(Name(args.dtype)), " counts ",
                                absl::StrJoin(args.counts, ","), " root ", root,
                                placement == Placement::kInPlace ? " in place" : ""));
      body(args, placement);
      if (HasFatalFailure()) return;
    }
  }
}

void CollectiveSuite::Check(const std::vector<RankCase>& ranks, const Call& call) {
  const auto count = static_cast<size_t>(size());
  ASSERT_EQ(ranks.size(), count);
  std::vector<Placed> placed;
  std::vector<RankBuffers> buffers;
  std::vector<Waiter> copied_in(2 * count);
  for (int rank = 0; rank < size(); ++rank) {
    const auto index = static_cast<size_t>(rank);
    placed.push_back(Place(ranks[index], world_->DeviceOf(rank)));
    Placed& here = placed.back();
    here.buffers.stream = &world_->StreamOf(rank);
    // Nothing waits in between: the call has to take its turn on the stream.
    if (here.send_buffer.device() != nullptr) {
      here.buffers.stream->CopyIn(Host(ranks[index].send), here.send_buffer.span(),
                                  copied_in[2 * index].MakeDone());
    } else {
      copied_in[2 * index].MakeDone()(absl::OkStatus());
    }
    here.buffers.stream->CopyIn(Host(here.image), here.recv_buffer.span(),
                                copied_in[2 * index + 1].MakeDone());
    buffers.push_back(here.buffers);
  }
  for (const absl::Status& status : CallAll(buffers, call)) ASSERT_TRUE(status.ok()) << status;
  for (Waiter& waiter : copied_in) ASSERT_TRUE(waiter.Wait().ok());
  for (int rank = 0; rank < size(); ++rank) {
    const auto index = static_cast<size_t>(rank);
    const Placed& here = placed[index];
    std::vector<std::byte> expected = here.image;
    std::copy(ranks[index].expected.begin(), ranks[index].expected.end(),
              expected.begin() + here.recv_offset);
    std::vector<std::byte> seen(here.image.size());
    std::vector<std::byte> seen_send(ranks[index].send.size());
    Waiter out;
    Waiter send_out;
    here.buffers.stream->CopyOut(here.recv_buffer.span(),
                                 {seen.data(), static_cast<int64_t>(seen.size())}, out.MakeDone());
    here.buffers.stream->CopyOut(here.buffers.send,
                                 {seen_send.data(), static_cast<int64_t>(seen_send.size())},
                                 send_out.MakeDone());
    ASSERT_TRUE(out.Wait().ok());
    ASSERT_TRUE(send_out.Wait().ok());
    ASSERT_TRUE(seen == expected) << "rank " << rank;
    if (ranks[index].in_place_offset < 0) {
      ASSERT_TRUE(seen_send == ranks[index].send) << "rank " << rank << " lost what it sent";
    }
  }
}

std::vector<absl::Status> CollectiveSuite::CallAll(const std::vector<RankBuffers>& ranks,
                                                   const Call& call) {
  const std::vector<Communicator*> members = world_->Members();
  std::vector<Waiter> waiters(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const absl::Span<const int> local = members[i]->LocalRanks();
    call(*members[i],
         Communicator::Ranks(ranks).subspan(static_cast<size_t>(local.front()), local.size()),
         waiters[i].MakeDone());
  }
  std::vector<absl::Status> statuses;
  for (Waiter& waiter : waiters) statuses.push_back(waiter.Wait());
  return statuses;
}

std::vector<RankBuffers> CollectiveSuite::MakeBuffers(const std::vector<int64_t>& send_bytes,
                                                      const std::vector<int64_t>& recv_bytes) {
  std::vector<RankBuffers> ranks(static_cast<size_t>(size()));
  for (int rank = 0; rank < size(); ++rank) {
    const auto index = static_cast<size_t>(rank);
    ranks[index].stream = &world_->StreamOf(rank);
    if (send_bytes[index] > 0) {
      buffers_.push_back(*world_->DeviceOf(rank).Allocate(send_bytes[index]));
      ranks[index].send = buffers_.back().span();
    }
    if (recv_bytes[index] > 0) {
      buffers_.push_back(*world_->DeviceOf(rank).Allocate(recv_bytes[index]));
      ranks[index].recv = buffers_.back().span();
    }
  }
  return ranks;
}

absl::Status CollectiveSuite::Await(const Starter& start) {
  Waiter waiter;
  start(waiter.MakeDone());
  return waiter.Wait();
}

std::vector<absl::Status> CollectiveSuite::AwaitBoth(const Starter& first, const Starter& second) {
  Waiter waiters[2];
  first(waiters[0].MakeDone());
  second(waiters[1].MakeDone());
  return {waiters[0].Wait(), waiters[1].Wait()};
}

void CollectiveSuite::CopyInNow(const std::byte* host, device::Span span, int rank) {
  ASSERT_TRUE(Await([&](device::Done done) {
                world_->StreamOf(rank).CopyIn({host, span.bytes}, span, std::move(done));
              }).ok());
}

std::vector<std::byte> CollectiveSuite::CopyOutNow(device::ConstSpan span, int rank) {
  std::vector<std::byte> host(static_cast<size_t>(span.bytes));
  EXPECT_TRUE(Await([&](device::Done done) {
                world_->StreamOf(rank).CopyOut(span, {host.data(), span.bytes}, std::move(done));
              }).ok());
  return host;
}

void CollectiveSuite::ExpectWhole() {
  const std::vector<int64_t> counts = {1};
  Args args;
  args.counts = counts;
  std::vector<RankCase> ranks(static_cast<size_t>(size()));
  for (RankCase& rank : ranks) {
    rank.send = {std::byte{1}};
    rank.expected = {std::byte{static_cast<uint8_t>(size())}};
  }
  Check(ranks, [&](Communicator& member, Communicator::Ranks local, Communicator::Done done) {
    member.AllReduce(args, local, std::move(done));
  });
}

std::vector<std::byte> PatternBytes(int rank, int64_t bytes) {
  std::vector<std::byte> pattern(static_cast<size_t>(bytes));
  uint32_t state = 2'654'435'761U * static_cast<uint32_t>(rank + 1);
  for (std::byte& byte : pattern) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return pattern;
}

std::vector<std::vector<int64_t>> BlockCounts(int size, int64_t count) {
  std::vector<int64_t> equal(static_cast<size_t>(size), count);
  std::vector<int64_t> ragged(static_cast<size_t>(size));
  std::vector<int64_t> last(static_cast<size_t>(size), 0);
  for (int rank = 0; rank < size; ++rank) {
    ragged[static_cast<size_t>(rank)] = rank % 3 == 1 ? 0 : count + rank * 5 % 3;
  }
  last.back() = count;
  return {equal, ragged, last};
}

std::vector<std::byte> Slice(const std::vector<std::byte>& from, int64_t begin, int64_t bytes) {
  return {from.begin() + begin, from.begin() + begin + bytes};
}

void Append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace shoal::collective
