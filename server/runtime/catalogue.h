#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/plan/call.h"
#include "server/runtime/stored_array.h"
#include "server/runtime/workers.h"

namespace shoal::runtime {

/// The arrays that the server holds, by id and by name.
///
/// An array is made unfinished: it has an id and its memory, holds its name against others, and
/// cannot be used. Publish finishes it. An unfinished array without an upload is kept for the
/// resume timeout and then forgotten by the next call that makes, finds or lists.
///
/// Thread-safety: all calls from any thread.
class Catalogue {
 public:
  /// Borrows `workers`.
  Catalogue(const Workers* workers, Duration resume_timeout)
      : workers_(workers), resume_timeout_(resume_timeout) {}

  /// A new, unfinished array, used once by the caller.
  ///
  /// Errors:
  ///   ALREADY_EXISTS      the name is taken, and `store` does not replace. (An upload that broke
  ///                       off gives its name up, and is forgotten.)
  ///   NOT_FOUND           the distribution names an unknown worker.
  ///   RESOURCE_EXHAUSTED  no room.
  absl::StatusOr<ArrayUse> Create(plan::ArrayType type, const plan::StoreAs& store);

  /// Takes up an unfinished array whose upload broke off.
  ///
  /// Errors:
  ///   NOT_FOUND    no such array, or it is complete.
  ///   UNAVAILABLE  nothing is known yet of its upload's having broken off; ask again.
  absl::StatusOr<ArrayUse> Resume(ArrayId id);

  /// Finishes an array: it can be found from now on; one that it replaces is freed.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  the array it replaces is in use; it stays unfinished.
  absl::Status Publish(const ArrayUse& array);

  /// Leaves an unfinished array to be resumed, or forgets it.
  void Suspend(const ArrayUse& array);
  void Abandon(const ArrayUse& array);

  /// The finished array, used by the caller until the result goes.
  ///
  /// Errors:
  ///   NOT_FOUND            no such array.
  ///   FAILED_PRECONDITION  it is unfinished.
  absl::StatusOr<ArrayUse> Find(const plan::StoredRef& ref);

  /// As Find, unfinished arrays included, without using them: for reports only.
  absl::StatusOr<std::shared_ptr<const StoredArray>> Peek(const plan::StoredRef& ref);

  /// Forgets all of `refs`, or none; returns the bytes of all that were found, each counted once.
  ///
  /// Errors:
  ///   NOT_FOUND            one does not exist, unless `missing_ok`.
  ///   FAILED_PRECONDITION  one is in use.
  absl::StatusOr<int64_t> Free(absl::Span<const plan::StoredRef> refs, bool missing_ok);

  /// Puts `fresh`, a copy laid out anew, in the place of `array`, which only the caller uses.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  somebody else uses it.
  absl::Status Replace(const ArrayUse& array, std::shared_ptr<StoredArray> fresh);

  /// Up to `count` arrays with ids above `after` whose names begin with `prefix`, by id.
  std::vector<std::shared_ptr<const StoredArray>> List(ArrayId after, const std::string& prefix,
                                                       int count);

  int64_t count() const;

 private:
  using ArrayPtr = std::shared_ptr<StoredArray>;
  struct Entry {
    ArrayPtr array;
    bool suspended = false;  // An upload that broke off and may be resumed,
    Instant expires{};       // until then.
  };
  using Entries = std::map<uint64_t, Entry>;

  // With the lock held. Arrays that go are moved to `dropped`, to be destroyed outside it.
  absl::StatusOr<Entries::iterator> Locate(const plan::StoredRef& ref);
  void Expire(std::vector<ArrayPtr>* dropped);
  void GiveUpSuspended(const std::string& name, std::vector<ArrayPtr>* dropped);
  void Erase(Entries::iterator entry, std::vector<ArrayPtr>* dropped);

  const Workers* const workers_;
  const Duration resume_timeout_;
  mutable std::mutex mutex_;
  Entries entries_;
  absl::flat_hash_map<std::string, uint64_t> names_;    // Of published arrays.
  absl::flat_hash_set<std::string> claims_;             // Names that unfinished arrays hold.
  std::deque<std::pair<Instant, uint64_t>> suspended_;  // In the order in which they expire.
  uint64_t next_id_ = 1;
};

}  // namespace shoal::runtime
