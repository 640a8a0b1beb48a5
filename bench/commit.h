#pragma once

namespace shoal::bench {

// What this program was built from; the build writes the source (bench/commit.cmake).

const char* Version();
/// Twelve digits, "-dirty" behind them if the tree was changed; "unknown" outside a checkout.
const char* Commit();
/// CMake's build type.
const char* Build();

}  // namespace shoal::bench
