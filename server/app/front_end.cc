#include "server/app/front_end.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"
#include "server/runtime/clock.h"
#include "server/service/call_record.h"
#include "server/service/services.h"
#include "server/transport/grpc/grpc_server.h"
#include "server/transport/servers.h"

#ifndef SHOAL_VERSION
#error "SHOAL_VERSION comes from the build"
#endif

namespace shoal::app {
namespace {

// One part in so many of the payload memory is the front end's own: leases, results on their way.
// The rest is the workers'.
constexpr int64_t kFrontEndDivisor = 4;
constexpr int kStreamsPerConnection = 1024;
// What workers, and no clients, may call.
constexpr char kWorkerService[] = "shoal.v1.WorkerService";
// Every way in which calls can come.
constexpr transport::Transport kTransports[] = {{"grpc", transport::StartGrpcServer}};
// How long a client may take to fetch the end of its last reply.
constexpr Duration kFlushTime = std::chrono::seconds(1);

std::string TemporaryDirectory() {
  const char* configured = std::getenv("TMPDIR");
  return configured != nullptr && *configured != '\0' ? configured : "/tmp";
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrontEnd>> FrontEnd::Start(const Config& config) {
  std::unique_ptr<FrontEnd> front_end(new FrontEnd(config));
  SHOAL_RETURN_IF_ERROR(front_end->BuildEngine(config));
  SHOAL_RETURN_IF_ERROR(front_end->Listen(config));
  SHOAL_RETURN_IF_ERROR(front_end->ListenHttp(config));
  front_end->serving_ = true;
  front_end->SetHealth(true);
  return front_end;
}

FrontEnd::FrontEnd(const Config& config)
    : logger_(config.log),
      throughput_(service::ThroughputNames()),
      copiers_(config.workers * config.threads) {}

FrontEnd::~FrontEnd() {
  if (server_ != nullptr) Shutdown(Duration::zero());
}

absl::Status FrontEnd::BuildEngine(const Config& config) {
  engine_.limits = config.limits;
  engine_.backend = "cpu";
  engine_.logger = &logger_;
  engine_.throughput = &throughput_;
  engine_.observers = {&throughput_};
  SHOAL_ASSIGN_OR_RETURN(
      engine_.arena,
      memory::Arena::Create({.name = "payload", .capacity_bytes = config.memory_limit_bytes}));
  const int64_t front_bytes = config.memory_limit_bytes / kFrontEndDivisor;
  const int64_t worker_bytes = (config.memory_limit_bytes - front_bytes) / config.workers;
  engine_.front_budget = std::make_unique<memory::Budget>("the front end", front_bytes,
                                                          runtime::FrontSpareBytes(front_bytes));
  engine_.limits.lease_bytes =
      std::min(engine_.limits.lease_bytes, front_bytes - engine_.front_budget->spare_bytes());

  std::vector<runtime::Worker> workers;
  std::vector<runtime::WorkerSeat> seats;
  for (int i = 0; i < config.workers; ++i) {
    runtime::Worker& worker = workers.emplace_back();
    worker.id = WorkerId{i};
    device::CpuDeviceOptions options;
    options.owner = absl::StrCat("worker ", i);
    options.threads = config.threads;
    options.memory_bytes = worker_bytes;
    worker.device = std::make_unique<device::CpuDevice>(engine_.arena.get(), options);
    SHOAL_ASSIGN_OR_RETURN(worker.stream, worker.device->NewStream());
    seats.push_back({.memory_bytes = worker_bytes});
  }
  engine_.workers = std::make_unique<runtime::Workers>(std::move(workers));
  auto group =
      collective::MakeLocalGroup({.ranks_per_member = {config.workers}, .team = &copiers_});
  engine_.mover = std::make_unique<runtime::Mover>(engine_.workers.get(), std::move(group.front()));
  engine_.catalogue =
      std::make_unique<runtime::Catalogue>(engine_.workers.get(), config.limits.resume_timeout);
  engine_.leases =
      std::make_unique<runtime::Leases>(engine_.front_budget.get(), engine_.limits.lease_bytes);
  scheduler::Options scheduling;
  scheduling.queue_pieces_max = config.limits.queued_tasks;
  engine_.dispatcher = std::make_unique<runtime::Dispatcher>(scheduling, config.policy, seats);
  return engine_.dispatcher->Started();
}

absl::Status FrontEnd::Listen(const Config& config) {
  facts_.version = SHOAL_VERSION;
  facts_.started = runtime::Now();
  facts_.instance_id =
      absl::StrCat(absl::Hex(facts_.started.time_since_epoch().count()), "-", getpid());
  facts_.begin_drain = [this] { BeginDrain(); };

  transport::ServersSetup setup;
  setup.transports = kTransports;
  setup.listeners = {{"grpc", {HostAndPort(config.host, config.port), std::nullopt}, {}}};
  setup.options.message_bytes_max = config.limits.message_bytes();
  setup.options.streams_per_connection_max = kStreamsPerConnection;
  setup.options.connections_max = config.connections_max;
  setup.options.connection_refused = [this] {
    logger_.LogLimited(refusals_, telemetry::LogLevel::kWarning, "connection refused: too many");
  };
  if (config.unix_socket) {
    SHOAL_ASSIGN_OR_RETURN(sockets_,
                           SocketDirectory::Make(config.socket_dir, TemporaryDirectory()));
    facts_.unix_socket = sockets_.grpc_socket();
    facts_.lease_socket = sockets_.lease_socket();
    setup.listeners.push_back(
        {"grpc", {absl::StrCat("unix:", facts_.unix_socket), std::nullopt}, {}});
    service::LeaseServer::Options leasing;
    leasing.path = facts_.lease_socket;
    leasing.connections_max = config.lease_connections_max;
    leasing.leases_max = config.leases_max;
    SHOAL_ASSIGN_OR_RETURN(lease_server_,
                           service::LeaseServer::Start(leasing, engine_.leases.get(), &logger_));
  }
  setup.services = service::AllServices(&engine_, &facts_);
  std::vector<std::string> open;
  for (const transport::ServiceTable& service : setup.services) {
    if (service.built) service_names_.push_back(service.name);
    // While it is not built it refuses here; once it is, clients must not reach it.
    if (service.name != kWorkerService || !service.built) open.push_back(service.name);
  }
  for (transport::Listener& listener : setup.listeners) listener.services = open;
  SHOAL_ASSIGN_OR_RETURN(server_, transport::StartServers(setup));
  return absl::OkStatus();
}

absl::Status FrontEnd::ListenHttp(const Config& config) {
  metrics_ = std::make_unique<telemetry::ServiceMetrics>(telemetry::ServiceMetrics::Sources{
      &throughput_, [this] { return Gauges(); }, facts_.version});
  if (config.http_port < 0) return absl::OkStatus();
  telemetry::HttpServer::Options options;
  options.host = config.host;
  options.port = config.http_port;
  options.metrics = [this] { return metrics_->Text(); };
  options.ready = [this] {
    return serving_ ? absl::OkStatus() : absl::UnavailableError("draining, or not serving yet");
  };
  SHOAL_ASSIGN_OR_RETURN(http_, telemetry::HttpServer::Start(std::move(options)));
  return absl::OkStatus();
}

void FrontEnd::SetHealth(bool serving) {
  server_->SetServing("", serving);
  for (const std::string& name : service_names_) server_->SetServing(name, serving);
  for (const WorkerId worker : engine_.workers->ids()) {
    server_->SetServing(absl::StrCat("worker/", worker.value), serving);
  }
}

telemetry::ServiceGauges FrontEnd::Gauges() const {
  telemetry::ServiceGauges gauges;
  const auto counts = engine_.dispatcher->Counts();
  gauges.queue_depth = counts.waiting;
  gauges.in_flight = counts.tasks;
  gauges.arrays = engine_.catalogue->count();
  for (const auto& array : engine_.catalogue->List({}, "", INT32_MAX)) {
    gauges.array_bytes += array->bytes;
  }
  gauges.sessions = engine_.sessions.load(std::memory_order_relaxed);
  gauges.leases = engine_.leases->count();
  gauges.draining = engine_.drain.draining();
  for (const runtime::Worker& worker : engine_.workers->all()) {
    gauges.workers.push_back(
        {worker.id.value, true, worker.device->MemoryUsed(), worker.device->Info().memory_bytes});
  }
  return gauges;
}

void FrontEnd::BeginDrain() {
  // Calls are refused before health says so: who has heard it, sees no call admitted.
  if (engine_.drain.Begin()) logger_.Info("draining");
  // Whoever has seen one of the two say "not serving" must not see the other say "ready".
  if (serving_.exchange(false)) SetHealth(false);
}

void FrontEnd::Shutdown(Duration grace) {
  if (stopped_) return;
  stopped_ = true;
  BeginDrain();
  // Meanwhile the server listens on, and refuses new calls in its own words.
  const Instant end = runtime::After(runtime::Now(), grace);
  if (engine_.drain.WaitIdle(grace)) {
    // Nothing is left but last bytes on their way, and streams that only watch.
    server_->Shutdown(std::clamp(end - runtime::Now(), Duration::zero(), kFlushTime));
  } else {
    server_->Shutdown(Duration::zero());
  }
  if (http_ != nullptr) http_->Stop();
  lease_server_.reset();
  // Every call has its answer, but a kernel that was given up may still be in its last chunk.
  const auto idle = std::make_shared<std::promise<void>>();  // Owned by this wait and by its end.
  engine_.WhenIdle([idle] { idle->set_value(); });
  idle->get_future().wait();
}

}  // namespace shoal::app
