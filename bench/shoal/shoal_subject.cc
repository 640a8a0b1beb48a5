#include "bench/shoal/shoal_subject.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/shoal/completions.h"
#include "shoal/client.h"

namespace shoal::bench {
namespace {

Plane PlaneOf(const std::string& name) {
  if (name == "memfd") return Plane::kMemfd;
  return name == "unix" ? Plane::kUnix : Plane::kTcp;
}

Route RouteOf(const std::string& name) {
  if (name == "front") return Route::kFront;
  return name == "device" ? Route::kDevice : Route::kWorker;
}

class ArrayMemory final : public Memory {
 public:
  explicit ArrayMemory(Array array) { Replace(std::move(array)); }

  const Array& array() const { return array_; }
  Array& mutable_array() { return array_; }

  /// What a call returned takes the place of what there was.
  void Replace(Array array) {
    array_ = std::move(array);
    bytes_ = array_.mutable_data();
  }

 private:
  Array array_;
};

ArrayMemory* ResultOf(const bench::Call& call) { return static_cast<ArrayMemory*>(call.result); }

const Array& ArgumentOf(const bench::Call& call, size_t index) {
  return static_cast<const ArrayMemory*>(call.arguments[index])->array();
}

// A client of its own: a connection, and with it leases and streams.
class ShoalLane final : public Lane {
 public:
  ShoalLane(std::unique_ptr<Client> client, ShoalOptions options)
      : options_(std::move(options)), client_(std::move(client)) {}

  // Memory of the client's choice: with plane "memfd" it lies where the server sees it.
  absl::StatusOr<std::unique_ptr<Memory>> Allocate(int64_t bytes) override {
    const int64_t item = kernels::ItemBytes(options_.dtype);
    // The numbers of both enumerations are the wire's.
    const auto dtype = bytes % item == 0 ? static_cast<Dtype>(options_.dtype) : Dtype::kUint8;
    SHOAL_ASSIGN_OR_RETURN(Array array, client_->Allocate(dtype, {bytes / ItemBytes(dtype)}));
    auto memory = std::make_unique<ArrayMemory>(std::move(array));
    // A first touch is not what a call is measured for.
    for (std::byte& byte : memory->bytes()) byte = std::byte{0};
    return memory;
  }

  absl::Status Start(const bench::Call& call, int64_t tag) override {
    if (options_.overlap) return StartAsync(call, tag);
    SHOAL_RETURN_IF_ERROR(CarryOut(call));
    completions_.Add(tag, absl::OkStatus());
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override { return completions_.Await(ended); }

  absl::Status Release(int slot) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto it = stored_.find(slot);
      if (it == stored_.end()) return absl::OkStatus();
      unfreed_.push_back(it->second);
      stored_.erase(it);
    }
    // The server may still hold what it has just sent for a moment: then the array goes with one
    // of the next.
    std::vector<uint64_t> left;
    for (const uint64_t id : unfreed_) {
      const absl::Status freed = client_->Free({ArrayRef::ById(id)}).status();
      if (absl::IsFailedPrecondition(freed)) {
        left.push_back(id);
      } else if (!freed.ok()) {
        return freed;
      }
    }
    unfreed_.swap(left);
    return absl::OkStatus();
  }

 private:
  absl::Status CarryOut(const bench::Call& call) {
    switch (call.op) {
      case Op::kEcho:
        return client_->EchoInto(ArgumentOf(call, 0), ResultOf(call)->mutable_array(),
                                 {.route = RouteOf(options_.route), .timeout = {}});
      case Op::kApply:
        return client_->Apply(CallOf(call)).status();
      case Op::kPut: {
        SHOAL_ASSIGN_OR_RETURN(const ArrayInfo info, client_->Put(ArgumentOf(call, 0)));
        Keep(call.slot, info.id);
        return absl::OkStatus();
      }
      case Op::kGet:
        return GetInto(call);
    }
    return absl::InternalError("op out of range");
  }

  // Leased results come as arrays of their own; others are written where they are wanted.
  absl::Status GetInto(const bench::Call& call) {
    if (options_.plane != "memfd") {
      return client_->GetInto(Stored(call.slot), call.result->bytes()).status();
    }
    SHOAL_ASSIGN_OR_RETURN(Array array, client_->Get(Stored(call.slot)));
    ResultOf(call)->Replace(std::move(array));
    return absl::OkStatus();
  }

  absl::Status StartAsync(const bench::Call& call, int64_t tag) {
    switch (call.op) {
      case Op::kEcho:
      case Op::kApply:
        client_->ApplyAsync(CallOf(call), [this, tag](const absl::StatusOr<Result>& result) {
          completions_.Add(tag, result.status());
        });
        break;
      case Op::kPut:
        client_->PutAsync(ArgumentOf(call, 0), {},
                          [this, tag, slot = call.slot](const absl::StatusOr<ArrayInfo>& info) {
                            if (info.ok()) Keep(slot, info->id);
                            completions_.Add(tag, info.status());
                          });
        break;
      case Op::kGet:
        client_->GetAsync(Stored(call.slot), {},
                          [this, tag, memory = ResultOf(call)](absl::StatusOr<Array> array) {
                            const absl::Status status = array.status();
                            if (array.ok()) memory->Replace(*std::move(array));
                            completions_.Add(tag, status);
                          });
        break;
    }
    return absl::OkStatus();
  }

  shoal::Call CallOf(const bench::Call& call) const {
    shoal::Call applied{.op = call.op == Op::kEcho ? "echo" : options_.function,
                        .params = {},
                        .arguments = {},
                        .destinations = {WriteTo{ResultOf(call)->array()}}};
    if (call.op == Op::kEcho) applied.route = RouteOf(options_.route);
    if (applied.op == "axpy") applied.params.push_back({"a", 2.0});
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      applied.arguments.emplace_back(ArgumentOf(call, i));
    }
    return applied;
  }

  void Keep(int slot, uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stored_[slot] = id;
  }

  ArrayRef Stored(int slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ArrayRef::ById(stored_[slot]);
  }

  const ShoalOptions options_;
  Completions completions_;
  std::mutex mutex_;  // Guards stored_: asynchronous calls end on the client's threads.
  std::map<int, uint64_t> stored_;
  std::vector<uint64_t> unfreed_;
  // Last: its destructor waits for callbacks, which use the rest.
  const std::unique_ptr<Client> client_;
};

class ShoalSubject final : public Subject {
 public:
  ShoalSubject(const Server* server, ShoalOptions options)
      : server_(server), options_(std::move(options)) {}

  const std::string& Name() const override { return name_; }
  const std::string& Plane() const override { return options_.plane; }
  bool Carries(Op /*op*/, int64_t /*bytes*/) const override { return true; }
  bool Computes() const override { return true; }
  bool Overlaps() const override { return options_.overlap; }
  pid_t ServerPid() const override { return server_->pid(); }

  absl::StatusOr<std::unique_ptr<Lane>> NewLane() override {
    ClientOptions client_options;
    client_options.address = server_->address;
    client_options.plane = PlaneOf(options_.plane);
    client_options.checksum = options_.checksum;
    client_options.retry.attempts_max = 1;  // A call that was repeated is not one to be timed.
    SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                           Client::Connect(std::move(client_options)));
    return std::make_unique<ShoalLane>(std::move(client), options_);
  }

 private:
  const std::string name_ = "shoal";
  const Server* const server_;
  const ShoalOptions options_;
};

}  // namespace

std::unique_ptr<Subject> NewShoalSubject(const Server* server, ShoalOptions options) {
  return std::make_unique<ShoalSubject>(server, std::move(options));
}

}  // namespace shoal::bench
