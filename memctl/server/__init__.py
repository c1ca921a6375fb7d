"""The loopback servers: HTTP and MCP."""

__all__ = ["http_app", "http_routes", "mcp_server", "mcp_tools"]
