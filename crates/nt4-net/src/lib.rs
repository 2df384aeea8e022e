//! The sockets around the NetworkTables cores.
