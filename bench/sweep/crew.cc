#include "bench/sweep/crew.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>
#include <utility>

#include "base/status.h"
#include "bench/process/usage.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Processor time from when it is made to when it is read.
class CpuWatch {
 public:
  explicit CpuWatch(const Subject& subject)
      : server_(subject.ServerPid()), client_start_(OwnCpu()), server_start_(ServerCpu()) {}

  void Read(BurstResult* result) const {
    result->client_cpu = OwnCpu() - client_start_;
    if (server_ != 0) result->server_cpu = ServerCpu() - server_start_;
  }

 private:
  Duration ServerCpu() const { return server_ == 0 ? Duration::zero() : ProcessCpu(server_); }

  const pid_t server_;
  const Duration client_start_;
  const Duration server_start_;
};

}  // namespace

class Crew::Caller {
 public:
  Caller(Subject* subject, std::unique_ptr<Lane> lane, int index)
      : subject_(subject), lane_(std::move(lane)), index_(index) {}

  absl::Status Prepare(const Workload* workload, const BurstShape& shape) {
    workload_ = workload;
    shape_ = shape;
    if (!subject_->Overlaps()) shape_.in_flight = 1;
    buffers_.clear();
    buffers_.resize(static_cast<size_t>(shape.calls));
    for (Buffers& buffers : buffers_) {
      for (int i = 0; i < workload->argument_count(); ++i) {
        SHOAL_ASSIGN_OR_RETURN(auto argument, lane_->Allocate(workload->bytes()));
        buffers.arguments.push_back(std::move(argument));
      }
      SHOAL_ASSIGN_OR_RETURN(buffers.result, lane_->Allocate(workload->reply_bytes()));
    }
    started_.resize(buffers_.size());
    return absl::OkStatus();
  }

  // Makes fresh payloads, and stores them where the calls are to fetch them.
  absl::Status Fill() {
    wrong_ = 0;
    latencies_.clear();
    for (const Buffers& buffers : buffers_) {
      for (const auto& argument : buffers.arguments) {
        workload_->Fill(NextNumber(), argument->bytes());
      }
    }
    return op() == Op::kGet ? EachAlone(Op::kPut) : absl::OkStatus();
  }

  absl::Status Run() {
    const int call_count = static_cast<int>(buffers_.size());
    int in_flight = 0;
    begun_ = Clock::now();
    for (int i = 0; i < call_count; ++i) {
      started_[static_cast<size_t>(i)] = Clock::now();
      SHOAL_RETURN_IF_ERROR(lane_->Start(CallOf(op(), i), i));
      if (++in_flight == shape_.in_flight) SHOAL_RETURN_IF_ERROR(Await(&in_flight));
    }
    sent_ = Clock::now();
    while (in_flight > 0) SHOAL_RETURN_IF_ERROR(Await(&in_flight));
    ended_ = Clock::now();
    return absl::OkStatus();
  }

  absl::Status Check() {
    if (!subject_->MovesPayload()) return absl::OkStatus();
    if (op() == Op::kPut) SHOAL_RETURN_IF_ERROR(EachAlone(Op::kGet));
    for (const Buffers& buffers : buffers_) {
      wire::Pieces arguments;
      for (const auto& argument : buffers.arguments) arguments.push_back(argument->bytes());
      const Bytes reply = buffers.result->bytes();
      wrong_ += subject_->Computes() ? workload_->CountWrong(arguments, reply)
                                     : workload_->CountWrongMoved(arguments, reply);
    }
    if (op() != Op::kPut && op() != Op::kGet) return absl::OkStatus();
    for (int i = 0; i < static_cast<int>(buffers_.size()); ++i) {
      SHOAL_RETURN_IF_ERROR(lane_->Release(SlotOf(i)));
    }
    return absl::OkStatus();
  }

  Clock::time_point begun() const { return begun_; }
  Clock::time_point sent() const { return sent_; }
  Clock::time_point ended() const { return ended_; }
  const std::vector<Duration>& latencies() const { return latencies_; }
  int64_t wrong() const { return wrong_; }
  absl::Status status;  ///< Of the burst under way.

 private:
  struct Buffers {
    absl::InlinedVector<std::unique_ptr<Memory>, 2> arguments;
    std::unique_ptr<Memory> result;
  };

  Op op() const { return workload_->options().op; }

  // Payloads of different callers, and of one caller's calls, all differ.
  uint64_t NextNumber() { return (static_cast<uint64_t>(index_) << 40) + ++number_; }

  int SlotOf(int call) const { return index_ * static_cast<int>(buffers_.size()) + call; }

