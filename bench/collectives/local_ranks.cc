#include "bench/collectives/local_ranks.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/registry.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"

namespace shoal::bench {
namespace {

using collective::Operation;
using kernels::DType;

// Waits for several pieces of work, spinning a little: most end before a thread could sleep.
class Waiter {
 public:
  explicit Waiter(int count) : left_(count) {}

  device::Done Done() {
    return [this](absl::Status status) {
      const std::lock_guard<std::mutex> lock(mutex_);
      status_.Update(status);
      --left_;
      ended_.notify_one();
    };
  }

  absl::Status Wait() {
    constexpr int kSpins = 2000;
    for (int i = 0; i < kSpins && left_.load() > 0; ++i) continue;
    std::unique_lock<std::mutex> lock(mutex_);  // Nor is a Done still under way after this.
    ended_.wait(lock, [this] { return left_.load() == 0; });
    return status_;
  }

 private:
  std::atomic<int> left_;  // Written under the mutex; read without it while spinning.
  std::mutex mutex_;
  std::condition_variable ended_;
  absl::Status status_;
};

template <typename Visit>
void VisitDType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kInt32:
      return visit(int32_t{});
    case DType::kInt64:
      return visit(int64_t{});
    case DType::kFloat32:
      return visit(float{});
    case DType::kFloat64:
      return visit(double{});
    default:
      SHOAL_UNREACHABLE("the command lets no other dtype pass");
  }
}

template <typename T>
T* ElementsOf(device::Span span) {
  return reinterpret_cast<T*>(span.data);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalRanks>> LocalRanks::Create(int ranks, int64_t region_bytes) {
  const int64_t device_bytes = 2 * region_bytes + kMiB;
  SHOAL_ASSIGN_OR_RETURN(auto arena,
                         memory::Arena::Create({"collectives", 2 * ranks * device_bytes, true}));
  std::unique_ptr<LocalRanks> local(new LocalRanks(ranks, std::move(arena)));
  for (int rank = 0; rank < ranks; ++rank) {
    device::CpuDeviceOptions options;
    options.memory_bytes = device_bytes;
    local->devices_.push_back(
        std::make_unique<device::CpuDevice>(local->arena_.get(), std::move(options)));
    device::Device& device = *local->devices_.back();
    SHOAL_ASSIGN_OR_RETURN(auto stream, device.NewStream());
    local->streams_.push_back(std::move(stream));
    for (int region = 0; region < 2; ++region) {
      SHOAL_ASSIGN_OR_RETURN(device::Buffer buffer, device.Allocate(region_bytes));
      if (region_bytes > 0) std::memset(buffer.data(), 0, static_cast<size_t>(region_bytes));
      local->regions_.push_back(std::move(buffer));
    }
  }
  return local;
}

LocalRanks::LocalRanks(int ranks, std::unique_ptr<memory::Arena> arena)
    : ranks_(ranks),
      arena_(std::move(arena)),
      team_(static_cast<int>(std::thread::hardware_concurrency())) {  // As shoald has.
  collective::LocalGroupOptions options;
  options.ranks_per_member = {ranks};
  options.team = &team_;
  communicator_ = std::move(collective::MakeLocalGroup(options).front());
}

LocalRanks::~LocalRanks() {
  communicator_.reset();
  streams_.clear();
  regions_.clear();
}

device::Span LocalRanks::SpanOf(const Range& range, int64_t item_bytes) const {
  const device::Buffer& region = regions_[static_cast<size_t>(2 * range.rank + range.region)];
  return region.span().Sub(range.begin * item_bytes, range.count * item_bytes);
}

void LocalRanks::Fill(const CollectiveCase& which) {
  const Sides sides = SidesOf(which);
  const int64_t item = kernels::ItemBytes(which.dtype);
  VisitDType(which.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (const Range& recv : sides.recv) {
      std::fill_n(ElementsOf<T>(SpanOf(recv, item)), recv.count, T{-1});
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      const Range& send = sides.send[static_cast<size_t>(rank)];
      T* values = ElementsOf<T>(SpanOf(send, item));
      for (int64_t i = 0; i < send.count; ++i) values[i] = static_cast<T>(SentValue(rank, i));
    }
  });
}

