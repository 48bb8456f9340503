"""What kernels are handed: arrays by name, and the numbers by which they call things."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from fsm_hpc.search.solvers.native.kernels.kernel import structure

Array = NDArray[Any]
FALSE, TRUE, OPEN, OPEN_NEGATED = range(4)  # of a row: OPEN is what the free literals say
LIVE, LIVE_COUNT, ACTIVE, ACTIVE_COUNT, BASE = range(5)  # where the lists of a stacked box are
UNLISTED = -1  # the count of active candidates of a unit before they are listed
LANES = 8  # sets that are bounded together
GROUP = 8  # cells whose subsets are summed beforehand
SCORE, PLAN, FUNCTION, FIRST = range(4)  # of an incumbent: these, then its literals by variable
NEVER = -(1 << 30)  # below every score
ABOVE = 1 << 30  # and above


@structure
class Bounds(NamedTuple):
    """What constraints ask of each column, or of each literal where these are listed."""

    is_any: bool  # else nothing of the rest is looked at
    signs: Array  # 1: functions that only become true with it, -1: only false
    needs: Array  # required names (bits) that it stands for
    origins: Array  # the column of the table that it comes from
    wanted: int  # all required names
    most: int  # columns of the table


@structure
class Data(NamedTuple):
    """The table: columns in ranks, net weights of the rows, and facts about each column."""

    ranks: Array  # column x bit: a row has the bit that `row_sets.Layout` gives to it
    weights: Array  # of a row: positive minus negative ones that were merged into it
    sets: Array  # literal x word: the rows with a category, or from a value of a column on
    sets_from: Array  # where those of a column begin
    shifts: Array  # every 2^shift-th value of a column has a set
    full: Array  # words of all rows
    planes: Array  # plane x word: the rows whose weight has its factor in it
    spans: Array  # words in which a plane has rows
    factors: Array
    words: int  # that have rows
    positives: int  # words of positive rows, which come first
    is_plain: bool  # all rows of a class weigh the same
    kinds: Array  # POINT, SUFFIX, INTERVAL
    cards: Array  # how many values
    floors: Array  # 1 where value 0 of a numeric column is that of rows that no cut holds on
    starts: Array  # where a column begins in lists of the values of all columns
    order: Array  # place: columns with few cuts first
    places: Array  # the column at each place
    widest: int  # pairs of values of two interval columns that may be free together
    many: int  # values of a pivot column beyond which it is gone through first
    bounds: Bounds
    has_windows: bool  # intervals have to have support, and none holds nowhere
    first: Array  # of an interval from each value on: the first high end that it may have
    last: Array  # and the last; columns begin at their starts


@structure
class Families(NamedTuple):
    """Choices for a boxed variable: a category, or a numeric column with its range of cuts."""

    column: Array
    ends: Array  # least and greatest low end, least and greatest high end
    numeric: Array
    binomials: Array  # [n, k]: the ways to choose k of n


@structure
class PlanArrays(NamedTuple):
    """A plan as the kernels read it."""

    positive: Array  # the best state for a positive row, by what is known of each variable
    negative: Array
    states: Array  # the same once everything is known
    after: Array
    later: Array  # by variable how many interchangeable ones come after it
    cross: Array
    rises: Array  # by function, variables (bits) with which it may only become true
    falls: Array  # only false
    partner: int
    free: int


@structure
class BoxMemory(NamedTuple):
    """The arrays of one thread that searches boxes."""

    live: Array  # words that have rows which boxes of a branch have not settled
    entries: Array  # candidates that may still beat the incumbent, a list for each box of a branch
    masks: Array  # the functions of each, and its number in the unit
    boxes: Array  # the stack: bounds of both ends of every variable
    frames: Array  # and where the lists of each box are
    pieces: Array  # of a word: its rows by what is known of each variable
    codes: Array  # that as base-3 digits
    gained: Array  # words of the rows that the free literals may gain
    lost: Array  # and loses
    opened: Array  # words of the rows whose state the box leaves open
    gained_x: Array  # those that are gained where x holds
    lost_x: Array
    rows: Array  # the decided rows one by one, those to gain first
    row_weights: Array
    listed: Array  # the last box that they were listed for
    allowed: Array  # functions that a unit tries, by the first place of a pair
    compressed: Array  # the last box that a column was compressed for
    merged: Array  # whether its values are numbered anew
    cards: Array  # of compressed columns
    has_top_rows: Array  # by column: 1 if decided rows are at its highest cut, and that counts
    roles: Array  # of a column as x, as y: functions that some category may serve
    limits: Array  # of a pivot column: cuts that may serve a function
    extremes: Array  # of a column by role: the most that a literal of it allows
    chosen: Array  # a family for each variable
    columns: Array  # and its column
    unit: Array  # what constraints leave to the free literals
    box: Array  # the box that is looked at
    ends: Array  # the first ends in it that have support
    where: Array  # the cut that answered last
    found: Array  # all that reaches the goal: unit, candidate and functions of each
    found_count: Array
    is_reported: Array  # by number of a candidate of the unit: whether it is among them
    # to find the best free literals:
    marks: Array
    local: Array  # column x bit: values numbered anew
    cut_at: Array  # of a number that a value has: the cut that it stands for
    ranges: Array  # the stack of ranges of two cuts
    roles_x: Array  # of a category: functions that it may serve as x, as y
    roles_y: Array
    net: Array  # sums by value, gains and losses by literal; a column's begin at its start
    gain: Array
    loss: Array
    cells: Array
    losses: Array
    inside: Array
    sums: Array
    order: Array
    heads: Array
    tree: Array
    interval_ranges: Array  # the stack of ranges for the ends of an interval
    prefix: Array  # running sums by value
    queue: Array
    window: Array  # where the best interval is


class View(NamedTuple):
    """What a box makes of the rows."""

    kept: int  # where the words that it does not settle begin
    kept_count: int
    settled: int  # the score of the others
    bound: int  # no choice of cuts in it scores higher, the free literals apart
    gain: int  # what the free literals can add at most
    loss: int  # and take away
    decided: int  # rows that the free literals decide
    gained: int  # those that it gains
    unsettled: int  # rows that the box leaves open
    gain_end: int  # rows are gained in the words before this one
    loss_start: int  # and lost in those from this one on


class PairQuery(NamedTuple):
    """Two columns whose best literals are wanted, over the rows that the free literals decide."""

    x: int
    y: int
    kind_x: int
    kind_y: int
    card_x: int
    card_y: int
    floor_x: int
    floor_y: int
    mask: int  # the functions that are wanted
    goal: int  # only a higher score matters
    any_will_do: bool  # the first score above the goal is as good as the best
    gains: int  # of all rows together
    losses: int
    top_x: int  # 1: some row has the highest cut of x, and so every literal holds there
    top_y: int
    rows: int  # how many
    gained: int  # of them
    values_x: Array  # by row, as the sums number them
    values_y: Array


@structure
class ThreadState(NamedTuple):
    """One thread's place in the work, and what it found best."""

    control: Array  # AT, OPEN, STACKED, NODES, ASKED
    incumbent: Array  # UNIT, ENTRY, MASK, SCORE, LOW, HIGH
    cuts: Array  # of the boxed variables: low and high end


