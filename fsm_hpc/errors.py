"""The one exception for a mistake that the user can mend."""


class UserError(ValueError):
    """A mistake that the user can mend; printed as one line, exit code 2."""
