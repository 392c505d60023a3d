"""A smaller model by trained gates in the place of a search: its size, and the parts that stay."""

from collections.abc import Callable

from headscope.errors import HeadscopeError
from headscope.models.silenced import silenced
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.shrink.answers import change
from headscope.studies.shrink.expected_price import ExpectedPrice, part_megabytes
from headscope.studies.shrink.found_search import FoundSearch
from headscope.studies.shrink.gate_choice import TrainedGates, chosen, smallest
from headscope.studies.shrink.goal import Goal
from headscope.studies.shrink.record import SearchRecord, SearchState
from headscope.studies.shrink.search import SizeSearch, unmet
from headscope.studies.shrink.sizes import AnySize, Original
from headscope.studies.shrink.steps import Step

PART = "gates"
Train = Callable[[ExpectedPrice, float], TrainedGates]
# What two ways to add up the same bytes may differ by, as a share.
ROUNDING = 1e-9


def refuse_embeddings(method: str, kinds: tuple[str, ...]) -> None:
    """Raise `HeadscopeError` for narrower embeddings by gates."""
    if method == "gates" and "embeddings" in kinds:
        raise HeadscopeError("--method gates has no gates of embeddings; leave embeddings out of --parts")


def gate_search(
    search: SizeSearch,
    stored: SearchState | None,
    goal: Goal,
    record: SearchRecord,
    train: Train,
) -> FoundSearch:
    """Train gates towards the target, and close those that go; prices are those of the record of a run that was killed.

    * `train`: trains them for a price; its second argument is the lowest that can be reached, as times the target.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted.
    """
    start, original = search.start(), search.original.size
    if stored is None:
        record.save(SearchState(search.prices, [start]))
    if search.met(start):
        return FoundSearch(True, [start], None)
    parts, even = part_megabytes(search.original, search.fixed), not search.original.fine
    price = ExpectedPrice(search.prices, parts, search.target, original, even)
    least = smallest(search.original, search.groups)
    if price.of(least) > 1 and not goal.best_effort:
        share = search.prices.share(least, original)
        raise HeadscopeError(unmet(search, Step("", least, 0.0, 0.0, price.sizes.of(least, original), share)))
    trained = train(price, price.of(least))
    size = chosen(trained.log_alphas, original, least, lambda some: price.of(some) <= 1 - ROUNDING)
    step = _step(search, trained.original(search.original), size)
    return FoundSearch(search.met(step), [start, step], trained)


def _step(search: SizeSearch, by_gates: Original, size: AnySize) -> Step:
    """The step to a size; its estimate is the change of the untrained model with the closed parts silenced."""
    smaller, untrained = by_gates.cut(size), search.original.model
    moved = change(search.before, search.answers.of(smaller, search.inputs, search.settings))
    with silenced(untrained, by_gates.kept(size)):
        alone = change(search.before, search.answers.of(untrained, search.inputs, search.settings))
    share = search.prices.share(size, search.original.size)
    return Step(PART, size, moved, alone, megabytes(smaller) - search.fixed, share)
