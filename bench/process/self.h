#pragma once

#include <string>

namespace shoal::bench {

/// `relative` to the folder that this program lies in: "shoald", "../share/shoal/...".
std::string PathBesideProgram(const std::string& relative);

}  // namespace shoal::bench
