#include "server/service/array_service.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/v1/array_service.pb.h"
#include "tests/server/runtime/calls.h"
#include "tests/support/gate.h"
#include "tests/support/unary.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using kernels::DType;
using support::CallUnary;

class ArrayServiceTest : public ::testing::Test {
 protected:
  ArrayId Store(const std::string& name, const std::string& bytes = "abcdefgh") {
    plan::StoreAs store;
    store.name = name;
    return calls_.Store(support::Type(DType::kUint8, {static_cast<int64_t>(bytes.size())}), bytes,
                        store);
  }

  absl::StatusOr<v1::RedistributeResponse> Redistribute(v1::Distribution::Kind kind,
                                                        const std::vector<int32_t>& workers) {
    v1::RedistributeRequest request;
    request.mutable_array()->set_name("x");
    request.mutable_distribution()->set_kind(kind);
    for (const int32_t worker : workers) request.mutable_distribution()->add_workers(worker);
    return CallUnary<v1::RedistributeResponse>(table_, "Redistribute", request);
  }

  absl::StatusOr<v1::ListResponse> List(int page_size, const std::string& token = "",
                                        const std::string& prefix = "") {
    v1::ListRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    request.set_name_prefix(prefix);
    return CallUnary<v1::ListResponse>(table_, "List", request);
  }

  support::TestEngine engine_{{.workers = 3, .worker_bytes = 1 * kMiB}};
  runtime::Calls calls_{engine_.get()};
  const transport::ServiceTable table_ = ArrayService(engine_.get());
};

TEST_F(ArrayServiceTest, DescribesWhatIsStoredAndWhatIsOnItsWay) {
  const ArrayId id = Store("x");
  v1::DescribeRequest request;
  request.mutable_array()->set_name("x");
  auto response = CallUnary<v1::DescribeResponse>(table_, "Describe", request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->array().id(), id.value);
  EXPECT_EQ(response->array().bytes(), 8);
  EXPECT_TRUE(response->array().complete());
  ASSERT_EQ(response->array().shards_size(), 3);
  EXPECT_EQ(response->array().shards(1).begin(), 3);
  EXPECT_EQ(response->array().shards(1).end(), 6);
  const auto unfinished = *engine_->catalogue->Create(support::Type(DType::kUint8, {10}), {});
  unfinished->landed_bytes = 4;
  request.mutable_array()->set_id(unfinished->id.value);
  response = CallUnary<v1::DescribeResponse>(table_, "Describe", request);
  EXPECT_FALSE(response->array().complete());
  EXPECT_EQ(response->array().acknowledged_bytes(), 4);
  request.mutable_array()->set_name("nobody");
  EXPECT_EQ(CallUnary<v1::DescribeResponse>(table_, "Describe", request).status().code(),
            StatusCode::kNotFound);
  request.clear_array();
  EXPECT_EQ(CallUnary<v1::DescribeResponse>(table_, "Describe", request).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(ArrayServiceTest, ListsEveryArrayOnceWhateverThePageSize) {
  std::vector<uint64_t> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(Store(i % 2 == 0 ? "a" + std::to_string(i) : "").value);
  for (const int page_size : {1, 2, 3, 6, 7, 8, 0, 5000}) {
    std::vector<uint64_t> listed;
    std::string token;
    do {
      const auto page = List(page_size, token);
      ASSERT_TRUE(page.ok());
      for (const v1::ArrayInfo& array : page->arrays()) listed.push_back(array.id());
      token = page->next_page_token();
    } while (!token.empty());
    EXPECT_EQ(listed, ids);
  }
  EXPECT_EQ(List(0, "", "a")->arrays_size(), 4);
  EXPECT_EQ(List(-1).status().code(), StatusCode::kInvalidArgument);
  for (const char* token : {"x", "-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(List(0, token).status().code(), StatusCode::kInvalidArgument) << token;
  }
}

TEST_F(ArrayServiceTest, FreesAllOrNone) {
  Store("x");
  Store("y");
  v1::FreeRequest request;
  for (const char* name : {"x", "nobody", "y"}) request.add_arrays()->set_name(name);
  EXPECT_EQ(CallUnary<v1::FreeResponse>(table_, "Free", request).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(engine_->catalogue->count(), 2);
  request.set_missing_ok(true);
  EXPECT_EQ(CallUnary<v1::FreeResponse>(table_, "Free", request)->freed_bytes(), 16);
  EXPECT_EQ(engine_.BytesInUse(), 0);
  request.add_arrays();
  EXPECT_EQ(CallUnary<v1::FreeResponse>(table_, "Free", request).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(ArrayServiceTest, RedistributesAndTellsWhatItMoved) {
  const ArrayId id = Store("x");
  auto response = Redistribute(v1::Distribution::KIND_SINGLE, {2});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->array().id(), id.value);
  EXPECT_EQ(response->array().name(), "x");
  EXPECT_EQ(response->moved_bytes(), 6);  // Two of eight were there.
  EXPECT_EQ(engine_.BytesInUse(), 8);
  response = Redistribute(v1::Distribution::KIND_REPLICATED, {});
  EXPECT_EQ(response->moved_bytes(), 16);
  EXPECT_EQ(engine_.BytesInUse(), 24);
  response = Redistribute(v1::Distribution::KIND_BLOCK, {1, 0});
  EXPECT_EQ(response->moved_bytes(), 0);
  EXPECT_EQ(engine_.BytesInUse(), 8);
  const auto array = *engine_->catalogue->Find({id, ""});
  EXPECT_EQ(runtime::Calls::BytesOf(runtime::ArrayOperand(*array, nullptr)), "abcdefgh");
}

TEST_F(ArrayServiceTest, ARedistributionThatCannotBeLeavesTheArrayAsItWas) {
  Store("x", std::string(3 << 19, 'q'));
  EXPECT_EQ(Redistribute(v1::Distribution::KIND_SINGLE, {1}).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(Redistribute(v1::Distribution::KIND_BLOCK, {0, 3}).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(Redistribute(v1::Distribution::KIND_BLOCK, {0, 0}).status().code(),
            StatusCode::kInvalidArgument);
  {
    const auto use = *engine_->catalogue->Find({{}, "x"});
    EXPECT_EQ(Redistribute(v1::Distribution::KIND_BLOCK, {0, 1, 2}).status().code(),
              StatusCode::kFailedPrecondition);
    EXPECT_EQ(use->distribution.workers.size(), 3U);
  }
  engine_.Settle();
  EXPECT_EQ(engine_.BytesInUse(), 3 << 19);
  EXPECT_TRUE(Redistribute(v1::Distribution::KIND_BLOCK, {0, 1, 2}).ok());
}

TEST_F(ArrayServiceTest, AnArrayOnTheMoveIsNotFreed) {
  Store("x");
  support::Halt halt(engine_.get(), WorkerId{2});
  v1::RedistributeRequest request;
  request.mutable_array()->set_name("x");
  request.mutable_distribution()->set_kind(v1::Distribution::KIND_REPLICATED);
  const auto call = std::make_shared<support::TestUnary>(request.SerializeAsString());
  support::FindMethod(table_, "Redistribute").unary(call);
  EXPECT_FALSE(call->IsAnswered());
  v1::FreeRequest free;
  free.add_arrays()->set_name("x");
  EXPECT_EQ(CallUnary<v1::FreeResponse>(table_, "Free", free).status().code(),
            StatusCode::kFailedPrecondition);
  halt.Resume();
  EXPECT_TRUE(call->Answer().ok());
  EXPECT_TRUE(CallUnary<v1::FreeResponse>(table_, "Free", free).ok());
}

}  // namespace
}  // namespace shoal::service
