#include "server/wire/array_codec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/wire/status_details.h"

namespace shoal::wire {
namespace {

absl::Status CheckName(const std::string& name, absl::string_view field) {
  if (name.size() <= kNameBytesMax) return absl::OkStatus();
  return BadField(
      field, absl::StrCat("a name of ", name.size(), " bytes; ", kNameBytesMax, " is the maximum"));
}

}  // namespace

absl::StatusOr<plan::ArrayType> DecodeSpec(const v1::ArraySpec& spec, absl::string_view field) {
  const auto dtype = kernels::DTypeByNumber(spec.dtype());
  if (!dtype.has_value()) {
    return BadField(absl::StrCat(field, ".dtype"),
                    absl::StrCat("unknown dtype ", int{spec.dtype()}));
  }
  auto shape = plan::Shape::Create(
      absl::MakeConstSpan(spec.shape().data(), static_cast<size_t>(spec.shape_size())));
  if (!shape.ok()) return BadField(absl::StrCat(field, ".shape"), shape.status().message());
  if (auto bytes = shape->ByteCount(*dtype); !bytes.ok()) {
    return BadField(absl::StrCat(field, ".shape"), bytes.status().message());
  }
  return plan::ArrayType{*dtype, *std::move(shape)};
}

absl::StatusOr<plan::StoredRef> DecodeRef(const v1::ArrayRef& ref, absl::string_view field) {
  if (ref.id() != 0) return plan::StoredRef{ArrayId{ref.id()}, ""};
  if (ref.name().empty()) return BadField(field, "neither an id nor a name");
  SHOAL_RETURN_IF_ERROR(CheckName(ref.name(), field));
  return plan::StoredRef{{}, ref.name()};
}

absl::StatusOr<plan::Distribution> DecodeDistribution(const v1::Distribution& distribution,
                                                      absl::string_view field) {
  plan::Distribution decoded;
  switch (distribution.kind()) {
    case v1::Distribution::KIND_UNSPECIFIED:
    case v1::Distribution::KIND_BLOCK:
      decoded.kind = plan::DistributionKind::kBlock;
      break;
    case v1::Distribution::KIND_REPLICATED:
      decoded.kind = plan::DistributionKind::kReplicated;
      break;
    case v1::Distribution::KIND_SINGLE:
      decoded.kind = plan::DistributionKind::kSingle;
      break;
    default:
      return BadField(field, absl::StrCat("unknown kind ", int{distribution.kind()}));
  }
  std::vector<int32_t> workers(distribution.workers().begin(), distribution.workers().end());
  for (const int32_t worker : workers) decoded.workers.push_back(WorkerId{worker});
  std::sort(workers.begin(), workers.end());
  if (std::adjacent_find(workers.begin(), workers.end()) != workers.end()) {
    return BadField(field, "a worker is named twice");
  }
  if (decoded.kind == plan::DistributionKind::kSingle && workers.size() > 1) {
    return BadField(field, "KIND_SINGLE takes one worker");
  }
  return decoded;
}

absl::StatusOr<plan::StoreAs> DecodeStore(const v1::Store& store, absl::string_view field) {
  SHOAL_RETURN_IF_ERROR(CheckName(store.name(), field));
  plan::StoreAs decoded;
  decoded.name = store.name();
  decoded.replace = store.replace();
  if (store.has_distribution()) {
    decoded.has_distribution = true;
    SHOAL_ASSIGN_OR_RETURN(decoded.distribution, DecodeDistribution(store.distribution(), field));
  }
  return decoded;
}

void EncodeSpec(const plan::ArrayType& type, v1::ArraySpec* spec) {
  spec->set_dtype(static_cast<v1::Dtype>(type.dtype));
  spec->mutable_shape()->Add(type.shape.extents().begin(), type.shape.extents().end());
}

void EncodeDistribution(const plan::Distribution& distribution, v1::Distribution* message) {
  message->set_kind(static_cast<v1::Distribution::Kind>(distribution.kind));
  for (const WorkerId worker : distribution.workers) message->add_workers(worker.value);
}

std::string RefText(const plan::StoredRef& ref) {
  return ref.id ? absl::StrCat("#", ref.id.value) : absl::StrCat("'", ref.name, "'");
}

}  // namespace shoal::wire
