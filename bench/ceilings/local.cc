#include "bench/ceilings/local.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/ceilings/slots.h"

namespace shoal::bench {
namespace {

class MemcpyLane final : public Lane {
 public:
  absl::Status Start(const Call& call, int64_t tag) override {
    const int64_t size = std::max(call.request_bytes(), call.reply_bytes());
    SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_.Get(call.slot, size));
    wire::GatherPieces(call.request(), {slot.data()}, nullptr);
    if (!call.reply().empty()) std::memcpy(call.reply().data(), slot.data(), call.reply().size());
    ended_.push_back(tag);
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override {
    ended->insert(ended->end(), ended_.begin(), ended_.end());
    ended_.clear();
    return absl::OkStatus();
  }

 private:
  Slots slots_;
  std::vector<int64_t> ended_;
};

class MemcpySubject final : public Subject {
 public:
  const std::string& Name() const override { return name_; }
  const std::string& Plane() const override { return plane_; }
  bool Carries(Op /*op*/, int64_t /*bytes*/) const override { return true; }
  bool Overlaps() const override { return false; }
  pid_t ServerPid() const override { return 0; }
  absl::StatusOr<std::unique_ptr<Lane>> NewLane() override {
    return std::make_unique<MemcpyLane>();
  }

 private:
  const std::string name_ = "memcpy";
  const std::string plane_;
};

}  // namespace

std::unique_ptr<Subject> NewMemcpySubject() { return std::make_unique<MemcpySubject>(); }

}  // namespace shoal::bench
