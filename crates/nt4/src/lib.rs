//! NetworkTables 4.1 as bytes in, bytes out: server core and client core.
