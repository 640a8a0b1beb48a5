#include "server/runtime/catalogue.h"

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "server/runtime/clock.h"
#include "server/wire/array_codec.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {
namespace {

absl::Status NoArray(const plan::StoredRef& ref) {
  const std::string text = wire::RefText(ref);
  return wire::WithResource(absl::NotFoundError(absl::StrCat("no array ", text)), "array", text);
}

absl::Status InUse(const StoredArray& array) {
  const std::string text = wire::RefText({array.id, ""});
  return wire::WithResource(
      absl::FailedPreconditionError(absl::StrCat("array ", text, " is in use")), "array", text);
}

absl::Status NameTaken(const std::string& name) {
  return wire::WithResource(
      absl::AlreadyExistsError(
          absl::StrCat("an array named '", name, "' exists; free it, or store with replace")),
      "array", name);
}

absl::Status StillUnderWay(ArrayId id) {
  return wire::WithRetryAfter(wire::WithReason(absl::UnavailableError(absl::StrCat(
                                                   "the earlier upload of array ",
                                                   wire::RefText({id, ""}), " has not ended yet")),
                                               "UPLOAD_UNDER_WAY"),
                              std::chrono::milliseconds(10));
}

ArrayUse Use(const std::shared_ptr<StoredArray>& array) {
  array->uses.fetch_add(1, std::memory_order_relaxed);
  return ArrayUse(array);
}

}  // namespace

absl::StatusOr<ArrayUse> Catalogue::Create(plan::ArrayType type, const plan::StoreAs& store) {
  plan::Distribution distribution = store.distribution;
  SHOAL_RETURN_IF_ERROR(workers_->Complete(&distribution));
  uint64_t id = 0;
  {
    std::vector<ArrayPtr> dropped;
    const std::lock_guard lock(mutex_);
    Expire(&dropped);
    if (!store.name.empty()) {
      const bool taken = names_.contains(store.name) && !store.replace;
      if (claims_.contains(store.name)) GiveUpSuspended(store.name, &dropped);
      if (taken || claims_.contains(store.name)) return NameTaken(store.name);
      claims_.insert(store.name);
    }
    id = next_id_++;
  }
  // Outside the lock: allocating may take a while, and others have nothing to do with it.
  auto made = workers_->NewArray(std::move(type), std::move(distribution));
  const std::lock_guard lock(mutex_);
  if (!made.ok()) {
    if (!store.name.empty()) claims_.erase(store.name);
    return made.status();
  }
  ArrayPtr array = *std::move(made);
  array->id = ArrayId{id};
  array->name = store.name;
  entries_[id] = {.array = array};
  return Use(array);
}

absl::StatusOr<ArrayUse> Catalogue::Resume(ArrayId id) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  Expire(&dropped);
  const auto entry = entries_.find(id.value);
  if (entry == entries_.end()) return NoArray({id, ""});
  if (entry->second.array->complete) return Use(entry->second.array);
  // There must not be two. Its stream may have broken without a word of that having come yet.
  if (!entry->second.suspended) return StillUnderWay(id);
  entry->second.suspended = false;
  return Use(entry->second.array);
}

absl::Status Catalogue::Publish(const ArrayUse& array) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(array->id.value);
  SHOAL_CHECK(entry != entries_.end());
  if (!array->name.empty()) {
    if (const auto old = names_.find(array->name); old != names_.end()) {
      const auto replaced = entries_.find(old->second);
      if (replaced->second.array->uses.load(std::memory_order_acquire) != 0) {
        return InUse(*replaced->second.array);
      }
      Erase(replaced, &dropped);
    }
    claims_.erase(array->name);
    names_[array->name] = array->id.value;
  }
  array->landed_bytes.store(array->bytes, std::memory_order_relaxed);
  array->complete.store(true, std::memory_order_release);
  return absl::OkStatus();
}

void Catalogue::Suspend(const ArrayUse& array) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(array->id.value);
  SHOAL_CHECK(entry != entries_.end());
  entry->second.suspended = true;
  entry->second.expires = After(Now(), resume_timeout_);
  suspended_.emplace_back(entry->second.expires, entry->first);
}

void Catalogue::Abandon(const ArrayUse& array) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  Erase(entries_.find(array->id.value), &dropped);
}