int64_t LocalRanks::CountWrong(const CollectiveCase& which) const {
  const Sides sides = SidesOf(which);
  const int64_t item = kernels::ItemBytes(which.dtype);
  int64_t wrong = 0;
  VisitDType(which.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int rank = 0; rank < ranks_; ++rank) {
      const Range& recv = sides.recv[static_cast<size_t>(rank)];
      const T* values = ElementsOf<T>(SpanOf(recv, item));
      for (int64_t i = 0; i < recv.count; ++i) {
        wrong += values[i] == static_cast<T>(ExpectedValue(which, rank, i)) ? 0 : 1;
      }
    }
  });
  return wrong;
}

absl::Status LocalRanks::Run(const CollectiveCase& which) {
  const Sides sides = SidesOf(which);
  const std::vector<int64_t> counts = CountsOf(which);
  const int64_t item = kernels::ItemBytes(which.dtype);
  std::vector<collective::RankBuffers> ranks;
  for (size_t rank = 0; rank < streams_.size(); ++rank) {
    ranks.push_back(
        {SpanOf(sides.send[rank], item), SpanOf(sides.recv[rank], item), streams_[rank].get()});
  }
  collective::Args args;
  args.dtype = which.dtype;
  args.counts = counts;
  args.root = kRoot;

  Waiter waiter(1);
  collective::Communicator& group = *communicator_;
  switch (which.operation) {
    case Operation::kScatter:
      group.Scatter(args, ranks, waiter.Done());
      break;
    case Operation::kGather:
      group.Gather(args, ranks, waiter.Done());
      break;
    case Operation::kBroadcast:
      group.Broadcast(args, ranks, waiter.Done());
      break;
    case Operation::kAllGather:
      group.AllGather(args, ranks, waiter.Done());
      break;
    case Operation::kReduce:
      group.Reduce(args, ranks, waiter.Done());
      break;
    case Operation::kAllReduce:
      group.AllReduce(args, ranks, waiter.Done());
      break;
    case Operation::kReduceScatter:
      group.ReduceScatter(args, ranks, waiter.Done());
      break;
    case Operation::kAllToAll:
      group.AllToAll(args, ranks, waiter.Done());
      break;
    case Operation::kBarrier:
      group.Barrier(args, ranks, waiter.Done());
      break;
    case Operation::kSendRecv: {
      std::vector<collective::Transfer> transfers;
      for (int rank = 0; rank < ranks_; ++rank) {
        const int next = (rank + 1) % ranks_;
        const auto& from = ranks[static_cast<size_t>(rank)];
        const auto& to = ranks[static_cast<size_t>(next)];
        transfers.push_back({rank, next, from.send, to.recv, from.stream, to.stream});
      }
      group.SendRecv(args, transfers, waiter.Done());
      break;
    }
  }
  return waiter.Wait();
}

absl::Status LocalRanks::Dot(const CollectiveCase& which) {
  const kernels::OpInfo* dot = kernels::FindOp("dot");
  if (dot == nullptr || !dot->Supports(which.dtype)) {
    return absl::UnimplementedError("no dot product of this dtype");
  }
  const Sides sides = SidesOf(which);
  const int64_t item = kernels::ItemBytes(which.dtype);
  std::vector<kernels::ReducePartial> partials(streams_.size());
  kernels::MapKernel square = kernels::IdentityKernel(which.dtype);
  square.outputs.push_back(0);  // Both sides of the product.
  std::vector<kernels::MapInput> inputs(streams_.size());
  Waiter waiter(ranks_);
  for (size_t rank = 0; rank < streams_.size(); ++rank) {
    // What the rank has: of a gather that is what it sent.
    const bool sent = which.operation == Operation::kGather;
    const Range& own = sent ? sides.send[rank] : sides.recv[rank];
    device::ReduceWork work;
    work.op = dot;
    inputs[rank].data = SpanOf(own, item).data;
    work.kernel = &square;
    work.args.inputs = {&inputs[rank], 1};
    work.args.count = own.count;
    work.out = &partials[rank];
    streams_[rank]->Launch(work, nullptr, waiter.Done());
  }
  return waiter.Wait();
}

}  // namespace shoal::bench
