"""Files made of text."""

import pytest


@pytest.fixture
def read_text(tmp_path):
    """Reads a text, or bytes, as the file of this name."""

    def read(reader, name, text, **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return reader(path, **options)

    return read
