"""Trees from CoNLL-U files."""

import gzip

import pytest

from coalface.data.formats.conllu import Tree, read_trees
from coalface.errors import FileFormatError

GOOD = """# sent_id = 1
# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod:neg\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tthere\t_\t_\t_\t_\t_\t_\t_\t_

1\t#\t#\tSYM\tNN\t_\t0\troot\t_\t_
"""


def written(folder, text):
    path = folder / "a.conllu"
    path.write_text(text)
    return path


def test_words_tags_heads_and_labels_are_read_and_the_rest_is_left_out(tmp_path):
    path = written(tmp_path, GOOD)
    first = Tree(("Do", "n't", "go"), ("AUX", "PART", "VERB"), (3, 3, 0), ("aux", "advmod", "root"))
    assert read_trees(path) == [first, Tree(("#",), ("SYM",), (0,), ("root",))]
    assert read_trees(path, subtypes=True)[0].labels == ("aux", "advmod:neg", "root")


def test_compressed_files_and_windows_line_ends_are_read_alike(tmp_path):
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(GOOD.replace("\n", "\r\n").encode()))
    assert read_trees(packed) == read_trees(written(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t3\taux", "\t9\taux", "line 4: a head must be a number from 0 to 3, got '9'"),
        ("\t3\taux", "\t_\taux", "line 4: a head must be a number from 0 to 3, got '_'"),
        ("\t3\taux", "\t-1\taux", "line 4: a head must be"),
        ("\t3\taux", "\t1\taux", "line 4: the heads of a word must lead to the root"),
        ("\t0\troot\t_\t_\n3.1", "\t2\troot\t_\t_\n3.1", "line 4: the heads of a word must lead to the root"),
        ("2\tn't", "7\tn't", "line 5: word 2 must come next, got '7'"),
        ("\tVB\t_\t3", "\tVB\t3", "line 4: every word must have 10 columns, got .* It has 9"),
        ("\tDo\t", "\t\t", "line 4: every word must have 10 columns"),
    ],
)
def test_a_bad_line_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(FileFormatError, match=message) as caught:
        read_trees(written(tmp_path, GOOD.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_a_file_without_trees_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="at least one tree"):
        read_trees(written(tmp_path, "# nothing\n\n"))
