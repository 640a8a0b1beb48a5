#include "server/service/stream_writer.h"

#include <utility>

namespace shoal::service {
namespace {

constexpr uint64_t kNoPlace = UINT64_MAX;

}  // namespace

void StreamWriter::Push(transport::Frame frame) {
  std::unique_lock lock(mutex_);
  if (finish_.has_value()) return;
  queue_.push_back({std::move(frame)});
  Next(std::move(lock));
}

std::optional<uint64_t> StreamWriter::Hold() {
  const std::lock_guard lock(mutex_);
  if (finished_) return std::nullopt;
  ++held_;
  if (finish_.has_value()) return kNoPlace;
  queue_.push_back({{}, /*ready=*/false});
  return first_ + queue_.size() - 1;
}

void StreamWriter::Fill(uint64_t place, std::optional<transport::Frame> frame) {
  std::unique_lock lock(mutex_);
  --held_;
  if (place >= first_ && place - first_ < queue_.size()) {  // Else it was dropped meanwhile.
    Place& held = queue_[place - first_];
    held.ready = true;
    held.empty = !frame.has_value();
    if (frame.has_value()) held.frame = *std::move(frame);
  }
  Next(std::move(lock));
}

StreamWriter::Gather::Gather(StreamWriter* writer) : writer_(writer) {
  const std::lock_guard lock(writer_->mutex_);
  ++writer_->gathering_;
}

StreamWriter::Gather::~Gather() {
  std::unique_lock lock(writer_->mutex_);
  --writer_->gathering_;
  writer_->Next(std::move(lock));
}

bool StreamWriter::MayFinish() const {
  return queue_.empty() && finish_.has_value() && asking_ == 0 && held_ == 0;
}

void StreamWriter::PopFront() {
  queue_.pop_front();
  ++first_;
}

void StreamWriter::Clear() {
  first_ += queue_.size();
  queue_.clear();
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

void StreamWriter::OnWritten(bool ok) {
  std::unique_lock lock(mutex_);
  writing_ = false;
  if (!ok) Clear();  // The stream is broken; its cancellation finishes it.
  Next(std::move(lock));
}

bool StreamWriter::Finish(absl::Status status) {
  std::unique_lock lock(mutex_);
  const bool first = !finish_.has_value();
  const bool overrules = !first && !finished_ && finish_->ok() && !status.ok();
  if (!first && !overrules) return false;
  if (!status.ok()) Clear();
  finish_ = std::move(status);
  Next(std::move(lock));
  return first;
}

size_t StreamWriter::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

// The transport is called without the lock: a write may be answered on the same thread.
void StreamWriter::Next(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_ || gathering_ > 0) return;
  while (!queue_.empty() && queue_.front().empty) PopFront();
  if (!queue_.empty()) {
    if (!queue_.front().ready) return;
    transport::Frame frame = std::move(queue_.front().frame);
    PopFront();
    finished_ = MayFinish() && finish_->ok();
    writing_ = !finished_;
    const bool last = finished_;
    lock.unlock();
    return last ? call_->WriteAndFinish(std::move(frame)) : call_->Write(std::move(frame));
  }
  if (!MayFinish()) return;
  finished_ = true;
  const absl::Status status = *finish_;
  lock.unlock();
  call_->Finish(status);
}

}  // namespace shoal::service
