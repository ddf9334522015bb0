"""All verbs of the command line, each with examples in its help."""

from collections.abc import Callable
from typing import Annotated

import typer

from coalface.cli import data, parse, route, tag
from coalface.cli.ask_tell import ask, tell
from coalface.cli.changes import labels, pool
from coalface.cli.evaluate import evaluate
from coalface.cli.label import label
from coalface.cli.option_groups import with_groups
from coalface.cli.predict import predict, rank
from coalface.cli.projects import agreement, export, import_, init
from coalface.cli.serve import serve
from coalface.cli.simulate import simulate
from coalface.cli.studies import demo, report, sweep
from coalface.cli.train import train


def _examples(*commands: str) -> str:
    """The end of a help text; the backspace keeps the lines as they are."""
    return "\b\n" + "\n".join(f"Example: coalface {command}" for command in commands)


def _group(help: str, *examples: str) -> typer.Typer:
    return typer.Typer(help=help, epilog=_examples(*examples), rich_markup_mode=None)  # plain help is twice as fast


def _add(group: typer.Typer, name: str, verb: Callable[..., None], *examples: str, **settings: bool) -> None:
    group.command(name, epilog=_examples(*examples), context_settings=settings)(with_groups(verb))


app = _group("Cost-sensitive classification that asks for as few costs as possible.", "demo")
_data = _group("Inspect, convert and fetch datasets.", "data info calls.csv --label kind")
_route = _group(
    "Choose a model, solver or tool for each request, by quality and price.",
    "route train outcomes.csv --model models.router --value-of-quality 0.05",
)
_parse = _group(
    "Find the head and the label of every word with few costs (CoNLL-U files).",
    "parse train train.conllu --model english.coal",
)
_tag = _group(
    "Tag the words of sentences with few roll-outs (CoNLL files).",
    "tag train train.conll --model names.coal --constraints bio",
)


def _version(wanted: bool) -> None:
    if wanted:
        from coalface.version import __version__

        typer.echo(f"coalface {__version__}")
        raise typer.Exit


@app.callback()
def coalface(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The options before the verb."""


_add(app, "demo", demo, "demo --permutations 5 --report demo.html")
_add(
    app,
    "simulate",
    simulate,
    "simulate calls.csv --label kind --report run.html",
    "simulate train.vw --test test.vw --rule passive --json",
)
_add(app, "sweep", sweep, "sweep study.toml --dry-run", "sweep study.toml --out results --workers 4")
_add(app, "report", report, "report results")
_add(
    app,
    "train",
    train,
    "train calls.csv --label kind --model calls.coal",
    "train --classes refund,billing,other --model empty.coal",
)
_add(
    app,
    "predict",
    predict,
    "predict calls.coal new-calls.csv --costs > predictions.jsonl",
    "predict calls.coal 'pool/*.parquet' --executor processes --out predictions",
    "predict tickets.coalface new-tickets.jsonl",
)
_add(
    app,
    "rank",
    rank,
    "rank calls.coal 'pool/*.parquet' --top 10000 --out ranking.parquet",
    "rank calls.coal 'pool/*.parquet' --executor dask://10.0.0.5:8786 --out ranking.parquet",
)
_add(
    app,
    "evaluate",
    evaluate,
    "evaluate calls.coal test-calls.csv --label kind --report calls.html",
    "evaluate calls.coal test-calls.csv --label kind --json",
)
_add(app, "ask", ask, "ask calls.coal new-calls.csv --max-costs 200 > questions.jsonl")
_add(app, "tell", tell, "tell calls.coal answers.jsonl")
_add(
    app,
    "init",
    init,
    "init tickets --examples tickets.jsonl --labels labels.txt",
    "init calls --examples calls.csv --text body --id ticket --label team",
    "init next-calls --from-ranking ranking.parquet",
    "init pets --examples photos/ --labels labels.txt --tree tree.json --budget examples=500",
)
_add(
    app,
    "label",
    label,
    "label tickets --annotator judges:severity --workers 8",
    'label tickets --annotator "python judge.py" --limit 100',
    "label tickets --annotator judges:severity --budget price=5 --rate billing=60/min --concurrent 4",
    "label tickets --forecast",
    "label tickets --batch-out questions.jsonl --budget costs=500 --lease 48",
    "label tickets --batch-in answers.jsonl",
    "label tickets --annotator openai:gpt-4o-mini --price-in 0.15 --price-out 0.6 --agreement 0.6",
)
_add(
    app,
    "labels",
    labels,
    "labels tickets",
    "labels tickets --add legal",
    "labels calls.coal --retire fax",
    "labels http://127.0.0.1:8137/tickets --rename legal lawyers",
)
_add(
    app,
    "pool",
    pool,
    "pool tickets --add more-tickets.jsonl",
    "pool tickets --costs known.csv",
    "pool http://127.0.0.1:8137/tickets --retire ticket-17 --reason duplicate",
)
_add(app, "agreement", agreement, "agreement tickets", "agreement tickets --json")
_add(app, "serve", serve, "serve tickets --new-token ada --role engineer", "serve tickets calls --port 8137")
_add(
    app,
    "export",
    export,
    "export tickets answers.jsonl",
    "export tickets pool.csv --predictions --top 1000",
    "export tickets tickets.zip",
)
_add(app, "import", import_, "import tickets.zip tickets-2")
app.add_typer(_data, name="data")
_add(_data, "list", data.list_known, "data list")
_add(_data, "info", data.info, "data info calls.csv --label kind", "data info digits")
_add(_data, "convert", data.convert, "data convert calls.csv calls --label kind", "data convert digits digits")
_add(_data, "fetch", data.fetch, "data fetch newsgroups20 --into data")
app.add_typer(_route, name="route")
_add(
    _route,
    "train",
    route.train,
    "route train outcomes.csv --model models.router --value-of-quality 0.05",
    "route train outcomes.jsonl --model models.router --price small=0.001,large=0.03 --active",
)
_add(_route, "serve", route.serve, "route serve models.router --port 8138")
_add(_route, "report", route.report, "route report models.router", "route report models.router test.csv --figure t.svg")
app.add_typer(_parse, name="parse")
_add(_parse, "train", parse.train, "parse train train.conllu --model english.coal --passes 4")
_add(_parse, "predict", parse.predict, "parse predict english.coal new.conllu > parsed.conllu")
_add(_parse, "evaluate", parse.evaluate, "parse evaluate english.coal test.conllu")
app.add_typer(_tag, name="tag")
_add(_tag, "train", tag.train, "tag train train.conll --model names.coal --constraints bio")
_add(_tag, "predict", tag.predict, "tag predict names.coal new.conll > tags.jsonl")
_add(
    _tag, "evaluate", tag.evaluate, "tag evaluate names.coal test.conll", "tag evaluate names.coal messy.conll --repair"
)
