"""Trees from CoNLL-U files."""

import gzip
from dataclasses import replace

import pytest

from coalface.data.formats.conllu import Tree, lines_with_heads, read_trees
from coalface.errors import FileFormatError

GOOD = """# sent_id = 1
# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_
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
    tags = {"fine_tags": ("VB", "RB", "VB"), "morphology": ("Mood=Imp", "_", "_")}
    first = Tree(("Do", "n't", "go"), ("AUX", "PART", "VERB"), (3, 3, 0), ("aux", "advmod", "root"), **tags)
    other = Tree(("#",), ("SYM",), (0,), ("root",), fine_tags=("NN",), morphology=("_",))
    assert read_trees(path) == [first, other]
    assert read_trees(path, subtypes=True)[0].labels == ("aux", "advmod:neg", "root")


def test_compressed_files_and_windows_line_ends_are_read_alike(tmp_path):
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(GOOD.replace("\n", "\r\n").encode()))
    assert read_trees(packed) == read_trees(written(tmp_path, GOOD))


def test_heads_may_be_missing_where_they_are_not_read(tmp_path):
    bare = GOOD.replace("\t3\taux", "\t_\t_").replace("\t3\tadvmod:neg", "\t_\t_").replace("\t0\troot", "\t_\t_")
    sentences = read_trees(written(tmp_path, bare), heads=False)
    assert [sentence.heads for sentence in sentences] == [(), ()]
    assert sentences == read_trees(written(tmp_path, GOOD), heads=False)
    assert sentences == [replace(tree, heads=(), labels=()) for tree in read_trees(written(tmp_path, GOOD))]


def test_a_file_is_written_with_other_heads_and_everything_else_as_it_was(tmp_path):
    path = written(tmp_path, GOOD)
    trees = read_trees(path, subtypes=True)
    assert "\n".join(lines_with_heads(path, trees)) == GOOD
    changed = [replace(trees[0], heads=(2, 0, 1), labels=("a", "b", "c")), trees[1]]
    (tmp_path / "b.conllu").write_text("\n".join(lines_with_heads(path, changed)) + "\n")
    assert read_trees(tmp_path / "b.conllu") == changed
    assert "1-2\tDon't" in (tmp_path / "b.conllu").read_text()


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n"])
def test_a_written_file_ends_with_one_empty_line_or_as_many_as_it_had(tmp_path, end):
    path = written(tmp_path, GOOD.rstrip("\n") + end)
    lines = "".join(f"{line}\n" for line in lines_with_heads(path, read_trees(path, subtypes=True)))
    assert lines == GOOD.rstrip("\n") + max(end, "\n\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t3\taux", "\t9\taux", "line 4: a head must be a number from 0 to 3, got '9'"),
        ("\t3\taux", "\t_\taux", "line 4: a head must be a number from 0 to 3, got '_'"),
        ("\t3\taux", "\t-1\taux", "line 4: a head must be"),
        ("\t3\taux", "\t1\taux", "line 4: the heads of a word must lead to the root"),
        ("\t0\troot\t_\t_\n3.1", "\t2\troot\t_\t_\n3.1", "line 4: the heads of a word must lead to the root"),
        ("2\tn't", "7\tn't", "line 5: word 2 must come next, got '7'"),
        ("\tVB\tMood=Imp\t3", "\tVB\t3", "line 4: every word must have 10 columns, got .* It has 9"),
        ("\tDo\t", "\t\t", "line 4: no column of a word may be empty, got .* Write _ for a missing value"),
        ("\tadvmod:neg", "\t:neg", "line 5: a word with a head must have a label, got ':neg'"),
        ("\t3\tadvmod", "\t0\tadvmod", "line 6: exactly one word of a sentence must have head 0, 2 have, got 'go'"),
        ("\tadvmod:neg", "\t_", "line 5: a word with a head must have a label, got '_'. Correct the column DEPREL"),
        ("1-2\t", "1-4\t", "line 3: a multi-word token must lie within words 1 to 3 of its sentence, got '1-4'"),
        ("1-2\t", "2-1\t", "line 3: a multi-word token must lie within words 1 to 3 of its sentence, got '2-1'"),
        ("1-2\t", "0-1\t", "line 3: a multi-word token must lie within words 1 to 3 of its sentence, got '0-1'"),
        ("1\t#", "1-2\t##\n1\t#", "line 9: a multi-word token must lie within words 1 to 1 of its sentence"),
        ("\tPART\tRB", "\t_\t_", "line 5: every word must have a tag .UPOS or XPOS., got '_'. Tag the words first"),
    ],
)
def test_a_bad_line_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(FileFormatError, match=message) as caught:
        read_trees(written(tmp_path, GOOD.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_either_tag_is_enough_but_one_is_needed_also_without_heads(tmp_path):
    for old, new in (("\tPART\tRB", "\t_\tRB"), ("\tPART\tRB", "\tPART\t_")):
        assert len(read_trees(written(tmp_path, GOOD.replace(old, new)))) == 2
    with pytest.raises(FileFormatError, match="line 9: every word must have a tag"):
        read_trees(written(tmp_path, GOOD.replace("\tSYM\tNN", "\t_\t_")), heads=False)


def test_a_file_without_trees_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="at least one tree"):
        read_trees(written(tmp_path, "# nothing\n\n"))
