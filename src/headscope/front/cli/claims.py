"""The commands about papers: `claims` tells which claims hold in results, `cite` whom to cite for them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import user_errors
from headscope.front.cli.printing import escaped, print_json, printable

if TYPE_CHECKING:
    from headscope.papers import Judgement
    from headscope.report.cards import MeasuredModel

    Judged = list[tuple[MeasuredModel, list[Judgement]]]


def claims(  # noqa: PLR0913 (each is an option of the command)
    directories: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR...", help="Folders that studies wrote with -o, or folders of such folders; or hf://OWNER/NAME."
        ),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--claims", metavar="FILE", help="Claims of your own (YAML), judged with the papers'; may be repeated."
        ),
    ] = None,
    all_claims: Annotated[bool, typer.Option("--all", help="Also print claims that are not measured.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts as a Markdown document.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Write the page claims.html there.")
    ] = None,
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a section of this Hugging Face model card.")
    ] = None,
    every_eval_ever: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts in the format of Every Eval Ever (JSON).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all verdicts as JSON.")] = False,
    *,
    debug: bool,
) -> None:
    """Tell which claims of the papers saved results bear out, which fail, and which are open or do not apply."""
    with user_errors(debug):
        from headscope.front.claims import judged_of
        from headscope.papers.across_models import by_claim, records

        judged = judged_of(directories, files or ())
        pages = [*_written(judged, out, markdown), *_carried(judged, card, every_eval_ever)]
        if json:
            print_json({"models": records(judged), "by_claim": by_claim(judged), "pages": pages})
        else:
            _print(judged, pages, all_claims=all_claims)


def cite(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Folders that studies wrote with -o, or folders of such folders."),
    ] = None,
    *,
    debug: bool,
) -> None:
    """Print BibTeX of headscope and of the papers that results rest on, and a sentence for the methods section."""
    with user_errors(debug):
        from headscope.papers import citations
        from headscope.report.cards.model_results import read_all
        from headscope.results.hub import fetch

        results = read_all([fetch(folder) for folder in directories]) if directories else {}
        for line in citations.cite(*results.values()).splitlines():
            typer.echo(escaped(line))


def _written(judged: "Judged", out: Path | None, markdown: Path | None) -> list[str]:
    from headscope.papers import across_models, words
    from headscope.papers.portrait import write_claims
    from headscope.storage.files import write_atomically

    pages = [write_claims(judged, out)] if out else []
    if markdown:
        across = [across_models.markdown(judged)] if len(judged) > 1 else []
        texts = [f"# Claims of the papers: {model.name}\n\n{words.markdown(claims)}" for model, claims in judged]
        pages.append(write_atomically(markdown, "\n".join([*across, *texts])))
    return list(map(str, pages))


def _carried(judged: "Judged", card: Path | None, every_eval_ever: Path | None) -> list[str]:
    """Write the files about one model. Raises `HeadscopeError` if the results are about several."""
    from headscope.papers.model_card import write_card, write_evaluation

    writers = {"--card": (card, write_card), "--every-eval-ever": (every_eval_ever, write_evaluation)}
    written = {option: (path, write) for option, (path, write) in writers.items() if path}
    if written and len(judged) > 1:
        names = ", ".join(model.name for model, _ in judged)
        raise HeadscopeError(
            f"{min(written)} is about one model, the results are about {names}; name the folders of one"
        )
    return [str(write(path, *judged[0])) for path, write in written.values()]


def _print(judged: "Judged", pages: list[str], *, all_claims: bool) -> None:
    from rich.console import Console

    from headscope.front.cli.terminal import print_wrapped
    from headscope.papers import across_models, words

    if len(judged) > 1:
        print_wrapped(across_models.tables(judged))
        typer.echo(printable(across_models.summed_up(judged)))
    for model, judgements in judged:
        Console().print(printable(model.name), style="bold", markup=False, highlight=False)
        print_wrapped(words.tables(judgements, all_claims=all_claims))
        typer.echo(printable(words.summed_up(judgements)))
    for page in pages:
        typer.echo(escaped(page))
