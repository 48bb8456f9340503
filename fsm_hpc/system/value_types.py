"""Types of values in files, with the range that msgspec checks."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=10**15)]
Positive = Annotated[int, Meta(ge=1, le=10**15)]
NonNegative = Annotated[float, Meta(ge=0, le=1e12)]
SpentSeconds = NonNegative
Moment = NonNegative  # of time.time()
Length = Annotated[int, Meta(ge=1, le=10_000)]  # bound of a search, size of a formula
ProcessId = Annotated[int, Meta(ge=1, le=2**31 - 1)]
