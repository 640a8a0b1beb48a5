#include "server/service/stream_writer.h"

#include <utility>

namespace shoal::service {

void StreamWriter::Push(transport::Frame frame) {
  std::unique_lock lock(mutex_);
  if (finish_.has_value()) return;
  queue_.push_back(std::move(frame));
  Next(std::move(lock));
}

void StreamWriter::Read() {
  {
    const std::lock_guard lock(mutex_);
    if (finish_.has_value()) return;
    ++asking_;
  }
  call_->Read();
  std::unique_lock lock(mutex_);
  --asking_;
  Next(std::move(lock));
}

size_t StreamWriter::OnWritten(bool ok) {
  std::unique_lock lock(mutex_);
  writing_ = false;
  if (!ok) queue_.clear();  // The stream is broken; its cancellation finishes it.
  const size_t waiting = queue_.size();
  Next(std::move(lock));
  return waiting;
}

bool StreamWriter::Finish(absl::Status status) {
  std::unique_lock lock(mutex_);
  if (finish_.has_value()) return false;
  if (!status.ok()) queue_.clear();
  finish_ = std::move(status);
  Next(std::move(lock));
  return true;
}

size_t StreamWriter::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

// The transport is called without the lock: a write may be answered on the same thread.
void StreamWriter::Next(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_) return;
  if (!queue_.empty()) {
    transport::Frame frame = std::move(queue_.front());
    queue_.pop_front();
    writing_ = true;
    lock.unlock();
    call_->Write(std::move(frame));
    return;
  }
  if (!finish_.has_value() || asking_ > 0) return;
  finished_ = true;
  const absl::Status status = *finish_;
  lock.unlock();
  call_->Finish(status);
}

}  // namespace shoal::service
