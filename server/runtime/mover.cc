#include "server/runtime/mover.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

// Memory to memory within one host: far above what the largest array takes, so that a fault shows.
constexpr Duration kTimeout = std::chrono::minutes(10);

}  // namespace

collective::Transfer Mover::MakeTransfer(const Shard& from, const Shard& to, plan::Range elements,
                                         int64_t item_bytes) {
  const auto part = [&](const Shard& shard) {
    return shard.buffer.span().Sub((elements.begin - shard.elements.begin) * item_bytes,
                                   elements.size() * item_bytes);
  };
  return {.source = from.worker.value,
          .destination = to.worker.value,
          .send = part(from),
          .recv = part(to),
          .send_stream = (*workers_)[from.worker].stream.get(),
          .recv_stream = (*workers_)[to.worker].stream.get()};
}

/// Elements that one shard of the target takes from one of the source.
struct Mover::Hop {
  const Shard* from = nullptr;
  const Shard* to = nullptr;
  plan::Range elements;
};

std::vector<Mover::Hop> Mover::PlanCopy(const StoredArray& source, const StoredArray& target) {
  std::vector<Hop> hops;
  for (const Shard& to : target.shards) {
    int64_t next = to.elements.begin;
    while (next < to.elements.end) {
      // What begins here comes from this very worker if it holds it, else from the first that does.
      const Shard* best = nullptr;
      for (const Shard& from : source.shards) {
        if (next < from.elements.begin || next >= from.elements.end) continue;
        if (best == nullptr || from.worker == to.worker) best = &from;
      }
      const int64_t end = std::min(best->elements.end, to.elements.end);
      hops.push_back({best, &to, {next, end}});
      next = end;
    }
  }
  return hops;
}

void Mover::Copy(const StoredArray& source, StoredArray* target, device::Done done) {
  const auto join = std::make_shared<Join>(std::move(done));  // Owned by the parts' Dones.
  std::vector<collective::Transfer> transfers;
  for (const Hop& hop : PlanCopy(source, *target)) {
    collective::Transfer transfer =
        MakeTransfer(*hop.from, *hop.to, hop.elements, kernels::ItemBytes(source.type.dtype));
    if (transfer.source == transfer.destination) {
      // Within its own memory a device copies by itself; a group need not be able to.
      transfer.send_stream->Copy(transfer.send, transfer.recv, join->Part());
    } else {
      transfers.push_back(std::move(transfer));
    }
  }
  if (!transfers.empty()) Send({std::move(transfers), join->Part()});
  join->Seal();
}

int64_t Mover::MovedBytes(const StoredArray& source, const StoredArray& target) {
  int64_t elements = 0;
  for (const Hop& hop : PlanCopy(source, target)) {
    if (hop.from->worker != hop.to->worker) elements += hop.elements.size();
  }
  return elements * kernels::ItemBytes(source.type.dtype);
}

void Mover::Replicate(StoredArray* array, device::Done done) {
  const int64_t item_bytes = kernels::ItemBytes(array->type.dtype);
  std::vector<collective::Transfer> transfers;
  for (size_t rank = 1; rank < array->shards.size(); ++rank) {
    const Shard& first = array->shards[0];
    if (array->bytes == 0) break;
    transfers.push_back(MakeTransfer(first, array->shards[rank], first.elements, item_bytes));
  }
  Send({std::move(transfers), std::move(done)});
}

// The group is told without the lock: on its way it may run the Dones of other work on the same
// streams, and those may order moves of their own.
void Mover::Send(Order order) {
  if (order.transfers.empty()) return std::move(order.done)(absl::OkStatus());
  collective::Args args;
  args.timeout = kTimeout;
  std::unique_lock lock(mutex_);
  orders_.push_back(std::move(order));
  if (sending_) return;
  sending_ = true;
  while (!orders_.empty()) {
    Order next = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();
    group_->SendRecv(args, next.transfers, std::move(next.done));
    lock.lock();
  }
  sending_ = false;
}

}  // namespace shoal::runtime
