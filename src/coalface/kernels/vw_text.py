"""Parses Vowpal Wabbit's cost-sensitive text: labels before the first bar, features after it.

A file is one array of bytes; lines and names are spans ``[start, end)`` of it. Python sees each distinct name once,
however often it occurs. A kernel stops at the first bad line and writes ``problem = (code, line, start, end)``;
``coalface.data.formats.vw_text`` turns that into an error message.
"""

import numpy as np

from coalface.kernels.compile import allocating, inlined
from coalface.kernels.words import (
    BAR,
    COLON,
    LARGEST,
    LOW32,
    QUOTE,
    SPACE,
    TAB,
    ZERO,
    enlarged_table,
    find_name,
    is_blank,
    murmur,
    read_number,
    same_bytes,
    vw_hash,
    word_end,
    write_name,
)

NUMBERED, NAMED, HASHED = 0, 1, 2

FINE, NO_BAR, BAD_NUMBER, NOT_FINITE, EMPTY_NAME, GLUED_LABEL, STRAY_TAG, NOT_NUMBERED, TOO_LARGE = range(9)

_LARGEST_COLUMN = 2**31 - 2


@inlined
def _report(problem, code, line, start, end):  # type: ignore[no-untyped-def]
    problem[0] = code  # assigning a tuple to a slice would take seconds to compile
    problem[1] = line
    problem[2] = start
    problem[3] = end


@inlined
def _skip_blanks(buffer, start, end):  # type: ignore[no-untyped-def]
    place = start
    while place < end and (buffer[place] == SPACE or buffer[place] == TAB):
        place += 1
    return place


@inlined
def _name_end(buffer, start, end):  # type: ignore[no-untyped-def]
    place = start
    while place < end and buffer[place] != COLON and not is_blank(buffer[place]):
        place += 1
    return place


@allocating
def parse_labels(buffer, starts, ends, capacity, problem):  # type: ignore[no-untyped-def]
    """The listed labels of each line: (bars, indptr, codes, costs, names).

    ``bars[i]`` is the place of the first bar. ``codes`` number the distinct labels in order of first appearance;
    ``names`` is described at ``find_name``. A label without a cost gets NaN.
    """
    n_lines = len(starts)
    bars = np.zeros(n_lines, np.int64)
    indptr = np.zeros(n_lines + 1, np.int64)
    codes = np.empty(capacity, np.int32)
    costs = np.empty(capacity, np.float32)
    slots = np.full(64, -1, np.int32)
    names = np.empty((32, 4), np.int64)
    n_names = 0
    count = 0
    problem[0] = FINE
    for line in range(n_lines):
        end = ends[line]
        place = starts[line]
        expected = 0  # most lines list the labels in the same order: try the next one before hashing
        while True:
            place = _skip_blanks(buffer, place, end)
            if place == end:
                _report(problem, NO_BAR, line, starts[line], end)
                break
            if buffer[place] == BAR:
                break
            start = place
            place = _name_end(buffer, start, end)
            stop = place
            if place < end and (buffer[start] == QUOTE or buffer[place] == BAR):  # a tag
                stop = word_end(buffer, place, end)
                place = _skip_blanks(buffer, stop, end)
                if place < end and buffer[place] != BAR:
                    _report(problem, STRAY_TAG, line, start, stop)
                    break
                continue
            if start == stop:
                _report(problem, EMPTY_NAME, line, start, word_end(buffer, start, end))
                break
            cost = np.nan
            if place < end and buffer[place] == COLON:
                cost, place = read_number(buffer, stop + 1, end)
                after = word_end(buffer, place, end)
                if place == stop + 1 or after != place:
                    _report(problem, BAD_NUMBER, line, start, after)
                    break
                if not abs(cost) <= LARGEST:
                    _report(problem, NOT_FINITE, line, start, after)
                    break
                if after < end and buffer[after] == BAR:
                    _report(problem, GLUED_LABEL, line, start, after)
                    break
            code = expected
            if (
                code >= n_names
                or names[code, 2] != stop - start
                or not same_bytes(buffer, names[code, 3], start, stop - start)
            ):
                slot = find_name(buffer, slots, names, 0, start, stop)
                code = int(slots[slot])
                if code < 0:
                    code = n_names
                    slots[slot] = code
                    write_name(buffer, names, code, 0, start, stop)
                    n_names += 1
                    if 2 * n_names >= len(slots):
                        slots, names = enlarged_table(buffer, slots, names, n_names)
            codes[count] = code
            costs[count] = cost
            count += 1
            expected = code + 1
        if problem[0] != FINE:
            break
        bars[line] = place
        indptr[line + 1] = count
    return bars, indptr, codes[:count], costs[:count], names[:n_names]


