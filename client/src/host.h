#pragma once

#include <string>

namespace shoal::internal {

/// Names this kernel and network namespace, as `DataPlanes.host_id` names the server's: the boot
/// id, ":", and the inode number of the namespace. Empty if the kernel does not tell.
std::string LocalHostId();

/// "unix:/path", "unix:///path".
bool IsUnixAddress(const std::string& address);

}  // namespace shoal::internal