  Call CallOf(Op op, int index) const {
    const Buffers& buffers = buffers_[static_cast<size_t>(index)];
    Call call{.op = op, .slot = SlotOf(index), .keep = shape_.keep};
    if (op != Op::kPut) call.result = buffers.result.get();
    if (op == Op::kGet) return call;
    for (const auto& argument : buffers.arguments) call.arguments.push_back(argument.get());
    return call;
  }

  absl::Status Await(int* in_flight) {
    done_.clear();
    SHOAL_RETURN_IF_ERROR(lane_->Await(&done_));
    const Clock::time_point now = Clock::now();
    for (const int64_t tag : done_) latencies_.push_back(now - started_[static_cast<size_t>(tag)]);
    *in_flight -= static_cast<int>(done_.size());
    return absl::OkStatus();
  }

  // Untimed, one after the other.
  absl::Status EachAlone(Op op) {
    if (!subject_->MovesPayload()) return absl::OkStatus();
    for (int i = 0; i < static_cast<int>(buffers_.size()); ++i) {
      SHOAL_RETURN_IF_ERROR(lane_->Start(CallOf(op, i), i));
      done_.clear();
      SHOAL_RETURN_IF_ERROR(lane_->Await(&done_));
    }
    return absl::OkStatus();
  }

  Subject* const subject_;
  std::vector<Buffers> buffers_;  // Outlive the lane: it may still have calls in flight.
  const std::unique_ptr<Lane> lane_;
  const int index_;
  const Workload* workload_ = nullptr;
  BurstShape shape_;
  std::vector<Clock::time_point> started_;
  std::vector<int64_t> done_;
  uint64_t number_ = 0;

  Clock::time_point begun_;
  Clock::time_point sent_;
  Clock::time_point ended_;
  std::vector<Duration> latencies_;
  int64_t wrong_ = 0;
};

absl::StatusOr<std::unique_ptr<Crew>> Crew::Create(Subject* subject, int callers) {
  std::unique_ptr<Crew> crew(new Crew(subject));
  for (int i = 0; i < callers; ++i) {
    SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, subject->NewLane());
    crew->callers_.push_back(std::make_unique<Caller>(subject, std::move(lane), i));
  }
  return crew;
}

Crew::Crew(Subject* subject) : subject_(subject) {}

Crew::~Crew() = default;

absl::Status Crew::Prepare(const Workload* workload, const BurstShape& shape) {
  for (const auto& caller : callers_) {
    SHOAL_RETURN_IF_ERROR(caller->Prepare(workload, shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<BurstResult> Crew::Burst() {
  return callers_.size() == 1 ? BurstAlone() : BurstTogether();
}

absl::StatusOr<BurstResult> Crew::BurstAlone() {
  Caller& caller = *callers_.front();
  SHOAL_RETURN_IF_ERROR(caller.Fill());
  const CpuWatch watch(*subject_);
  SHOAL_RETURN_IF_ERROR(caller.Run());
  BurstResult cpu;
  watch.Read(&cpu);
  SHOAL_RETURN_IF_ERROR(caller.Check());
  BurstResult result = Collect();
  result.client_cpu = cpu.client_cpu;
  result.server_cpu = cpu.server_cpu;
  return result;
}

absl::StatusOr<BurstResult> Crew::BurstTogether() {
  // Everybody comes to each barrier, whatever has failed: else the others would wait for ever.
  std::barrier barrier(static_cast<int64_t>(callers_.size()) + 1);
  std::vector<std::jthread> threads;
  for (const auto& caller : callers_) {
    threads.emplace_back([&barrier, caller = caller.get()] {
      caller->status = caller->Fill();
      barrier.arrive_and_wait();
      barrier.arrive_and_wait();
      if (caller->status.ok()) caller->status = caller->Run();
      barrier.arrive_and_wait();
      if (caller->status.ok()) caller->status = caller->Check();
    });
  }
  barrier.arrive_and_wait();
  const CpuWatch watch(*subject_);
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();
  BurstResult cpu;
  watch.Read(&cpu);
  threads.clear();
  for (const auto& caller : callers_) SHOAL_RETURN_IF_ERROR(caller->status);
  BurstResult result = Collect();
  result.client_cpu = cpu.client_cpu;
  result.server_cpu = cpu.server_cpu;
  return result;
}

BurstResult Crew::Collect() const {
  BurstResult result;
  Clock::time_point begun = Clock::time_point::max();
  for (const auto& caller : callers_) begun = std::min(begun, caller->begun());
  for (const auto& caller : callers_) {
    result.sent = std::max<Duration>(result.sent, caller->sent() - begun);
    result.wall = std::max<Duration>(result.wall, caller->ended() - begun);
    result.wrong += caller->wrong();
    result.latencies.insert(result.latencies.end(), caller->latencies().begin(),
                            caller->latencies().end());
  }
  return result;
}

}  // namespace shoal::bench
