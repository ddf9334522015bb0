"""The stored data of the studies: folders under $COALFACE_DATA, for those that name ``plugins = ["stored_data"]``.

| names | where |
|---|---|
| `in20`, `in40`, `tiny200`, `in20-1280`, `in40-1280` | images, costs in the WordNet tree: `tinyimagenet` |
| `rcv1`, `newsgroups20`, `clinc150` | texts with a tree of labels: `rcv1v2_subset`, `newsgroups20`, `clinc150` |
| `clinc150-256` | the same requests in 256 dense features, a truncated SVD of the training rows |
| `mnist` | pixels / 255: `mnist` |
| `conll2003`, `wikineural`, `ud-ewt` | tagged words: `conll2003_ner`, `wikineural_en_ner`, `ud_english_pos` |
| `aslib/SCENARIO` | `aslib/SCENARIO.npz` or the folder `aslib/SCENARIO` |
| `tabular/TABLE` | `tabular/TABLE.csv` or `tabular/TABLE.csv.gz`: any table with a column `label` |

Data that was fetched under a name comes before the stored data of this name.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.conll import examples_of_words, read_sentences
from coalface.data.formats.hierarchy_folder import read_hierarchy_folder
from coalface.data.formats.readers import is_fetched, open_fetched, read_train_test
from coalface.errors import InputError
from coalface.studies.known.catalogue import VARIABLE, data_root, load_known

from .images import read_mnist, read_tiny_images
from .tables import SUFFIXES, read_table

Read = Callable[[Path], TrainTest]


def _images(name: str, subset: str, held: str) -> tuple[str, Read]:
    return "tinyimagenet", partial(read_tiny_images, subset=subset, name=name, held=held)


def _words(name: str, folder: str, files: str = "{}", tag: int | None = None) -> tuple[str, Read]:
    """Words of tagged sentences, in one file to train with and one to test with."""
    return folder, partial(_read_words, files=files, tag=tag, name=name)


def _read_words(folder: Path, files: str, tag: int | None, name: str) -> TrainTest:
    """Every word as an example; the labels are the tags of both files."""
    parts = [read_sentences(folder / f"{files.format(part)}.conll.gz", tag=tag) for part in ("train", "test")]
    tags = np.unique([tag for sentences in parts for sentence in sentences for tag in sentence.tags])
    return TrainTest(*(examples_of_words(sentences, tags, 18, name) for sentences in parts))


def reduced(problem: TrainTest, n_features: int) -> TrainTest:
    """The same examples in the leading directions of the training rows (truncated SVD, without centring)."""
    directions = TruncatedSVD(n_features, random_state=0).fit(problem.train.X)
    return TrainTest(*(_projected(part, directions.transform(part.X)) for part in problem))


def _projected(part: CostDataset, X: Any) -> CostDataset:
    return part.with_fields(
        X=csr_array(X.astype(np.float32)), feature_names=None, name=f"{part.name}-{X.shape[1]}" if part.name else ""
    )


_FOLDERS: dict[str, tuple[str, Read]] = {
    "in20": _images("in20", "in20", "in40"),
    "in40": _images("in40", "in40", "in40"),
    "in20-1280": _images("in20-1280", "in20", "all200"),
    "in40-1280": _images("in40-1280", "in40", "all200"),
    "tiny200": _images("tiny200", "all200", "all200"),
    "rcv1": ("rcv1v2_subset", partial(read_hierarchy_folder, name="rcv1")),
    "newsgroups20": ("newsgroups20", read_hierarchy_folder),
    "clinc150": ("clinc150", read_hierarchy_folder),
    "clinc150-256": ("clinc150", lambda folder: reduced(read_hierarchy_folder(folder), 256)),
    "mnist": ("mnist", read_mnist),
    "conll2003": _words("conll2003", "conll2003_ner"),
    "wikineural": _words("wikineural", "wikineural_en_ner"),
    "ud-ewt": _words("ud-ewt", "ud_english_pos", files="ewt-{}", tag=1),  # the Penn treebank's, not the universal tags
}


def load(name: str) -> TrainTest:
    """The training and test data of a name; those of the library are there, too."""
    if not any(fnmatchcase(name, pattern) for pattern in DATA):
        return load_known(name)
    root = data_root()
    if root is None:
        raise InputError(f"The data {name!r} is read from the folder ${VARIABLE}, which is not set. Set {VARIABLE}.")
    if is_fetched(root / name):
        return open_fetched(root / name)
    if name in _FOLDERS:
        folder, read = _FOLDERS[name]
        places = [root / folder]
    else:
        read = read_table if name.startswith("tabular/") else read_train_test
        places = [root / f"{name}{suffix}" for suffix in ("", ".npz", *SUFFIXES)]
    place = next((place for place in places if place.exists()), None)
    if place is None:
        raise InputError(f"The data {name!r} is not in the folder {root} that ${VARIABLE} names. Put it there.")
    return read(place)


DATA = dict.fromkeys([*_FOLDERS, "aslib/*", "tabular/*"], load)
