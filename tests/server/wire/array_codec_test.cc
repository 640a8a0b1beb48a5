#include "server/wire/array_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/details.h"

namespace shoal::wire {
namespace {

using kernels::DType;
using support::BadField;

v1::ArraySpec Spec(int dtype, const std::vector<int64_t>& shape) {
  v1::ArraySpec spec;
  spec.set_dtype(static_cast<v1::Dtype>(dtype));
  spec.mutable_shape()->Assign(shape.begin(), shape.end());
  return spec;
}

void ExpectBad(const absl::Status& status, const std::string& field) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(BadField(status), field) << status;
}

TEST(DecodeSpecTest, TakesEveryDTypeZeroExtentsAndScalars) {
  for (const DType dtype : kernels::kAllDTypes) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {0}, {2, 3}, {5, 0, 7}}) {
      const auto type = DecodeSpec(Spec(static_cast<int>(dtype), shape), "spec");
      ASSERT_TRUE(type.ok()) << type.status();
      EXPECT_EQ(type->dtype, dtype);
      EXPECT_EQ(std::vector<int64_t>(type->shape.extents().begin(), type->shape.extents().end()),
                shape);
      v1::ArraySpec encoded;
      EncodeSpec(*type, &encoded);
      EXPECT_EQ(encoded.SerializeAsString(),
                Spec(static_cast<int>(dtype), shape).SerializeAsString());
    }
  }
}

TEST(DecodeSpecTest, NamesTheFieldOfEachFault) {
  for (const int dtype : {0, -1, 16, 1 << 30}) {
    ExpectBad(DecodeSpec(Spec(dtype, {1}), "spec").status(), "spec.dtype");
  }
  constexpr int kFloat64 = 13;
  const int64_t large = int64_t{1} << 62;
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{-1},
                                            {3, -1},
                                            {INT64_MIN},
                                            {large, 2},
                                            {large, 0, 4},
                                            {large},
                                            {INT64_MAX},
                                            std::vector<int64_t>(33, 1)}) {
    ExpectBad(DecodeSpec(Spec(kFloat64, shape), "a.spec").status(), "a.spec.shape");
  }
  // As many elements of one byte are few enough.
  EXPECT_TRUE(DecodeSpec(Spec(6, {large}), "spec").ok());
  EXPECT_TRUE(DecodeSpec(Spec(kFloat64, std::vector<int64_t>(32, 1)), "spec").ok());
}

TEST(DecodeRefTest, TakesAnIdOrANameOfAtMost255Bytes) {
  v1::ArrayRef ref;
  ExpectBad(DecodeRef(ref, "array").status(), "array");
  ref.set_id(0);
  ExpectBad(DecodeRef(ref, "array").status(), "array");
  ref.set_id(7);
  EXPECT_EQ(DecodeRef(ref, "array")->id, ArrayId{7});
  ref.set_name("");
  ExpectBad(DecodeRef(ref, "array").status(), "array");
  ref.set_name(std::string(255, 'n'));
  EXPECT_EQ(DecodeRef(ref, "array")->name.size(), 255U);
  EXPECT_FALSE(DecodeRef(ref, "array")->id);
  ref.set_name(std::string(256, 'n'));
  ExpectBad(DecodeRef(ref, "array").status(), "array");
}

TEST(DecodeDistributionTest, IsBlockUnlessSaidOtherwise) {
  const auto decoded = DecodeDistribution({}, "d");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->kind, plan::DistributionKind::kBlock);
  EXPECT_TRUE(decoded->workers.empty());
}

TEST(DecodeDistributionTest, RefusesUnknownKindsRepeatedWorkersAndSeveralForSingle) {
  v1::Distribution distribution;
  distribution.set_kind(static_cast<v1::Distribution::Kind>(4));
  ExpectBad(DecodeDistribution(distribution, "d").status(), "d");
  distribution.set_kind(v1::Distribution::KIND_REPLICATED);
  for (const int worker : {2, 0, 2}) distribution.add_workers(worker);
  ExpectBad(DecodeDistribution(distribution, "d").status(), "d");
  distribution.clear_workers();
  for (const int worker : {2, 0}) distribution.add_workers(worker);
  const auto decoded = DecodeDistribution(distribution, "d");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->workers, (std::vector<WorkerId>{{2}, {0}}));  // In the order given.
  v1::Distribution encoded;
  EncodeDistribution(*decoded, &encoded);
  EXPECT_EQ(encoded.SerializeAsString(), distribution.SerializeAsString());
  distribution.set_kind(v1::Distribution::KIND_SINGLE);
  ExpectBad(DecodeDistribution(distribution, "d").status(), "d");
}

TEST(DecodeStoreTest, TellsAnAbsentDistributionFromADefaultOne) {
  v1::Store store;
  store.set_name("x");
  store.set_replace(true);
  auto decoded = DecodeStore(store, "store");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->name, "x");
  EXPECT_TRUE(decoded->replace);
  EXPECT_FALSE(decoded->has_distribution);
  store.mutable_distribution();
  EXPECT_TRUE(DecodeStore(store, "store")->has_distribution);
  store.mutable_distribution()->set_kind(static_cast<v1::Distribution::Kind>(99));
  ExpectBad(DecodeStore(store, "store").status(), "store");
  store.clear_distribution();
  store.set_name(std::string(256, 'n'));
  ExpectBad(DecodeStore(store, "store").status(), "store");
}

TEST(RefTextTest, ShowsIdsAndNamesApart) {
  EXPECT_EQ(RefText({ArrayId{7}, "x"}), "#7");
  EXPECT_EQ(RefText({{}, "x"}), "'x'");
}

}  // namespace
}  // namespace shoal::wire
