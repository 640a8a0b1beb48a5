#include "tests/support/engine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"
#include "server/service/call_record.h"
#include "tests/support/eventually.h"
#include "tests/support/sealed_device.h"

namespace shoal::support {

bool RunsOnSealedDevices() {
  const char* kind = std::getenv("SHOAL_TEST_DEVICE");
  return kind != nullptr && std::string(kind) == "sealed";
}

TestEngine::TestEngine(const EngineOptions& options)
    : log_fd_(memfd_create("log", MFD_CLOEXEC)),
      logger_({.fd = log_fd_, .level = telemetry::LogLevel::kDebug}),
      throughput_(service::ThroughputNames()) {
  engine_.limits = options.limits;
  engine_.backend = "cpu";
  engine_.logger = &logger_;
  engine_.throughput = &throughput_;
  engine_.observers = {&throughput_};
  const int64_t all_bytes = options.front_bytes + options.workers * options.worker_bytes;
  engine_.arena =
      *memory::Arena::Create({.name = "payload", .capacity_bytes = 2 * all_bytes + 64 * kMiB});
  engine_.front_budget = std::make_unique<memory::Budget>(
      "the front end", options.front_bytes, runtime::FrontSpareBytes(options.front_bytes));
  std::vector<runtime::Worker> workers;
  std::vector<runtime::WorkerSeat> seats;
  for (int i = 0; i < options.workers; ++i) {
    runtime::Worker& worker = workers.emplace_back();
    worker.id = WorkerId{i};
    device::CpuDeviceOptions device;
    device.owner = absl::StrCat("worker ", i);
    device.threads = options.threads;
    device.memory_bytes = options.worker_bytes;
    if (RunsOnSealedDevices()) {
      worker.device = std::make_unique<SealedDevice>(engine_.arena.get(), device);
    } else {
      worker.device = std::make_unique<device::CpuDevice>(engine_.arena.get(), device);
    }
    worker.stream = *worker.device->NewStream();
    seats.push_back({.memory_bytes = options.worker_bytes});
  }
  engine_.workers = std::make_unique<runtime::Workers>(std::move(workers));
  auto group = collective::MakeLocalGroup({.ranks_per_member = {options.workers}});
  engine_.mover = std::make_unique<runtime::Mover>(engine_.workers.get(), std::move(group.front()));
  engine_.catalogue =
      std::make_unique<runtime::Catalogue>(engine_.workers.get(), options.limits.resume_timeout);
  engine_.leases =
      std::make_unique<runtime::Leases>(engine_.front_budget.get(), options.limits.lease_bytes);
  scheduler::Options scheduling;
  scheduling.queue_pieces_max = options.limits.queued_tasks;
  engine_.dispatcher = std::make_unique<runtime::Dispatcher>(scheduling, "least_load", seats);
}

TestEngine::~TestEngine() { close(log_fd_); }

void TestEngine::Drain() {
  const auto idle = std::make_shared<std::promise<void>>();
  engine_.WhenIdle([idle] { idle->set_value(); });
  engine_.drain.Begin();
  idle->get_future().wait();
}

// What a Done queues on a stream that was looked at before is seen in the next pass.
void TestEngine::Settle() {
  for (bool waited = true; waited;) {
    waited = false;
    for (const runtime::Worker& worker : engine_.workers->all()) {
      if (worker.stream->Idle()) continue;
      ASSERT_TRUE(Eventually([&] { return worker.stream->Idle(); }));
      waited = true;
    }
  }
}

int64_t TestEngine::BytesInUse() const {
  int64_t bytes = engine_.front_budget->used_bytes();
  for (const runtime::Worker& worker : engine_.workers->all()) bytes += worker.device->MemoryUsed();
  return bytes;
}

std::string TestEngine::Log() const {
  std::string text(static_cast<size_t>(lseek(log_fd_, 0, SEEK_END)), '\0');
  const ssize_t read = pread(log_fd_, text.data(), text.size(), 0);
  text.resize(read < 0 ? 0 : static_cast<size_t>(read));
  return text;
}

}  // namespace shoal::support
