#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/units.h"
#include "client/cli/commands.h"
#include "client/cli/json_view.h"
#include "client/cli/text.h"
#include "client/cli/throughput_view.h"

namespace shoal::cli {
namespace {

using Align = TextTable::Align;

std::string ArgumentCount(const OpInfo& op) {
  if (op.arguments_min == op.arguments_max) return absl::StrCat(op.arguments_min);
  return absl::StrCat(op.arguments_min, " to ", op.arguments_max);
}

std::string DtypeNames(const OpInfo& op) {
  std::vector<std::string> names;
  for (const Dtype dtype : op.dtypes) names.emplace_back(DtypeName(dtype));
  return absl::StrJoin(names, " ");
}

std::string OpText(const OpInfo& op) {
  std::string text =
      absl::StrCat(Printable(op.name), ": ", Printable(op.doc), "\n  inputs    ", ArgumentCount(op),
                   "\n  dtypes    ", DtypeNames(op), "\n  backends  ",
                   Printable(absl::StrJoin(op.backends, " ")), "\n");
  for (const OpParam& param : op.params) {
    absl::StrAppend(&text, "  --param ", Printable(param.name), "=VALUE  ", Printable(param.doc),
                    "\n");
  }
  return text;
}

std::string ServerText(const ServerInfo& info) {
  const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  std::string text = absl::StrCat(
      "shoald ", Printable(info.version), ", ", Printable(info.backend), ", ", info.worker_count,
      info.worker_count == 1 ? " worker" : " workers", ", up ", FormatTime(info.uptime),
      info.draining ? ", draining" : "", "\n\nLimits\n  inline payload  ",
      FormatBytes(info.limits.inline_bytes), "\n  chunk           ",
      FormatBytes(info.limits.chunk_bytes), ", ", info.limits.credit_chunks,
      " unacknowledged\n  message         ", FormatBytes(info.limits.message_bytes),
      "\n  lease           ", FormatBytes(info.limits.lease_bytes));
  absl::StrAppend(&text, "\n  session         ", info.limits.session_tasks,
                  " tasks in flight\n  queue           ", info.limits.queued_tasks,
                  " tasks\n  call            ", info.limits.arguments,
                  " arguments\n\nPlanes\n  Unix socket     ",
                  Printable(or_none(info.planes.unix_socket)), "\n  lease socket    ",
                  Printable(or_none(info.planes.lease_socket)), "\n\n");
  TextTable table({{"OP"}, {"INPUTS"}, {"PARAMS"}, {"BACKENDS"}, {"WHAT IT DOES"}});
  for (const OpInfo& op : info.ops) {
    std::vector<std::string> params;
    for (const OpParam& param : op.params) params.push_back(param.name);
    table.AddRow({op.name, ArgumentCount(op), absl::StrJoin(params, " "),
                  absl::StrJoin(op.backends, " "), op.doc});
  }
  return text + table.ToString();
}

const char* StateName(WorkerInfo::State state) {
  switch (state) {
    case WorkerInfo::State::kUnknown:
      break;
    case WorkerInfo::State::kReady:
      return "ready";
    case WorkerInfo::State::kDraining:
      return "draining";
    case WorkerInfo::State::kLost:
      return "lost";
  }
  return "unknown";
}

}  // namespace

absl::Status RunStats(CommandContext& context) {
  const std::vector<std::string>& ops = context.options.positionals();
  SHOAL_ASSIGN_OR_RETURN(const ThroughputReport report,
                         context.client.Throughput(ops.empty() ? "" : ops[0]));
  context.console.out << (context.json() ? ToText(ToJson(report))
                                         : ThroughputText(report, context.unicode));
  return absl::OkStatus();
}

absl::Status RunWorkers(CommandContext& context) {
  SHOAL_ASSIGN_OR_RETURN(const WorkerList list, context.client.ListWorkers());
  if (context.json()) {
    context.console.out << ToText(ToJson(list));
    return absl::OkStatus();
  }
  TextTable table({{"ID", Align::kRight},
                   {"STATE"},
                   {"DEVICE"},
                   {"MEMORY", Align::kRight},
                   {"OF", Align::kRight},
                   {"PEAK", Align::kRight},
                   {"ARRAYS", Align::kRight},
                   {"RUNNING", Align::kRight},
                   {"FINISHED", Align::kRight},
                   {"FAILED", Align::kRight},
                   {"ADDRESS"}});
  for (const WorkerInfo& worker : list.workers) {
    table.AddRow({absl::StrCat(worker.id), StateName(worker.state), worker.device,
                  FormatBytes(worker.memory_used_bytes), FormatBytes(worker.memory_limit_bytes),
                  FormatBytes(worker.memory_peak_bytes), absl::StrCat(worker.array_count),
                  absl::StrCat(worker.running_count), absl::StrCat(worker.finished_count),
                  absl::StrCat(worker.failed_count),
                  worker.address.empty() ? "embedded" : worker.address});
  }
  context.console.out << table.ToString() << list.queued_count
                      << (list.queued_count == 1 ? " piece of a task waits.\n"
                                                 : " pieces of tasks wait.\n");
  return absl::OkStatus();
}

absl::Status RunInfo(CommandContext& context) {
  SHOAL_ASSIGN_OR_RETURN(ServerInfo info, context.client.FetchInfo());
  const std::vector<std::string>& wanted = context.options.positionals();
  if (!wanted.empty()) {
    std::vector<std::string> names;
    for (const OpInfo& op : info.ops) names.push_back(op.name);
    std::erase_if(info.ops, [&](const OpInfo& op) { return op.name != wanted[0]; });
    if (info.ops.empty()) {
      return absl::NotFoundError(
          absl::StrCat("no op '", wanted[0], "'", DidYouMean(wanted[0], names)));
    }
  }
  if (context.json()) {
    context.console.out << ToText(ToJson(info));
  } else {
    context.console.out << (wanted.empty() ? ServerText(info) : OpText(info.ops[0]));
  }
  return absl::OkStatus();
}

}  // namespace shoal::cli
