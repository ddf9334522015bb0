"""All verbs under one name, each with an example in its help."""

from typing import Annotated

import typer

from coalface.cli.ask_tell import ask, tell
from coalface.cli.data import convert, fetch, info, list_known
from coalface.cli.demo import demo
from coalface.cli.projects import export, import_, init, label
from coalface.cli.serve import serve
from coalface.cli.simulate import simulate
from coalface.cli.sweep import report, sweep
from coalface.cli.tag import evaluate
from coalface.cli.tag import predict as tag_predict
from coalface.cli.tag import train as tag_train
from coalface.cli.train_predict import predict, train


def _examples(*commands: str) -> str:
    """The end of a help text; the backspace keeps the lines as they are."""
    return "\b\n" + "\n".join(f"Example: {command}" for command in commands)


app = typer.Typer(
    name="coalface",
    help="Cost-sensitive classification that asks for as few costs as possible.",
    epilog=_examples("coalface demo"),
    rich_markup_mode=None,  # plain help takes half the time
)
data = typer.Typer(
    help="Look at data, convert it, and fetch it.",
    epilog=_examples("coalface data info calls.csv --label kind"),
    rich_markup_mode=None,
)

tag = typer.Typer(
    help="Tag the words of sentences, learned from few roll-outs (CoNLL files).",
    epilog=_examples("coalface tag train train.conll --model names.coal --constraints bio"),
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from coalface.version import __version__

        typer.echo(f"coalface {__version__}")
        raise typer.Exit


@app.callback()
def coalface(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options that stand before the verb."""


app.command(epilog=_examples("coalface demo --permutations 5 --report demo.html"))(demo)
app.command(
    epilog=_examples(
        "coalface simulate calls.csv --label kind --report run.html",
        "coalface simulate train.vw --test test.vw --rule passive --json",
    )
)(simulate)
app.command(
    epilog=_examples(
        "coalface sweep study.toml --dry-run",
        "coalface sweep study.toml --out results --workers 4",
    )
)(sweep)
app.command(epilog=_examples("coalface report results"))(report)
app.command(
    epilog=_examples(
        "coalface train calls.csv --label kind --model calls.coal",
        "coalface train --classes refund,billing,other --model empty.coal",
    )
)(train)
app.command(epilog=_examples("coalface predict calls.coal new-calls.csv --costs > predictions.jsonl"))(predict)
app.command(epilog=_examples("coalface ask calls.coal new-calls.csv --max-costs 200 > questions.jsonl"))(ask)
app.command(epilog=_examples("coalface tell calls.coal answers.jsonl"))(tell)
app.command(
    epilog=_examples(
        "coalface init tickets --examples tickets.jsonl --labels labels.txt",
        "coalface init pets --examples photos/ --labels labels.txt --tree tree.json --budget examples=500",
    )
)(init)
app.command(
    epilog=_examples(
        "coalface label tickets --annotator judges:severity --workers 8",
        'coalface label tickets --annotator "python judge.py" --limit 100',
    )
)(label)
app.command(
    epilog=_examples("coalface serve tickets --new-token ada --role engineer", "coalface serve tickets --port 8137")
)(serve)
app.command(epilog=_examples("coalface export tickets answers.jsonl", "coalface export tickets tickets.zip"))(export)
app.command("import", epilog=_examples("coalface import tickets.zip tickets-2"))(import_)
app.add_typer(data, name="data")
data.command("list", epilog=_examples("coalface data list"))(list_known)
data.command(epilog=_examples("coalface data info calls.csv --label kind", "coalface data info digits"))(info)
data.command(
    epilog=_examples("coalface data convert calls.csv calls --label kind", "coalface data convert digits digits")
)(convert)
data.command(epilog=_examples("coalface data fetch newsgroups20 --into data"))(fetch)
app.add_typer(tag, name="tag")
tag.command("train", epilog=_examples("coalface tag train train.conll --model names.coal --constraints bio"))(tag_train)
tag.command("predict", epilog=_examples("coalface tag predict names.coal new.conll > tags.jsonl"))(tag_predict)
tag.command("evaluate", epilog=_examples("coalface tag evaluate names.coal test.conll"))(evaluate)
