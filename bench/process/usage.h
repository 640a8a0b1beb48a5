#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/time.h"

namespace shoal::bench {

/// Processor time that a process has used so far, all its threads, user and system together.
///
/// Counted by the kernel in nanoseconds (the process's CPU clock), where /proc/<pid>/stat has only
/// hundredths of a second. 0 for a process that is gone.
Duration ProcessCpu(pid_t pid);

/// As ProcessCpu, for this process.
Duration OwnCpu();

/// The most memory that a process had resident since its start or the last reset. 0 if unknown.
int64_t PeakResidentBytes(pid_t pid);

/// Memory resident now. 0 if unknown.
int64_t ResidentBytes(pid_t pid);

/// Makes PeakResidentBytes begin anew from what is resident now. Needs the same user.
void ResetPeakResident(pid_t pid);

}  // namespace shoal::bench
