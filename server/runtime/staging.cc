#include "server/runtime/staging.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/copy.h"
#include "base/status.h"

namespace shoal::runtime {
namespace {

plan::Range InBytes(const Operand& operand, plan::Range elements) {
  return {elements.begin * operand.item_bytes(), elements.end * operand.item_bytes()};
}

/// Bytes from one place to another by an operation of a stream.
struct Copy {
  enum class Kind : uint8_t { kIn, kOut, kWithin };

  void Queue(Join& join) const {
    switch (kind) {
      case Kind::kIn:
        return stream->CopyIn({source, bytes}, {target, bytes}, join.Part());
      case Kind::kOut:
        return stream->CopyOut({source, bytes}, {target, bytes}, join.Part());
      case Kind::kWithin:
        return stream->Copy({source, bytes}, {target, bytes}, join.Part());
    }
    SHOAL_UNREACHABLE("kind out of range");
  }

  Kind kind;
  device::Stream* stream;
  const std::byte* source;
  std::byte* target;
  int64_t bytes;
};

void QueueAll(const std::vector<Copy>& copies, Join& join) {
  for (const Copy& copy : copies) copy.Queue(join);
}

}  // namespace

device::Done Join::Part() {
  open_.fetch_add(1, std::memory_order_relaxed);
  return [self = shared_from_this()](const absl::Status& status) { self->End(status); };
}

void Join::End(const absl::Status& status) {
  if (!status.ok()) {
    const std::lock_guard lock(mutex_);
    status_.Update(status);
  }
  if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) std::move(done_)(std::move(status_));
}

void StageOut(const Operand& source, plan::Range bytes, std::byte* host, device::Done done) {
  const auto join = std::make_shared<Join>(std::move(done));
  source.ForEachPart(bytes, [&](const Extent& extent, const std::byte* data, plan::Range part) {
    std::byte* target = host + (part.begin - bytes.begin);
    if (extent.way == nullptr) {
      CopyBytes(target, data, part.size(), 2 * bytes.size());
    } else {
      extent.way->CopyOut({data, part.size()}, {target, part.size()}, join->Part());
    }
  });
  join->Seal();
}

void StageIn(const wire::Pieces& pieces, const Operand& target, plan::Range bytes,
             device::Done done) {
  const auto join = std::make_shared<Join>(std::move(done));
  target.ForEachPart(bytes, [&](const Extent& extent, std::byte* data, plan::Range part) {
    const wire::Pieces held = wire::SubPieces(pieces, part.begin - bytes.begin, part.size());
    if (extent.way == nullptr) return wire::GatherPieces(held, {data, bytes.size()}, nullptr);
    for (const wire::ConstBytes piece : held) {
      const auto size = static_cast<int64_t>(piece.size());
      extent.way->CopyIn({piece.data(), size}, {data, size}, join->Part());
      data += size;
    }
  });
  join->Seal();
}

std::byte* LocateFor(const Worker& worker, const Operand& operand, plan::Range elements) {
  const Extent* extent = operand.Holding(elements);
  if (extent == nullptr || (!Reaches(worker, *extent) && elements.size() > 0)) return nullptr;
  return extent->data + (elements.begin - extent->elements.begin) * operand.item_bytes();
}

int64_t WorkspaceBytes(const Workers& workers, WorkerId worker, const Operand& operand,
                       plan::Range elements) {
  const int64_t bytes = elements.size() * operand.item_bytes();
  // Arrays lie with these workers or in the front end.
  if (workers.host_addressable()) return operand.Holding(elements) == nullptr ? bytes : 0;
  const auto reaches = [&](const Worker& one) {
    return LocateFor(one, operand, elements) != nullptr;
  };
  const bool all_reach = worker == kNoWorker
                             ? std::all_of(workers.all().begin(), workers.all().end(), reaches)
                             : reaches(workers[worker]);
  return all_reach ? 0 : bytes;
}

/// What surrounds the work, in the order in which it is queued. The steps that go to streams other
/// than the worker's wait for those before them; all others are in order on its stream.
struct PieceMemory::Steps {
  std::byte* Bounce(int64_t bytes) {
    return bounces.emplace_back(new std::byte[static_cast<size_t>(bytes)]).get();
  }

  /// The copies out of other devices, then all the rest.
  void Start(Worker& worker, std::optional<device::Work> work, device::CancelFlag cancelled,
             device::Done done) {
    if (fetches.empty()) return Compute(worker, std::move(work), cancelled, std::move(done));
    const auto join = std::make_shared<Join>([this, &worker, work = std::move(work), cancelled,
                                              done = std::move(done)](absl::Status status) mutable {
      if (!status.ok()) return End(std::move(done), std::move(status));
      Compute(worker, std::move(work), cancelled, std::move(done));
    });
    QueueAll(fetches, *join);
    join->Seal();
  }

