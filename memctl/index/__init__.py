"""SQLite: schema, sync, healing, queries. The only room that speaks SQL to the index."""
