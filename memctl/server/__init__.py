"""The loopback servers: HTTP and MCP."""
