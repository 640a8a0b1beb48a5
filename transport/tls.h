#pragma once

#include <string>

namespace shoal::transport {

/// What one end of a connection proves itself with, and whom it believes. All PEM.
struct TlsMaterial {
  std::string certificate_chain;  ///< Its own; empty, which only a client's may be: it shows none.
  std::string private_key;        ///< Of that certificate.
  /// Who must have signed the other end's certificate. Empty: of a server's, the system's roots; of
  /// a client's, none is asked for.
  std::string peer_roots;
};

}  // namespace shoal::transport
