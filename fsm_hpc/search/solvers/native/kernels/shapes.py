"""What kernels are handed: arrays by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]


class Data(NamedTuple):
    """The table: columns in ranks, net weights of the rows, and facts about each column."""

    ranks: Array  # column x row
    weights: Array  # of a row: positive minus negative ones that were merged into it
    kinds: Array  # POINT, SUFFIX, INTERVAL
    cards: Array  # how many values
    order: Array  # place: columns with few cuts first
    wide: Array  # column x column: too many pairs of values for a pair hole


class Families(NamedTuple):
    """Choices for a boxed variable: a category, or a numeric column with its range of cuts."""

    column: Array
    ends: Array  # least and greatest low end, least and greatest high end
    numeric: Array


class PlanArrays(NamedTuple):
    """A plan as the kernels read it."""

    positive: Array  # the best state for a positive row, by what is known of each variable
    negative: Array
    states: Array  # the same once everything is known
    after: Array
    cross: Array
    partner: int
    hole: int


class BoxMemory(NamedTuple):
    """The arrays of one thread that searches boxes."""

    live: Array  # rows that boxes of a branch have not settled
    entries: Array  # holes that may still beat the leader, a list for each box of a branch
    masks: Array  # the functions to ask of each
    boxes: Array  # the stack: bounds of both ends of every variable
    frames: Array  # and where the lists of each box are
    digits: Array  # of the live rows: what is known of each variable
    open_rows: Array  # of the kept rows: whether the box leaves them open
    rows: Array  # those that the hole decides
    row_weights: Array
    fresh: Array  # columns that are not localised for this box
    cards: Array  # of localised columns
    chosen: Array  # a family for each variable
    columns: Array  # and its column
    box: Array  # the box that is looked at
    where: Array  # the cut that answered last


class Scratch(NamedTuple):
    """Room for the answers of holes."""

    marks: Array
    local: Array  # column x row: values numbered anew
    cells: Array
    losses: Array
    inside: Array
    sums: Array
    order: Array
    heads: Array
    tree: Array
    ends: Array


class View(NamedTuple):
    """What a box makes of the rows."""

    kept: int  # where the rows that it does not settle begin; -1: no room, all are kept
    kept_count: int
    settled: int  # the score of those that it settles
    bound: int  # no choice of cuts in it scores higher, the hole apart
    gain: int  # what the hole can add at most
    asked: int  # rows that the hole decides
    unsettled: int  # rows that the box leaves open


class Question(NamedTuple):
    """Two columns asked for the best literals of each, over the rows that a hole decides."""

    x: int
    y: int
    rows: int  # how many
    kind_x: int
    kind_y: int
    card_x: int
    card_y: int
    mask: int  # the functions that are asked
    goal: int  # only a higher score matters
    any_will_do: bool  # the first score above the goal is as good as the best


class BitTable(NamedTuple):
    """A table where every literal is Boolean, as bits."""

    bits: Array  # literal x word
    full: Array  # words of all rows
    positives: int  # words of positive rows, which come first


class BitMemory(NamedTuple):
    """The arrays of one thread that searches bits."""

    plus: Array  # rows that the hole gains
    minus: Array  # and loses
    gain: Array  # of those, how many each literal holds on
    loss: Array
    roles_x: Array  # functions that a literal may serve as x, as y
    roles_y: Array
    chosen: Array
    plus_x: Array
    minus_x: Array


class Lane(NamedTuple):
    """One thread's place in the work, and what it found best."""

    control: Array  # AT, OPEN, STACKED, NODES, ASKED
    leader: Array  # UNIT, ENTRY, MASK, SCORE, LOW, HIGH
    cuts: Array  # of the boxed variables: low and high end


class Race(NamedTuple):
    """What threads see of each other: the rank of each one's leader, and the wish to stop."""

    best: Array
    flag: Array
    slot: int  # this thread's place in `best`


class Span(NamedTuple):
    """What a kernel is to do: units up to `end` of a plan whose first unit has that number."""

    first: int
    end: int
    budget: int  # steps of work before it comes back
