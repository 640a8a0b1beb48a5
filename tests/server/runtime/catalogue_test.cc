#include "server/runtime/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"

namespace shoal::runtime {
namespace {

using kernels::DType;
using support::TestEngine;

constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr auto kInUse = absl::StatusCode::kFailedPrecondition;

plan::StoredRef Named(const std::string& name) { return {{}, name}; }

class CatalogueTest : public ::testing::Test {
 protected:
  /// 100 bytes.
  absl::StatusOr<ArrayUse> Create(const std::string& name, bool replace = false) {
    plan::StoreAs store;
    store.name = name;
    store.replace = replace;
    return catalogue().Create(support::Type(DType::kUint8, {100}), store);
  }

  ArrayId Stored(const std::string& name, bool replace = false) {
    const ArrayUse array = *Create(name, replace);
    EXPECT_TRUE(catalogue().Publish(array).ok());
    return array->id;
  }

  absl::Status Free(const plan::StoredRef& ref) {
    return catalogue().Free({&ref, 1}, false).status();
  }

  Catalogue& catalogue() { return *engine_->catalogue; }

  TestEngine engine_;
};

TEST_F(CatalogueTest, AnUnfinishedArrayIsSeenButNotUsed) {
  const ArrayUse array = *Create("x");
  EXPECT_EQ(catalogue().Find({array->id, ""}).status().code(), kInUse);
  EXPECT_EQ(catalogue().Find(Named("x")).status().code(), kNotFound);
  EXPECT_FALSE((*catalogue().Peek({array->id, ""}))->complete);
  ASSERT_TRUE(catalogue().Publish(array).ok());
  EXPECT_EQ((*catalogue().Find(Named("x")))->id, array->id);
}

TEST_F(CatalogueTest, AnUnfinishedArrayHoldsItsNameAgainstAllOthers) {
  auto first = Create("x");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Create("x").status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Create("x", /*replace=*/true).status().code(), absl::StatusCode::kAlreadyExists);
  catalogue().Abandon(*first);
  *first = ArrayUse();
  EXPECT_TRUE(Create("x").ok());
}

TEST_F(CatalogueTest, AnArrayThatFindsNoRoomLetsGoOfItsName) {
  plan::StoreAs store;
  store.name = "x";
  const auto large = catalogue().Create(support::Type(DType::kUint8, {int64_t{1} << 40}), store);
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(engine_.BytesInUse(), 0);
  EXPECT_TRUE(Create("x").ok());
}

TEST_F(CatalogueTest, ReplacesOnlyWhenComplete) {
  const ArrayId old = Stored("x");
  EXPECT_EQ(Create("x").status().code(), absl::StatusCode::kAlreadyExists);
  {
    const ArrayUse fresh = *Create("x", /*replace=*/true);
    EXPECT_EQ((*catalogue().Find(Named("x")))->id, old);
    ASSERT_TRUE(catalogue().Publish(fresh).ok());
    EXPECT_EQ((*catalogue().Find(Named("x")))->id, fresh->id);
  }
  EXPECT_EQ(catalogue().Find({old, ""}).status().code(), kNotFound);
  EXPECT_EQ(engine_.BytesInUse(), 100);
}

TEST_F(CatalogueTest, DoesNotReplaceAnArrayInUse) {
  Stored("x");
  auto use = catalogue().Find(Named("x"));
  const ArrayUse fresh = *Create("x", /*replace=*/true);
  EXPECT_EQ(catalogue().Publish(fresh).code(), kInUse);
  *use = ArrayUse();
  EXPECT_TRUE(catalogue().Publish(fresh).ok());
}

TEST_F(CatalogueTest, FreesAllOrNone) {
  const ArrayId x = Stored("x");
  const ArrayId y = Stored("y");
  const std::vector<plan::StoredRef> missing = {Named("x"), Named("nobody")};
  const auto refused = catalogue().Free(missing, /*missing_ok=*/false);
  EXPECT_EQ(refused.status().code(), kNotFound);
  EXPECT_EQ(support::DetailOf<v1::ResourceInfo>(refused.status())->resource_name(), "'nobody'");
  {
    const ArrayUse use = *catalogue().Find(Named("y"));
    const std::vector<plan::StoredRef> both = {Named("x"), {y, ""}};
    EXPECT_EQ(catalogue().Free(both, true).status().code(), kInUse);
  }
  EXPECT_EQ(catalogue().count(), 2);
  // Named twice it goes once.
  const std::vector<plan::StoredRef> all = {Named("x"), {x, ""}, Named("y"), Named("nobody")};
  EXPECT_EQ(*catalogue().Free(all, /*missing_ok=*/true), 200);
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(CatalogueTest, CountsEveryUse) {
  const ArrayId id = Stored("x");
  ArrayUse first = *catalogue().Find({id, ""});
  ArrayUse second = *catalogue().Find({id, ""});
  ArrayUse moved = std::move(first);
  EXPECT_EQ(Free({id, ""}).code(), kInUse);
  second = ArrayUse();
  EXPECT_EQ(Free({id, ""}).code(), kInUse);
  moved = ArrayUse();
  EXPECT_TRUE(Free({id, ""}).ok());
}

TEST_F(CatalogueTest, IdsAreNeverReused) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 5; ++i) {
    const ArrayUse abandoned = *Create("");
    EXPECT_TRUE(seen.insert(abandoned->id.value).second);
    catalogue().Abandon(abandoned);
    const ArrayId stored = Stored("");
    EXPECT_TRUE(seen.insert(stored.value).second);
    EXPECT_TRUE(Free({stored, ""}).ok());
  }
}

