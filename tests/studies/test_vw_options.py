"""What becomes of the options of a command line of VW."""

import pytest

from coalface.errors import InputError
from coalface.studies.vw_command import translate
from coalface.studies.vw_command.options import OPTIONS, REFUSED, parse
from coalface.studies.vw_command.products import products


def translated(text):
    return translate(text.split())


def test_every_way_to_write_an_option_means_the_same():
    ways = ("-l 0.3 -q ab -d a.vw", "-l0.3 -qab a.vw", "--learning_rate=0.3 --quadratic=ab --data a.vw")
    commands = [translate(["--csoaa", "3", *way.split()]) for way in ways]
    assert commands[0] == commands[1] == commands[2]
    assert commands[0].pairs == ("ab",)


def test_the_defaults_are_those_of_vw():
    command = translated("--cs_active 5 --simulation -d a.vw")
    assert command.settings(1.0) == {"mellowness": 0.1, "learning_rate": 0.5, "accumulator": "adagrad"}
    assert (command.passes, command.reading, command.ignored) == (1, {}, ())


def test_pairs_are_named_once_and_in_order():
    assert translated("--csoaa 3 -q ba -q ab --interactions bb -d a.vw").pairs == ("ab", "bb")


def test_namespaces_of_one_letter_are_one_group():
    names = ["free", "apple^x", "avocado^y", "b^z"]
    assert products(["ab"], names) == [((1, 3), (3, 4))]
    assert products(["a:"], names) == [((0, 1), (1, 3)), ((1, 3), (1, 3)), ((1, 3), (3, 4))]
    assert products([" :"], None) == 2


def test_harmless_options_are_ignored_and_listed():
    command = translated("--csoaa 3 -d a.vw -c -k --cache_file x -b 20 --random_seed 7 --hash all")
    assert [line.partition(":")[0] for line in command.ignored] == [
        *("-c", "-k", "--cache_file x", "-b 20", "--random_seed 7", "--hash all")
    ]


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.fate == REFUSED], ids=lambda one: one.name)
def test_an_option_that_would_change_the_result_is_refused_with_what_to_do(option):
    words = [f"--{option.name}", *(["1"] if option.takes_value else [])]
    with pytest.raises(InputError) as problem:
        translate(["--csoaa", "3", "-d", "a.vw", *words])
    assert "would change the result" in str(problem.value)
    assert option.why in str(problem.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "needs one file of data"),
        ("--csoaa 3 -d a.vw -d b.vw", "needs one file of data, got 2"),
        ("-d a.vw", "needs one of --cs_active K"),
        ("--csoaa 3 --oaa 3 -d a.vw", "got 2 of them"),
        ("--csoaa three -d a.vw", "--csoaa must be a number of at least 2, got 'three'"),
        ("--csoaa 2.5 -d a.vw", "--csoaa must be a whole number"),
        ("--csoaa -d a.vw", "--csoaa must be a number"),
        ("--csoaa 3 -d", "-d needs a value"),
        ("--csoaa 3 -d a.vw --quiet=1", "--quiet takes no value"),
        ("--csoaa 3 -d a.vw --csoa_ldf m", "Did you mean --csoaa_ldf?"),
        ("--csoaa 3 -d a.vw --nn 5", "--nn is an option without a counterpart"),
        ("--csoaa 3 -d a.vw -X", "-X is an option without a counterpart"),
        ("--csoaa 3 -d a.vw --power_t 0.2", "--power_t 0.2 would change the result"),
        ("--csoaa 3 -d a.vw --l2 1e-6", "--l2 1e-6 would change the result"),
        ("--csoaa 3 -d a.vw --loss_function logistic", "squared loss"),
        ("--csoaa 3 -d a.vw --adaptive", "--adaptive alone turns off"),
        ("--csoaa 3 -d a.vw --interactions abc", "must name two namespaces"),
        ("--csoaa 3 -d a.vw --passes 2", "Add --holdout_off"),
        ("--csoaa 3 -d a.vw --mellowness 0.1", "--mellowness 0.1 needs --cs_active K"),
        ("--csoaa 3 -d a.vw -t", "-t needs a trained model"),
        ("--csoaa 3 -d a.vw -P 0", "-P must be a whole number above 0"),
        ("--csoaa 3 -d a.vw -P 1.0", "a factor above 1.0"),
        ("--cs_active 3 -d a.vw", "never learns in VW. Add --simulation"),
        ("--cs_active 3 --simulation --cost_min -1 -d a.vw", "Shift the costs"),
        ("--cs_active 3 --simulation --cost_max 0 -d a.vw", "--cost_max must be above 0"),
        ("-i m -d a.vw -l 0.1", "-l 0.1 cannot change with -i m"),
        ("--csoaa 3 --simulation -d a.vw", "--simulation needs --cs_active K"),
    ],
)
def test_a_command_without_sense_is_refused(words, said):
    with pytest.raises(InputError) as problem:
        translated(words)
    assert said in str(problem.value)


def test_every_option_has_one_entry():
    names = [option.name for option in OPTIONS]
    letters = [option.letter for option in OPTIONS if option.letter]
    assert len(set(names)) == len(names)
    assert len(set(letters)) == len(letters)
    assert [str(given) for given in parse(["--kill_cache", "-b18"])] == ["-k", "-b 18"]
