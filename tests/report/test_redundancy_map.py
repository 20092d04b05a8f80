"""The map of substitutes: which columns and arrows are on it."""

from dataclasses import replace

import numpy as np

from squamish.evidence.worth import Worth
from squamish.report.redundancy_map import MOST_LINKED, redundancy_layout


def mapped(result, substitutes, groups, representatives, classes):
    # Without a search of small sets the representatives are suggested.
    evidence = replace(
        result.evidence,
        substitutes=substitutes,
        groups=groups,
        representatives=representatives,
        worth=Worth(),
    )
    return replace(result, classes=np.array(classes), evidence=evidence)


def test_the_map_has_an_arrow_for_every_substitute(result):
    layout = redundancy_layout(result, None)
    arrows = set()
    for source, target, _, mutual in layout.edges:
        pair = layout.nodes[source].column, layout.nodes[target].column
        arrows |= {pair, pair[::-1]} if mutual else {pair}
    replaced = result.evidence.substitutes.items()
    assert arrows == {(j, k) for j, sets in replaced for columns in sets for k in columns}
    assert layout.notes == ()
    bold = {t.get_text() for t in result.plot_redundancy().texts if t.get_weight() == "bold"}
    assert bold == {name.replace("身長", "??") for name in result.representatives[0]}


def test_what_replaces_only_together_is_dashed_and_strong_columns_are_guests(result):
    sets = {1: ((0, 2),), 2: ((1,),), 3: ()}
    classes = [2, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    sums = mapped(result, sets, ((1, 2), (3,)), ((1,), (3,)), classes)
    layout = redundancy_layout(sums)
    assert [(n.column, n.representative, n.guest) for n in layout.nodes] == [
        (1, True, False),
        (2, False, False),
        (0, False, True),
        (3, False, False),
    ]
    assert [tuple(edge) for edge in layout.edges] == [
        (0, 2, True, False),
        (0, 1, True, False),
        (1, 0, False, False),
    ]
    assert [ring.title for ring in layout.rings] == ["group 1", "no substitute found"]
    arrows = [p for p in sums.plot_redundancy().patches if hasattr(p, "get_arrowstyle")]
    assert [arrow.get_linestyle() for arrow in arrows] == ["--", "--", "-"]


def test_forty_copies_do_not_become_a_hairball(wide):
    copies = range(40)
    sets = {j: tuple((k,) for k in copies if k != j) for j in copies}
    classes = [1] * 40 + [0] * 260
    layout = redundancy_layout(mapped(wide, sets, (tuple(copies),), ((7,),), classes))
    assert len(layout.edges) == 39
    assert all(edge.mutual and layout.nodes[edge.source].column == 7 for edge in layout.edges)
    assert layout.notes == ("Some arrows are left out; result.substitutes has all",)
    few = range(MOST_LINKED)
    sets = {j: tuple((k,) for k in few if k != j) for j in few}
    whole = mapped(wide, sets, (tuple(few),), ((0,),), [1] * 8 + [0] * 292)
    assert len(redundancy_layout(whole).edges) == 8 * 7 / 2


def test_a_member_of_a_large_group_keeps_an_arrow_without_the_representative(wide):
    chain = {j: ((j + 1 if j < 19 else 18,),) for j in range(20)}
    layout = redundancy_layout(
        mapped(wide, chain, (tuple(range(20)),), ((0,),), [1] * 20 + [0] * 280)
    )
    assert {edge.source for edge in layout.edges} | {edge.target for edge in layout.edges} == set(
        range(20)
    )


def test_a_cap_on_the_map_keeps_some_of_each_group(wide):
    groups = (tuple(range(10)), tuple(range(10, 14)), (14,))
    sets = {j: tuple((k,) for k in group if k != j) for group in groups for j in group}
    many = mapped(wide, sets, groups, ((3,), (10,), (14,)), [1] * 15 + [0] * 285)
    layout = redundancy_layout(many, 5)
    assert [node.column for node in layout.nodes] == [3, 0, 10, 11, 14]
    titles = [ring.title for ring in layout.rings]
    assert titles == ["group 1 (8 more)", "group 2 (2 more)", "no substitute found"]
    assert layout.notes == ("10 of 15 weak columns not shown (max_features=None shows all)",)
    assert [r.title for r in redundancy_layout(many, 1).rings] == ["group 1 (9 more)"]


def test_a_map_of_many_groups_shows_groups_and_no_lone_dots(thousand):
    layout = redundancy_layout(thousand)
    groups = [ring for ring in layout.rings if ring.title.startswith("group")]
    members = [node for node in layout.nodes if not node.guest]
    assert len(members) <= 60
    assert len(groups) > 5
    assert len(layout.edges) >= len(groups)
    linked = {edge.source for edge in layout.edges} | {edge.target for edge in layout.edges}
    assert all(place in linked for place, node in enumerate(layout.nodes) if node.representative)


def test_groups_that_are_left_out_are_counted(wide):
    groups = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(40))
    sets = {j: tuple((k,) for k in group if k != j) for group in groups for j in group}
    best = tuple((group[0],) for group in groups)
    layout = redundancy_layout(mapped(wide, sets, groups, best, [1] * 120 + [0] * 180), 20)
    assert len(layout.rings) == 10
    assert all(ring.title.endswith("(1 more)") for ring in layout.rings)
    assert "10 of 40 groups are shown, the largest ones" in layout.notes


def test_the_layout_is_always_the_same(wide):
    assert redundancy_layout(wide) == redundancy_layout(wide)
    layout = redundancy_layout(wide)
    assert all(0 < n.x < layout.width and 0 < n.y < layout.height for n in layout.nodes)