absl::StatusOr<ArrayUse> Catalogue::Find(const plan::StoredRef& ref) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  Expire(&dropped);
  SHOAL_ASSIGN_OR_RETURN(const auto entry, Locate(ref));
  const ArrayPtr& array = entry->second.array;
  if (!array->complete.load(std::memory_order_acquire)) {
    return absl::FailedPreconditionError(
        absl::StrCat("array ", wire::RefText(ref), " is not complete yet"));
  }
  return Use(array);
}

absl::StatusOr<std::shared_ptr<const StoredArray>> Catalogue::Peek(const plan::StoredRef& ref) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  Expire(&dropped);
  SHOAL_ASSIGN_OR_RETURN(const auto entry, Locate(ref));
  return entry->second.array;
}

absl::StatusOr<int64_t> Catalogue::Free(absl::Span<const plan::StoredRef> refs, bool missing_ok) {
  std::vector<ArrayPtr> dropped;
  const std::lock_guard lock(mutex_);
  absl::flat_hash_set<uint64_t> doomed;
  for (const plan::StoredRef& ref : refs) {
    const auto entry = Locate(ref);
    if (!entry.ok() && missing_ok) continue;
    if (!entry.ok()) return entry.status();
    const Entry& found = (*entry)->second;
    if (found.array->uses.load(std::memory_order_acquire) != 0) return InUse(*found.array);
    doomed.insert((*entry)->first);
  }
  int64_t bytes = 0;
  for (const uint64_t id : doomed) {
    const auto entry = entries_.find(id);
    bytes += entry->second.array->bytes;
    Erase(entry, &dropped);
  }
  return bytes;
}

absl::Status Catalogue::Replace(const ArrayUse& array, std::shared_ptr<StoredArray> fresh) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(array->id.value);
  SHOAL_CHECK(entry != entries_.end());
  if (array->uses.load(std::memory_order_acquire) != 1) return InUse(*array);
  fresh->id = array->id;
  fresh->name = array->name;
  fresh->landed_bytes.store(fresh->bytes, std::memory_order_relaxed);
  fresh->complete.store(true, std::memory_order_release);
  entry->second.array = std::move(fresh);  // The old one lives on in the caller's use.
  return absl::OkStatus();
}

std::vector<std::shared_ptr<const StoredArray>> Catalogue::List(ArrayId after,
                                                                const std::string& prefix,
                                                                int count) {
  std::vector<ArrayPtr> dropped;
  std::vector<std::shared_ptr<const StoredArray>> arrays;
  const std::lock_guard lock(mutex_);
  Expire(&dropped);
  for (auto entry = entries_.upper_bound(after.value); entry != entries_.end(); ++entry) {
    if (static_cast<int>(arrays.size()) == count) break;
    if (absl::StartsWith(entry->second.array->name, prefix)) arrays.push_back(entry->second.array);
  }
  return arrays;
}

int64_t Catalogue::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(entries_.size());
}

absl::StatusOr<Catalogue::Entries::iterator> Catalogue::Locate(const plan::StoredRef& ref) {
  uint64_t id = ref.id.value;
  if (id == 0) {
    const auto named = names_.find(ref.name);
    if (named == names_.end()) return NoArray(ref);
    id = named->second;
  }
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return NoArray(ref);
  return entry;
}

void Catalogue::Expire(std::vector<ArrayPtr>* dropped) {
  if (suspended_.empty()) return;
  const Instant now = Now();
  while (!suspended_.empty() && suspended_.front().first <= now) {
    const auto [expires, id] = suspended_.front();
    suspended_.pop_front();
    const auto entry = entries_.find(id);
    // It may have been resumed since, and even suspended again.
    const bool due =
        entry != entries_.end() && entry->second.suspended && entry->second.expires == expires;
    if (due) Erase(entry, dropped);
  }
}

// Whoever broke off may not even know the id to resume by, and tries again from the start.
void Catalogue::GiveUpSuspended(const std::string& name, std::vector<ArrayPtr>* dropped) {
  for (const auto& [expires, id] : suspended_) {
    const auto entry = entries_.find(id);
    if (entry == entries_.end() || !entry->second.suspended) continue;
    if (entry->second.array->name == name) return Erase(entry, dropped);
  }
}

void Catalogue::Erase(Entries::iterator entry, std::vector<ArrayPtr>* dropped) {
  SHOAL_CHECK(entry != entries_.end());
  const StoredArray& array = *entry->second.array;
  if (array.complete.load(std::memory_order_relaxed)) {
    names_.erase(array.name);
  } else {
    claims_.erase(array.name);
  }
  dropped->push_back(std::move(entry->second.array));
  entries_.erase(entry);
}

}  // namespace shoal::runtime
