"""All ways in which a share is printed, by plain decimals."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

EXACT = Context(prec=60)
ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_EVEN)


def texts_of(hits, total, digits, percent=False):
    """Return the texts of a share: rounded half up or half to even, also to five digits first, or cut off."""
    share = EXACT.divide(Decimal(hits), Decimal(total))
    first = [share, *(share.quantize(Decimal("0.00001"), each, EXACT) for each in ROUNDINGS)]
    unit = Decimal(1).scaleb(-digits)
    found = {each.quantize(unit, way, EXACT) for each in first for way in ROUNDINGS}
    found.add(share.quantize(unit, ROUND_DOWN, EXACT))
    return {f"{100 * each:.{digits - 2}f}%" if percent else f"{each:.{digits}f}" for each in found}


def texts_in(row):
    """Return the numbers of a row of a printed table, as claims print them, by the names of the measures."""
    return {name: claim.text for name, claim in row.claims.items()}
