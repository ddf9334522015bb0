"""Features of new examples, made as those of the pool were made."""

from collections.abc import Mapping, Sequence
from typing import Any

from coalface.data.dataset_fields import Examples
from coalface.data.frames import listed
from coalface.desk.project.content_encoder import encoded
from coalface.desk.project.features import featurize
from coalface.desk.project.pool import IMAGES, Pool
from coalface.errors import InputError, shortened


def rows_like(pool: Pool, contents: Sequence[Mapping[str, Any]]) -> Examples:
    """The features of examples like those of the pool; an InputError if an example has other fields."""
    fields = pool.fields
    for content in contents:
        unknown = [field for field in content.get("cells", {}) if fields is not None and field not in fields]
        if content["kind"] != pool.kind or unknown:
            have = [(*pool.columns.text, pool.kind)[0]] * (pool.kind != "table") + sorted(fields or ())
            raise InputError(
                f"An example must have the fields of the project's examples, {listed(have)}, got "
                f"{shortened({name: value for name, value in content.items() if name != 'kind'})}. Correct its keys."
            )
    if pool.encoder is None:
        return featurize(contents, pool.folder / IMAGES)
    return encoded(pool.encoder, contents, pool.columns)
