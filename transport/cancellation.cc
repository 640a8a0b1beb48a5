#include "transport/cancellation.h"

namespace shoal::transport {

void Cancellation::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (Cancellable* cancellable : registered_) cancellable->Cancel();
}

bool Cancellation::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

Cancellation::Registration::Registration(Cancellation* cancellation, Cancellable* cancellable)
    : cancellation_(cancellation), cancellable_(cancellable) {
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  cancellation_->registered_.insert(cancellable_);
  if (cancellation_->cancelled_) cancellable_->Cancel();
}

Cancellation::Registration::~Registration() {
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  cancellation_->registered_.erase(cancellable_);
}

}  // namespace shoal::transport
