#pragma once

#if defined(__SANITIZE_THREAD__)
#define SHOAL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHOAL_THREAD_SANITIZER 1
#endif
#endif

#ifdef SHOAL_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#ifdef SHOAL_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace shoal {

/// Tells the thread sanitizer of an order that a library keeps to which is not built for it: what
/// one thread gives comes before what another takes. Of gRPC: a reaction to a call comes after what
/// it was asked for with, and after the reactions of its kind before it; a slice is let go of after
/// it was handed over. One object for each kind. Nothing at all in other builds.
class HandOver {
 public:
  /// What this thread has done is seen by whoever takes it up.
  void Give() {
#ifdef SHOAL_THREAD_SANITIZER
    __tsan_release(this);
#endif
  }
  void Take() {
#ifdef SHOAL_THREAD_SANITIZER
    __tsan_acquire(this);
#endif
  }

  /// A reaction, from its begin to its end.
  class Turn {
   public:
    explicit Turn(HandOver* order) : order_(order) { order_->Take(); }
    ~Turn() { order_->Give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    HandOver* const order_;
  };
};

/// While it lives, this thread's reads are not held against it: those that a library makes, inlined
/// into our code, of what it is being handed, after a HandOver could last be told of it and before
/// the order that the library keeps to begins. Nothing at all in other builds.
class OverlookReads {
 public:
  OverlookReads() {
#ifdef SHOAL_THREAD_SANITIZER
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
  }
  ~OverlookReads() {
#ifdef SHOAL_THREAD_SANITIZER
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  OverlookReads(const OverlookReads&) = delete;
  OverlookReads& operator=(const OverlookReads&) = delete;
};

}  // namespace shoal
