#include "server/service/session_output.h"

#include <utility>

#include "server/service/session_codec.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {

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
    AppendResult(result, &results_);
  }
  Next(std::move(lock));
}

void SessionOutput::EndInOrder(uint64_t ticket, std::string result) {
  Slot& slot = line_[ticket - line_begin_];
  slot.ended = true;
  slot.result = std::move(result);
  while (!line_.empty() && line_.front().ended) {
    AppendResult(line_.front().result, &results_);
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
  return static_cast<int64_t>(results_.size() + done_.size() * sizeof(uint64_t));
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

// The transport is called without the lock: a write may be answered on the same thread.
void SessionOutput::Next(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_ || holds_ > 0) return;
  const bool drop = broken_ || drop_;
  if (drop) {
    done_.clear();
    results_.clear();
  }
  if (!drop && (credits_ != 0 || !done_.empty() || !results_.empty())) {
    transport::Frame frame{EncodeSessionResponse(credits_, done_, results_), {}};
    credits_ = 0;
    done_.clear();
    results_.clear();
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
