#include "client/src/shutdown.h"

namespace shoal::internal {

void Shutdown::Begin() {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  for (grpc::ClientContext* context : contexts_) context->TryCancel();
  changed_.notify_all();
}

bool Shutdown::begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

bool Shutdown::Wait(Duration duration, const Deadline& deadline) {
  const auto until = Deadline::Clock::now() + duration;
  if (deadline.at().has_value() && *deadline.at() < until) return false;
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, until, [this] { return begun_; });
}

Shutdown::Registration::Registration(Shutdown* shutdown, grpc::ClientContext* context)
    : shutdown_(shutdown), context_(context) {
  if (shutdown_ == nullptr) return;
  const std::lock_guard lock(shutdown_->mutex_);
  shutdown_->contexts_.insert(context_);
  if (shutdown_->begun_) context_->TryCancel();
}

Shutdown::Registration::~Registration() {
  if (shutdown_ == nullptr) return;
  const std::lock_guard lock(shutdown_->mutex_);
  shutdown_->contexts_.erase(context_);
}

}  // namespace shoal::internal
