"""The grid of layers by heads: a few words for each head, from the result that describes it best."""

from headscope.report.cards.grid import grid
from support.made_heads import model_of, with_maps
from support.profile_result import profile_result


def test_each_head_has_the_words_of_the_result_that_describes_it_best() -> None:
    rows = grid(model_of(profile_result(), with_maps()))
    cells = {cell.name: cell for _, cells in rows for cell in cells if cell}
    assert [layer for layer, _ in rows] == [1, 2, 3, 4] and len(cells) == 12
    assert cells["2-3"].words == "previous token" and "attends to previous token" in cells["2-3"].title
    assert cells["1-2"].words and cells["1-2"].title.startswith(f"pattern {cells['1-2'].words}")


def test_head_that_a_model_lacks_has_no_cell() -> None:
    result = profile_result()
    result = result.where((result["layer"] != 2) | (result["head"] != 3)) if "layer" in result.dims else result
    by_layer = dict(grid(model_of(result)))
    assert by_layer[2][2] is None and by_layer[2][1] is not None
