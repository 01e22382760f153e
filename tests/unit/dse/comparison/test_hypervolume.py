from dse.comparison.hypervolume import hypervolume


def test_two_objectives():
    front = [(1, 3), (2, 2), (3, 1)]
    assert hypervolume(front, (4, 4)) == 6
    assert hypervolume(front, (2.5, 4)) == 1.5 + 0.5
    assert hypervolume(front, (1, 1)) == 0
    assert hypervolume([], (4, 4)) == 0


def test_one_objective():
    assert hypervolume([(3,), (1,), (9,)], (4,)) == 3
    assert hypervolume([(4,)], (4,)) == 0


def test_three_objectives():
    assert hypervolume([(0, 0, 0)], (2, 3, 4)) == 24
    assert hypervolume([(0, 1, 1), (1, 0, 0)], (2, 2, 2)) == 2 + 4 - 1
