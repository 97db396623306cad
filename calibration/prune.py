"""Drops rows of a line that straight lines between the rows kept reproduce."""


def between(a, b, x):
    return a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1])


def prune(line, tolerance):
    """From (position, time) sorted by position: (rows kept, relative errors of the rows dropped).

    Goes from each row kept to the furthest one that leaves every row between them within the tolerance. The last
    two rows stay, since their slope is what extrapolation continues.
    """
    if len(line) <= 3:
        return line, []
    kept, errors, start, end = [line[0]], [], 0, len(line) - 2
    while start < end:
        best, best_errors = start + 1, []
        for stop in range(start + 2, end + 1):
            found = [between(line[start], line[stop], x) / t - 1 for x, t in line[start + 1:stop]]
            if all(abs(e) <= tolerance for e in found):
                best, best_errors = stop, found
        kept.append(line[best])
        errors += best_errors
        start = best
    return kept + [line[-1]], errors
