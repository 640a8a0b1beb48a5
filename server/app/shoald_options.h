#pragma once

#include "base/options.h"

namespace shoal::app {

/// The option table of shoald. Lives for ever.
const OptionTable& ShoaldOptions();

}  // namespace shoal::app