@structure
class SharedBest(NamedTuple):
    """What threads see of each other: the rank of each one's incumbent, and the wish to stop."""

    best: Array
    flag: Array
    slot: int  # this thread's place in `best`


@structure
class Span(NamedTuple):
    """What a kernel is to do: units up to `end` of a plan whose first unit has that number.

    Each choice for the boxed variables falls into `blocks` units of so many candidates.
    """

    first: int
    end: int
    budget: int  # steps of work before it comes back
    blocks: int
    candidates: int


@structure
class NearData(NamedTuple):
    """The table as the near-optimal set reads it, and lists of one thread as long as a column."""

    ranks: Array  # column x row; the columns in the order of their number of cuts
    weights: Array
    kinds: Array  # SUFFIX, INTERVAL; a Boolean column has one cut
    cards: Array
    second: Array  # other weights of the rows, whose sum the best member maximizes; or empty
    sums: Array
    lines: Array
    across: Array


@structure
class Context(NamedTuple):
    """A function as a context with free literals."""

    some: Array  # by what is known of the context: fillings for which the function may hold
    every: Array  # and those for which it does
    boxed: Array  # the variables of the context
    free: Array  # the one or two free variables


@structure
class NearWork(NamedTuple):
    """The arrays of one thread."""

    plane: Array  # scores of all cells of a rectangle of cuts
    other: Array  # the same by the second weights
    marks: Array
    states: Array  # of the rows
    opens: Array
    boxes: Array  # the stack: ends of the context's variables, then the rectangle of the free ones
    box: Array
    choice: Array  # the ends of each variable of one member
    most: int  # cells that are answered at once


@structure
class NearFound(NamedTuple):
    """What is known of one family."""

    ranges: Array  # by variable: least and greatest low end, least and greatest high end
    best: Array
    thresholds: Array  # of the best member
    votes: Array  # members that say yes, by row
    listed: Array  # members one by one, where they are wanted
    scores: Array


@structure
class FixedTable(NamedTuple):
    """Fixed literals as row sets, and the sums over conjunctions of few of them."""

    bits: Array  # literal x word
    sections: Array  # first word, end, and the weight that each row has there
    next_free: Array  # by literal: the first one after it that a set may have beside it
    binomials: Array
    sums: Array  # of all conjunctions of 1, 2, ... literals, in lexicographic order
    starts: Array  # by number of literals: where these begin; -1: they are not kept
    total: int
    constraints: Bounds


@structure
class FunctionTree(NamedTuple):
    """The functions of a size in k literals, as a tree over the bytes of their truth tables."""

    variables: int
    values: Array  # of a node: one byte of the truth table
    first: Array  # its first child; of a leaf the number of the function in canonical order
    end: Array
    roots: int
    plans: Array  # by function: the plan, the free function, the place of each variable
    fillings: Array
    places: Array
    rises: Array  # and the literals (bits) with which it only becomes true, only false
    falls: Array


@structure
class CellMemory(NamedTuple):
    """The arrays of one thread."""

    chosen: Array  # literals of the set but for the last
    words: Array  # by subset of the first literals: rows where all hold
    weights: Array  # and the sum of their weights
    inner: Array  # the same by cell
    offsets: Array  # where sums of each subset with two more literals are
    singles: Array  # cell x literal: sum where the literal holds too
    pairs: Array  # cell x literal: sum where the last but one holds as well
    bounds: Array  # by last literal
    pair_words: Array
    cells: Array
    groups: Array  # sums of all subsets of eight cells
    rest: Array  # what the groups from here on can add at most
    at: Array  # the path in the tree of functions
    stop: Array
    partial: Array
    found: Array  # formulas within the slack: score, function, literals
    found_count: Array
