#pragma once

#include <string>

namespace shoal::kernels::program {

/// docs/ops.md: every op of the table and every function of the language, with what its row says.
std::string OpsPage();

}  // namespace shoal::kernels::program