  void Compute(Worker& worker, std::optional<device::Work> work, device::CancelFlag cancelled,
               device::Done done) {
    const auto join =
        std::make_shared<Join>([this, done = std::move(done)](absl::Status status) mutable {
          if (!status.ok() || deliveries.empty()) return End(std::move(done), std::move(status));
          const auto delivered =
              std::make_shared<Join>([this, done = std::move(done)](absl::Status end) mutable {
                End(std::move(done), std::move(end));
              });
          QueueAll(deliveries, *delivered);
          delivered->Seal();
        });
    QueueAll(before, *join);
    if (work.has_value()) worker.stream->Launch(*std::move(work), cancelled, join->Part());
    QueueAll(after, *join);
    join->Seal();
  }

  // Who is told may let the next piece have the memory.
  void End(device::Done done, absl::Status status) {
    buffers.clear();
    bounces.clear();
    std::move(done)(std::move(status));
  }

  std::vector<device::Buffer> buffers;
  std::vector<std::unique_ptr<std::byte[]>> bounces;
  std::vector<Copy> fetches;     // From other devices, on their streams.
  std::vector<Copy> before;      // On the worker's stream.
  std::vector<Copy> after;       // On the worker's stream.
  std::vector<Copy> deliveries;  // To other devices, on their streams.
};

PieceMemory::PieceMemory() = default;
PieceMemory::PieceMemory(PieceMemory&&) noexcept = default;
PieceMemory& PieceMemory::operator=(PieceMemory&&) noexcept = default;
PieceMemory::~PieceMemory() = default;

PieceMemory::Steps& PieceMemory::steps() {
  if (steps_ == nullptr) steps_ = std::make_unique<Steps>();
  return *steps_;
}

absl::StatusOr<const std::byte*> PieceMemory::Read(Worker& worker, const Operand& source,
                                                   plan::Range elements) {
  if (const std::byte* data = LocateFor(worker, source, elements); data != nullptr) return data;
  SHOAL_ASSIGN_OR_RETURN(std::byte* const data,
                         Allocate(worker, elements.size() * source.item_bytes()));
  Fill(worker, source, elements, data);
  return data;
}

absl::StatusOr<std::byte*> PieceMemory::Write(Worker& worker, const Operand& target,
                                              plan::Range elements) {
  if (std::byte* data = LocateFor(worker, target, elements); data != nullptr) return data;
  SHOAL_ASSIGN_OR_RETURN(std::byte* const data,
                         Allocate(worker, elements.size() * target.item_bytes()));
  Empty(worker, data, target, elements);
  return data;
}

absl::StatusOr<std::byte*> PieceMemory::Allocate(Worker& worker, int64_t bytes) {
  SHOAL_ASSIGN_OR_RETURN(device::Buffer buffer, worker.device->Allocate(bytes));
  return steps().buffers.emplace_back(std::move(buffer)).data();
}

void PieceMemory::Fill(Worker& worker, const Operand& source, plan::Range elements,
                       std::byte* data) {
  using Kind = Copy::Kind;
  Steps& all = steps();
  source.ForEachPart(InBytes(source, elements),
                     [&](const Extent& extent, const std::byte* from, plan::Range part) {
                       device::Stream* const own = worker.stream.get();
                       if (Reaches(worker, extent)) {
                         all.before.push_back({Kind::kWithin, own, from, data, part.size()});
                       } else if (extent.way == nullptr) {
                         all.before.push_back({Kind::kIn, own, from, data, part.size()});
                       } else if (worker.way == nullptr) {
                         all.fetches.push_back({Kind::kOut, extent.way, from, data, part.size()});
                       } else {
                         std::byte* const bounce = all.Bounce(part.size());
                         all.fetches.push_back({Kind::kOut, extent.way, from, bounce, part.size()});
                         all.before.push_back({Kind::kIn, own, bounce, data, part.size()});
                       }
                       data += part.size();
                     });
}

void PieceMemory::Empty(Worker& worker, std::byte* data, const Operand& target,
                        plan::Range elements) {
  using Kind = Copy::Kind;
  Steps& all = steps();
  target.ForEachPart(InBytes(target, elements),
                     [&](const Extent& extent, std::byte* to, plan::Range part) {
                       device::Stream* const own = worker.stream.get();
                       if (Reaches(worker, extent)) {
                         all.after.push_back({Kind::kWithin, own, data, to, part.size()});
                       } else if (extent.way == nullptr) {
                         all.after.push_back({Kind::kOut, own, data, to, part.size()});
                       } else if (worker.way == nullptr) {
                         all.deliveries.push_back({Kind::kIn, extent.way, data, to, part.size()});
                       } else {
                         std::byte* const bounce = all.Bounce(part.size());
                         all.after.push_back({Kind::kOut, own, data, bounce, part.size()});
                         all.deliveries.push_back({Kind::kIn, extent.way, bounce, to, part.size()});
                       }
                       data += part.size();
                     });
}

void PieceMemory::Run(Worker& worker, std::optional<device::Work> work,
                      device::CancelFlag cancelled, device::Done done) {
  if (steps_ != nullptr) {
    return steps_->Start(worker, std::move(work), cancelled, std::move(done));
  }
  if (!work.has_value()) return std::move(done)(absl::OkStatus());
  worker.stream->Launch(*std::move(work), cancelled, std::move(done));
}

}  // namespace shoal::runtime
