"""What the integration tests share: a real shoald, and clients that know only the contract."""
