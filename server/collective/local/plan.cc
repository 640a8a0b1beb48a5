#include "server/collective/local/plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/collective/check.h"

namespace shoal::collective {
namespace {

using Ranks = absl::Span<const RankBuffers>;

struct Interval {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool is_write = false;
};
using Intervals = absl::InlinedVector<Interval, 16>;

void AddCopy(Plan& plan, const std::byte* source, std::byte* target, int64_t bytes) {
  if (bytes == 0) return;
  CopyStep step{source, bytes, {}};
  if (target != source) step.targets.push_back(target);
  plan.copies.push_back(std::move(step));
}

void AddFan(Plan& plan, device::ConstSpan source, Ranks ranks, int64_t recv_offset) {
  if (source.bytes == 0) return;
  CopyStep step{source.data, source.bytes, {}};
  for (const RankBuffers& rank : ranks) {
    std::byte* const target = rank.recv.data + recv_offset;
    if (target != source.data) step.targets.push_back(target);
  }
  plan.copies.push_back(std::move(step));
}

ReduceStep ReductionOf(Ranks ranks, int64_t send_offset, int64_t bytes) {
  ReduceStep step;
  step.bytes = bytes;
  for (const RankBuffers& rank : ranks) step.sources.push_back(rank.send.data + send_offset);
  return step;
}

void PlanReduceScatter(Plan& plan, Ranks ranks) {
  int64_t offset = 0;
  for (const RankBuffers& rank : ranks) {
    ReduceStep step = ReductionOf(ranks, offset, rank.recv.bytes);
    step.targets.push_back(rank.recv.data);
    offset += rank.recv.bytes;
    if (step.bytes > 0) plan.reductions.push_back(std::move(step));
  }
}

void PlanAllToAll(Plan& plan, const Args& args, Ranks ranks) {
  const int64_t item = kernels::ItemBytes(args.dtype);
  absl::InlinedVector<int64_t, 8> recv_offsets(ranks.size(), 0);
  for (size_t source = 0; source < ranks.size(); ++source) {
    int64_t send_offset = 0;
    for (size_t target = 0; target < ranks.size(); ++target) {
      const int64_t bytes = args.counts[source * ranks.size() + target] * item;
      AddCopy(plan, ranks[source].send.data + send_offset,
              ranks[target].recv.data + recv_offsets[target], bytes);
      send_offset += bytes;
      recv_offsets[target] += bytes;
    }
  }
}

Intervals IntervalsOf(const Plan& plan) {
  Intervals intervals;
  for (const CopyStep& step : plan.copies) {
    intervals.push_back({step.source, step.source + step.bytes, false});
    for (const std::byte* target : step.targets) {
      intervals.push_back({target, target + step.bytes, true});
    }
  }
  for (const ReduceStep& step : plan.reductions) {
    for (const std::byte* target : step.targets) {
      intervals.push_back({target, target + step.bytes, true});
    }
    absl::InlinedVector<const std::byte*, 4> in_place(step.targets.begin(), step.targets.end());
    for (const std::byte* source : step.sources) {
      // A target that is one of the sources stands for it, once.
      const auto same = std::find(in_place.begin(), in_place.end(), source);
      if (same != in_place.end()) {
        in_place.erase(same);
      } else {
        intervals.push_back({source, source + step.bytes, false});
      }
    }
  }
  return intervals;
}

absl::Status OverlapError(const std::byte* written, Ranks ranks) {
  const std::less_equal<> not_after;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const device::Span recv = ranks[rank].recv;
    if (not_after(recv.data, written) && not_after(written + 1, recv.data + recv.bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, ": recv overlaps other memory of the same call"));
    }
  }
  return absl::InvalidArgumentError("buffers of the call overlap");
}

}  // namespace

int64_t Plan::MovedBytes() const {
  int64_t bytes = 0;
  for (const CopyStep& step : copies) {
    bytes += step.bytes * static_cast<int64_t>(step.targets.size());
  }
  for (const ReduceStep& step : reductions) {
    bytes += step.bytes * static_cast<int64_t>(step.sources.size() + step.targets.size());
  }
  return bytes;
}

Plan MakePlan(Operation operation, const Args& args, Ranks ranks) {
  Plan plan;
  plan.dtype = args.dtype;
  plan.op = args.op;
  const auto root = static_cast<size_t>(args.root);
  int64_t offset = 0;
  switch (operation) {
    case Operation::kScatter:
      for (const RankBuffers& rank : ranks) {
        AddCopy(plan, ranks[root].send.data + offset, rank.recv.data, rank.recv.bytes);
        offset += rank.recv.bytes;
      }
      break;
    case Operation::kGather:
      for (const RankBuffers& rank : ranks) {
        AddCopy(plan, rank.send.data, ranks[root].recv.data + offset, rank.send.bytes);
        offset += rank.send.bytes;
      }
      break;
    case Operation::kBroadcast:
      AddFan(plan, ranks[root].send, ranks, 0);
      break;
    case Operation::kAllGather:
      for (const RankBuffers& rank : ranks) {
        AddFan(plan, rank.send, ranks, offset);
        offset += rank.send.bytes;
      }
      break;
    case Operation::kReduce:
    case Operation::kAllReduce: {
      ReduceStep step = ReductionOf(ranks, 0, ranks[root].send.bytes);
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        if (operation == Operation::kReduce && rank != root) continue;
        step.targets.push_back(ranks[rank].recv.data);
      }
      if (step.bytes > 0) plan.reductions.push_back(std::move(step));
      break;
    }
    case Operation::kReduceScatter:
      PlanReduceScatter(plan, ranks);
      break;
    case Operation::kAllToAll:
      PlanAllToAll(plan, args, ranks);
      break;
    case Operation::kSendRecv:
    case Operation::kBarrier:
      break;
  }
  return plan;
}

absl::Status CheckOverlaps(const Plan& plan, Ranks ranks) {
  Intervals intervals = IntervalsOf(plan);
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return std::less<>()(a.begin, b.begin); });
  const std::less<> before;
  const std::byte* any_end = nullptr;    // Of what begins before the present interval.
  const std::byte* write_end = nullptr;  // The same, of writes only.
  const std::byte* last_write = nullptr;
  for (const Interval& interval : intervals) {
    if (interval.is_write && before(interval.begin, any_end)) {
      return OverlapError(interval.begin, ranks);
    }
    if (!interval.is_write && before(interval.begin, write_end)) {
      return OverlapError(last_write, ranks);
    }
    any_end = std::max(any_end, interval.end, before);
    if (interval.is_write) {
      last_write = interval.begin;
      write_end = interval.end;  // Writes do not overlap, so the last one ends last.
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::collective
