"""Tables for other engines: polars and DuckDB read the columns that a query names, and no others."""
