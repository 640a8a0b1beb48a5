#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "shoal/array.h"
#include "shoal/info.h"

namespace shoal::cli {

/// What `--json` prints. Keys stay as they are; new ones may come. Sizes are in bytes, times in
/// nanoseconds (`…_ns`), names of dtypes are NumPy's.
using Json = nlohmann::ordered_json;

Json ToJson(const ArrayInfo& info);
Json ToJson(const ServerInfo& info);
Json ToJson(const WorkerList& list);
Json ToJson(const ThroughputReport& report);
Json ToJson(const Timing& timing);
/// {"error": {"code": "NOT_FOUND", "message": …, "reason": …}}; reason only if there is one.
Json ToJson(const absl::Status& status);

/// All elements in C order as one flat list; a complex one as [real, imaginary]. What JSON has no
/// number for is a string: "nan", "inf", "-inf".
Json ElementsToJson(const Array& array);

/// Indented by two, with a line feed at the end. What is no UTF-8 becomes U+FFFD.
std::string ToText(const Json& json);

}  // namespace shoal::cli