TEST_F(CatalogueTest, AnUploadIsResumedOnceItBrokeOff) {
  ArrayId id;
  {
    const ArrayUse upload = *Create("x");
    id = upload->id;
    EXPECT_EQ(catalogue().Resume(id).status().code(), kUnavailable);  // Still under way.
    upload->landed_bytes = 40;
    catalogue().Suspend(upload);
  }
  const ArrayUse upload = *catalogue().Resume(id);
  EXPECT_EQ(upload->landed_bytes, 40);
  EXPECT_EQ(catalogue().Resume(id).status().code(), kUnavailable);
  ASSERT_TRUE(catalogue().Publish(upload).ok());
  const ArrayUse complete = *catalogue().Resume(id);
  EXPECT_TRUE(complete->complete);
  EXPECT_EQ(complete->id, id);
}

TEST_F(CatalogueTest, AnUploadThatBrokeOffGivesUpItsName) {
  ArrayId id;
  {
    const ArrayUse upload = *Create("x");
    id = upload->id;
    catalogue().Suspend(upload);
  }
  const ArrayUse fresh = *Create("x");
  EXPECT_EQ(catalogue().Resume(id).status().code(), kNotFound);
  EXPECT_EQ(Create("x").status().code(), absl::StatusCode::kAlreadyExists) << "it is under way";
  ASSERT_TRUE(catalogue().Publish(fresh).ok());
  EXPECT_EQ((*catalogue().Find(Named("x")))->id, fresh->id);
}

TEST_F(CatalogueTest, ASuspendedUploadMayBeFreed) {
  ArrayId id;
  {
    const ArrayUse upload = *Create("x");
    id = upload->id;
    catalogue().Suspend(upload);
  }
  EXPECT_TRUE(Free({id, ""}).ok());
  EXPECT_EQ(catalogue().Resume(id).status().code(), kNotFound);
  EXPECT_TRUE(Create("x").ok());
}

TEST_F(CatalogueTest, ASuspendedUploadThatExpiredIsForgottenByWhoeverLooks) {
  Catalogue hasty(engine_->workers.get(), /*resume_timeout=*/Duration::zero());
  const auto suspend = [&] {
    plan::StoreAs store;
    store.name = "x";
    const ArrayUse upload = *hasty.Create(support::Type(DType::kUint8, {100}), store);
    hasty.Suspend(upload);
    return upload->id;
  };
  const ArrayId found = suspend();
  EXPECT_EQ(hasty.Find({found, ""}).status().code(), kNotFound);
  const ArrayId peeked = suspend();
  EXPECT_EQ(hasty.Peek({peeked, ""}).status().code(), kNotFound);
  const ArrayId resumed = suspend();
  EXPECT_EQ(hasty.Resume(resumed).status().code(), kNotFound);
  suspend();
  EXPECT_TRUE(hasty.List({}, "", 10).empty());
  suspend();
  suspend();  // The name was free again.
  EXPECT_EQ(engine_.BytesInUse(), 100);
}

TEST_F(CatalogueTest, AnUploadWithoutATimeoutIsResumedAtAnyTime) {
  Catalogue patient(engine_->workers.get(), /*resume_timeout=*/Duration::max());
  ArrayId id;
  {
    const ArrayUse upload = *patient.Create(support::Type(DType::kUint8, {100}), {});
    id = upload->id;
    patient.Suspend(upload);
  }
  EXPECT_TRUE(patient.Resume(id).ok());
}

TEST_F(CatalogueTest, ListsPagesByIdAndPrefix) {
  std::vector<uint64_t> ids;
  for (const char* name : {"a1", "b1", "a2", "a3", ""}) ids.push_back(Stored(name).value);
  const auto page = [&](uint64_t after, const char* prefix, int count) {
    std::vector<uint64_t> found;
    for (const auto& array : catalogue().List(ArrayId{after}, prefix, count)) {
      found.push_back(array->id.value);
    }
    return found;
  };
  EXPECT_EQ(page(0, "", 100), ids);
  EXPECT_EQ(page(0, "a", 2), (std::vector<uint64_t>{ids[0], ids[2]}));
  EXPECT_EQ(page(ids[2], "a", 2), (std::vector<uint64_t>{ids[3]}));
  EXPECT_TRUE(page(ids[4], "", 2).empty());
}

TEST_F(CatalogueTest, ReplacesTheLayoutOfAnArrayThatOnlyTheCallerUses) {
  const ArrayId id = Stored("x");
  ArrayUse use = *catalogue().Find({id, ""});
  const auto fresh =
      *engine_->workers->NewArray(use->type, {plan::DistributionKind::kSingle, {WorkerId{1}}});
  {
    const ArrayUse other = *catalogue().Find({id, ""});
    EXPECT_EQ(catalogue().Replace(use, fresh).code(), kInUse);
  }
  ASSERT_TRUE(catalogue().Replace(use, fresh).ok());
  EXPECT_EQ(engine_.BytesInUse(), 200);
  use = ArrayUse();
  EXPECT_EQ(engine_.BytesInUse(), 100);
  const ArrayUse found = *catalogue().Find(Named("x"));
  EXPECT_EQ(found->id, id);
  EXPECT_EQ(found->distribution.kind, plan::DistributionKind::kSingle);
}

TEST_F(CatalogueTest, ThreadsThatReplaceAndFreeOneNameLeaveNothingBehind) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        if (auto array = Create("x", /*replace=*/true); array.ok()) {
          if (!catalogue().Publish(*array).ok()) catalogue().Abandon(*array);
        }
        catalogue().List({}, "", 5);
        Free(Named("x")).IgnoreError();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Free(Named("x")).IgnoreError();
  EXPECT_EQ(catalogue().count(), 0);
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

}  // namespace
}  // namespace shoal::runtime
