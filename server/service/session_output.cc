#include "server/service/session_output.h"

#include <algorithm>
#include <utility>

#include "server/service/session_codec.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

constexpr size_t kIdBytesMax = 10;    // A varint.
constexpr int64_t kDoneBytes = 8;     // What an id counts while it waits.
constexpr size_t kFramingBytes = 64;  // More than what goes around ids and results.

}  // namespace

void SessionOutput::SendCredits(int64_t credits) {
  std::unique_lock lock(mutex_);
  credits_ = credits;
  Next(std::move(lock));
}

uint64_t SessionOutput::Begin(size_t count) {
  const std::lock_guard lock(mutex_);
  open_ += static_cast<int64_t>(count);
  in_flight_.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  const uint64_t first = line_begin_ + line_.size();
  if (ordered_) line_.resize(line_.size() + count);
  return first;
}

void SessionOutput::Expect(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  Count(bytes);
}

void SessionOutput::Done(uint64_t ticket, uint64_t id) {
  std::unique_lock lock(mutex_);
  --open_;
  if (ordered_) {
    v1::SessionResult result;
    result.set_id(id);
    EndInOrder(ticket, {true, result.SerializeAsString(), {}});
  } else {
    done_.push_back(id);
    Count(kDoneBytes);
  }
  Next(std::move(lock));
}

void SessionOutput::Result(uint64_t ticket, std::string result, memory::Reservation held) {
  std::unique_lock lock(mutex_);
  --open_;
  Count(-held.bytes());
  if (ordered_) {
    EndInOrder(ticket, {true, std::move(result), std::move(held)});
  } else {
    Count(static_cast<int64_t>(result.size()));
    Add({true, std::move(result), std::move(held)});
  }
  Next(std::move(lock));
}

// All writers hold the mutex; only the readers do not.
void SessionOutput::Count(int64_t bytes) {
  waiting_bytes_.store(waiting_bytes() + bytes, std::memory_order_relaxed);
}

// A caller's own limit on messages must hold, however much has gathered while it did not read.
void SessionOutput::Add(Slot slot) {
  const size_t bytes = slot.result.size() + kIdBytesMax + 1;
  if (results_.empty() ||
      results_.back().bytes.size() + bytes + kFramingBytes > message_bytes_max_) {
    results_.emplace_back();
  }
  Packed& packed = results_.back();
  AppendResult(slot.result, &packed.bytes);
  ++packed.count;
  packed.result_bytes += static_cast<int64_t>(slot.result.size());
  packed.held.Absorb(std::move(slot.held));
}

void SessionOutput::EndInOrder(uint64_t ticket, Slot slot) {
  Count(static_cast<int64_t>(slot.result.size()));
  line_[ticket - line_begin_] = std::move(slot);
  while (!line_.empty() && line_.front().ended) {
    Add(std::move(line_.front()));
    line_.pop_front();
    ++line_begin_;
  }
}

bool SessionOutput::Hold() {
  const std::lock_guard lock(mutex_);
  if (finished_) return false;
  ++holds_;
  return true;
}

void SessionOutput::Release() {
  std::unique_lock lock(mutex_);
  --holds_;
  Next(std::move(lock));
}

void SessionOutput::Read() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || drop_) return;
    ++holds_;  // No finish in between.
  }
  call_->Read();
  Release();
}

absl::Status SessionOutput::finish_status() const {
  const std::lock_guard lock(mutex_);
  return finish_;
}

void SessionOutput::OnWritten(bool ok) {
  std::unique_lock lock(mutex_);
  writing_ = false;
  Count(-std::exchange(writing_bytes_, 0));
  writing_held_.Release();
  broken_ |= !ok;
  Next(std::move(lock));
}

void SessionOutput::Finish(absl::Status status, bool drop_results) {
  std::unique_lock lock(mutex_);
  drop_ |= drop_results;
  if (!finishing_) {
    finishing_ = true;
    finish_ = std::move(status);
  }
  Next(std::move(lock));
}

transport::Frame SessionOutput::TakeFrame() {
  const size_t room = message_bytes_max_ - kFramingBytes;
  const size_t id_count = std::min(done_.size(), std::max<size_t>(1, room / kIdBytesMax));
  const bool both =
      !results_.empty() && id_count * kIdBytesMax + results_.front().bytes.size() <= room;
  Packed packed;
  if (both || (done_.empty() && !results_.empty())) {
    packed = std::move(results_.front());
    results_.pop_front();
  }
  const auto ids = static_cast<int64_t>(id_count);
  writing_bytes_ = ids * kDoneBytes + packed.result_bytes;
  writing_held_ = std::move(packed.held);
  // Before it is told: who has a result may send the next task at once.
  in_flight_.fetch_sub(ids + packed.count, std::memory_order_relaxed);
  transport::Frame frame = transport::FrameOf(
      EncodeSessionResponse(credits_, absl::MakeConstSpan(done_).first(id_count), packed.bytes));
  credits_ = 0;
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(id_count));
  return frame;
}

void SessionOutput::Drop() {
  Count(-static_cast<int64_t>(done_.size()) * kDoneBytes);
  done_.clear();
  for (const Packed& packed : results_) Count(-packed.result_bytes);
  results_.clear();
}

// The transport is called without the lock: a write may be answered on the same thread.
void SessionOutput::Next(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_ || holds_ > 0) return;
  const bool drop = broken_ || drop_;
  if (drop) Drop();
  if (!drop && (credits_ != 0 || !done_.empty() || !results_.empty())) {
    transport::Frame frame = TakeFrame();
    writing_ = true;
    lock.unlock();
    call_->Write(std::move(frame));
    return;
  }
  if (!finishing_ || open_ > 0) return;
  finished_ = true;
  const absl::Status status = finish_;
  lock.unlock();
  call_->Finish(status);
}

}  // namespace shoal::service
