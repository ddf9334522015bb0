"""Packages that only some verbs need, and how to install them."""

EXTRAS = {
    "asf": "compare",
    "distributed": "dask",
    "fastapi": "app",
    "httpx": "app",
    "multipart": "app",
    "psycopg": "postgres",
    "pyarrow": "parquet",
    "safetensors": "embeddings",
    "skactiveml": "compare",
    "sqlalchemy": "app",
    "tokenizers": "embeddings",
    "tomlkit": "app",
    "uvicorn": "app",
    "vowpalwabbit": "compare",
    "zstandard": "zstd",
}


def missing_extra(module: str) -> str | None:
    """What to install for a module that was not found; None if it belongs to no extra.

    >>> missing_extra("sqlalchemy.orm")
    "This needs sqlalchemy, which is not installed. Run: pip install 'coalface[app]'"
    """
    name = module.partition(".")[0]
    if name not in EXTRAS:
        return None
    return f"This needs {name}, which is not installed. Run: pip install 'coalface[{EXTRAS[name]}]'"
