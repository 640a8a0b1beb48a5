#pragma once

#include <mutex>
#include <unordered_set>

namespace shoal::transport {

/// Something under way that can be told to end early.
class Cancellable {
 public:
  virtual ~Cancellable() = default;
  /// Never blocks; any thread, any number of times.
  virtual void Cancel() = 0;
};

/// Cancels what is registered with it, all at once and for good.
///
/// Thread-safety: all methods.
class Cancellation {
 public:
  /// Cancels what is registered now, and at once what will be.
  void Cancel();
  bool cancelled() const;

  /// What `Cancel` reaches while this object lives; when its destructor returns, no Cancel is under
  /// way. `cancellation` may be null: nothing to register with.
  class Registration {
   public:
    Registration(Cancellation* cancellation, Cancellable* cancellable);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    Cancellation* const cancellation_;
    Cancellable* const cancellable_;
  };

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  std::unordered_set<Cancellable*> registered_;
};

}  // namespace shoal::transport
