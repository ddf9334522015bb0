"""Packages that only some verbs need, and how to install them."""

EXTRAS = {
    "asf": "compare",
    "cupy": "cuda",
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
REMOVABLE = ("matplotlib",)  # comes with coalface, but only reports and figures need it


def missing_extra(module: str) -> str | None:
    """What to install for a module that was not found; None if everything needs it.

    >>> missing_extra("sqlalchemy.orm")
    "This needs sqlalchemy, which is not installed. Run: pip install 'coalface[app]'"
    >>> missing_extra("matplotlib.figure")
    'This needs matplotlib, which is not installed. Run: pip install matplotlib'
    """
    name = module.partition(".")[0]
    if name in REMOVABLE:
        return f"This needs {name}, which is not installed. Run: pip install {name}"
    if name not in EXTRAS:
        return None
    return f"This needs {name}, which is not installed. Run: pip install 'coalface[{EXTRAS[name]}]'"