@allocating
def parse_features(buffer, bars, ends, capacity, mode, mask, problem):  # type: ignore[no-untyped-def]
    """The features of each line: (indptr, columns, values, names, spaces).

    ``names`` and ``spaces`` (namespaces) are tables as described at ``find_name``, filled in NAMED mode only. Zeros are
    dropped; a feature that occurs twice in a line is returned twice. In HASHED mode, ``mask`` truncates the hashes.
    """
    n_lines = len(bars)
    indptr = np.zeros(n_lines + 1, np.int64)
    columns = np.empty(capacity, np.int32)
    values = np.empty(capacity, np.float32)
    slots = np.full(1024, -1, np.int32)
    names = np.empty((512, 4), np.int64)
    n_names = 0
    space_slots = np.full(64, -1, np.int32)
    spaces = np.empty((32, 4), np.int64)
    n_spaces = 0
    count = 0
    problem[0] = FINE
    for line in range(n_lines):
        end = ends[line]
        place = bars[line]
        space_start = place
        space_stop = place
        weight = 1.0
        seed = 0  # the namespace's hash, or its number
        while place < end:
            if buffer[place] == SPACE or buffer[place] == TAB:
                place += 1
                continue
            if buffer[place] == BAR:
                space_start = place + 1
                place = _name_end(buffer, space_start, end)
                space_stop = place
                weight = 1.0
                if place < end and buffer[place] == COLON:
                    weight, place = read_number(buffer, space_stop + 1, end)
                    after = word_end(buffer, place, end)
                    if place == space_stop + 1 or after != place:
                        _report(problem, BAD_NUMBER, line, space_start - 1, after)
                        break
                    if not abs(weight) <= LARGEST:
                        _report(problem, NOT_FINITE, line, space_start - 1, after)
                        break
                if mode == HASHED:
                    seed = vw_hash(buffer, space_start, space_stop, 0)
                elif mode == NAMED:
                    slot = find_name(buffer, space_slots, spaces, 0, space_start, space_stop)
                    seed = int(space_slots[slot])
                    if seed < 0:
                        seed = n_spaces
                        space_slots[slot] = seed
                        write_name(buffer, spaces, seed, 0, space_start, space_stop)
                        n_spaces += 1
                        if 2 * n_spaces >= len(space_slots):
                            space_slots, spaces = enlarged_table(buffer, space_slots, spaces, n_spaces)
                continue
            start = place
            column = 0
            while place < end:
                digit = 0 + int(buffer[place]) - ZERO
                if digit < 0 or digit > 9:
                    break
                column = column * 10 + digit
                if column > LOW32:
                    column = (column & LOW32) if mode == HASHED else _LARGEST_COLUMN + 1
                place += 1
            digits_stop = place
            place = _name_end(buffer, digits_stop, end)
            stop = place
            value = weight
            if place < end and buffer[place] == COLON:
                value, place = read_number(buffer, stop + 1, end)
                value *= weight
                if place == stop + 1 or (place < end and not is_blank(buffer[place])):
                    _report(problem, BAD_NUMBER, line, start, word_end(buffer, place, end))
                    break
                if not abs(value) <= LARGEST:
                    _report(problem, NOT_FINITE, line, start, place)
                    break
            if start == stop:
                _report(problem, EMPTY_NAME, line, start, place)
                break
            if mode == NUMBERED:
                if stop != digits_stop or space_start != space_stop:
                    _report(problem, NOT_NUMBERED, line, start, place)
                    break
                if column > _LARGEST_COLUMN:
                    _report(problem, TOO_LARGE, line, start, place)
                    break
            elif mode == HASHED:
                if stop == digits_stop:
                    column = (column + seed) & mask
                else:
                    column = murmur(buffer, start, stop, seed) & mask
            else:
                slot = find_name(buffer, slots, names, seed, start, stop)
                column = int(slots[slot])
                if column < 0:
                    column = n_names
                    slots[slot] = column
                    write_name(buffer, names, column, seed, start, stop)
                    n_names += 1
                    if 2 * n_names >= len(slots):
                        slots, names = enlarged_table(buffer, slots, names, n_names)
            if np.float32(value) != 0.0:
                columns[count] = column
                values[count] = value
                count += 1
        if problem[0] != FINE:
            break
        indptr[line + 1] = count
    return indptr, columns[:count], values[:count], names[:n_names], spaces[:n_spaces]


@allocating
def fill_costs(indptr, columns, costs, cost, listed):  # type: ignore[no-untyped-def]
    """Write the listed costs into ``cost`` (n, K) and mark them in ``listed``, unless that has no rows.

    Returns -1, or the first line that lists a label twice.
    """
    last_line = np.full(cost.shape[1], -1, np.int64)
    for line in range(len(indptr) - 1):
        for item in range(indptr[line], indptr[line + 1]):
            column = columns[item]
            if last_line[column] == line:
                return line
            last_line[column] = line
            cost[line, column] = costs[item]
            if len(listed) > 0:
                listed[line, column] = True
    return -1
