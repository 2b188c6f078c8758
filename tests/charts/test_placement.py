"""No two labels in one place, whatever is to be labelled."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.charts.layout import stacked
from fin_tasks.charts.placement import Place, in_levels, side_by_side

HIGH, GAP, WIDE = 1000.0, 5.0, 1e-6
labels = st.lists(st.tuples(st.floats(0, HIGH), st.floats(1, 300)), max_size=30).map(sorted)


def clear(places: list[Place], widths: list[float]) -> bool:
    boxes = [(place.level, place.left, place.left + width) for place, width in zip(places, widths, strict=True)]
    inside = all(left >= -WIDE and right <= HIGH + WIDE for _, left, right in boxes)
    apart = all(
        a[0] != b[0] or a[2] + GAP <= b[1] + WIDE or b[2] + GAP <= a[1] + WIDE for a, b in combinations(boxes, 2)
    )
    return inside and apart


@given(labels=labels, levels=st.integers(1, 4))
def test_levels(labels: list[tuple[float, float]], levels: int) -> None:
    anchors, widths = [anchor for anchor, _ in labels], [width for _, width in labels]
    places = in_levels(anchors, widths, low=0, high=HIGH, gap=GAP, levels=levels)
    if places is None:
        assert len(labels) > levels
        return
    assert clear(places, widths)
    assert all(place.level < levels for place in places)
    for place, anchor, width in zip(places, anchors, widths, strict=True):
        assert place.left - WIDE <= anchor <= place.left + width + WIDE


@given(labels=labels)
def test_side_by_side(labels: list[tuple[float, float]]) -> None:
    anchors, widths = [anchor for anchor, _ in labels], [width for _, width in labels]
    places = side_by_side(anchors, widths, low=0, high=HIGH, gap=GAP)
    taken = sum(widths) + GAP * (len(widths) - 1)
    if places is None:
        assert taken > HIGH - WIDE
    else:
        assert taken <= HIGH + WIDE
        assert clear(places, widths)


@given(
    points=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 50)), max_size=20).map(sorted),
    direction=st.sampled_from([1, -1]),
)
def test_triangles_are_moved_away_from_the_prices_until_none_covers_another(
    points: list[tuple[int, int]], direction: int
) -> None:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    moved = stacked(xs, ys, size=9, direction=direction)
    assert all((after - before) * direction >= 0 for before, after in zip(ys, moved, strict=True))
    for (x, y), (other_x, other_y) in combinations(zip(xs, moved, strict=True), 2):
        assert abs(x - other_x) >= 9 or abs(y - other_y) >= 9
