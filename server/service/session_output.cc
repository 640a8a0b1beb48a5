#include "server/service/session_output.h"

#include <algorithm>
#include <utility>

#include "server/service/session_codec.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

constexpr size_t kIdBytesMax = 10;    // A varint.
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
  const uint64_t first = line_begin_ + line_.size();
  if (ordered_) line_.resize(line_.size() + count);
  return first;
}

void SessionOutput::Done(uint64_t ticket, uint64_t id) {
  std::unique_lock lock(mutex_);
  --open_;
  if (ordered_) {
    v1::SessionResult result;
    result.set_id(id);
    EndInOrder(ticket, result.SerializeAsString());
  } else {
    done_.push_back(id);
  }
  Next(std::move(lock));
}

void SessionOutput::Result(uint64_t ticket, std::string result) {
  std::unique_lock lock(mutex_);
  --open_;
  if (ordered_) {
    EndInOrder(ticket, std::move(result));
  } else {
    Add(result);
  }
  Next(std::move(lock));
}

// A caller's own limit on messages must hold, however much has gathered while it did not read.
void SessionOutput::Add(absl::string_view result) {
  const size_t bytes = result.size() + kIdBytesMax + 1;
  if (results_.empty() || results_.back().size() + bytes + kFramingBytes > message_bytes_max_) {
    results_.emplace_back();
  }
  const size_t before = results_.back().size();
  AppendResult(result, &results_.back());
  results_bytes_ += results_.back().size() - before;
}

void SessionOutput::EndInOrder(uint64_t ticket, std::string result) {
  Slot& slot = line_[ticket - line_begin_];
  slot.ended = true;
  slot.result = std::move(result);
  while (!line_.empty() && line_.front().ended) {
    Add(line_.front().result);
    line_.pop_front();
    ++line_begin_;
  }
}

void SessionOutput::Hold() {
  const std::lock_guard lock(mutex_);
  ++holds_;
}

void SessionOutput::Release() {
  std::unique_lock lock(mutex_);
  --holds_;
  Next(std::move(lock));
}

int64_t SessionOutput::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(results_bytes_ + done_.size() * sizeof(uint64_t));
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
  const bool both = !results_.empty() && id_count * kIdBytesMax + results_.front().size() <= room;
  std::string results;
  if (both || (done_.empty() && !results_.empty())) {
    results = std::move(results_.front());
    results_.pop_front();
    results_bytes_ -= results.size();
  }
  transport::Frame frame{
      EncodeSessionResponse(credits_, absl::MakeConstSpan(done_).first(id_count), results), {}};
  credits_ = 0;
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(id_count));
  return frame;
}

// The transport is called without the lock: a write may be answered on the same thread.
void SessionOutput::Next(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_ || holds_ > 0) return;
  const bool drop = broken_ || drop_;
  if (drop) {
    done_.clear();
    results_.clear();
    results_bytes_ = 0;
  }
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
