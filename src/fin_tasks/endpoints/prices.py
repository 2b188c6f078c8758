"""Prices of tokens, which the user gives in a file."""

import datetime
from pathlib import Path

from pydantic import BaseModel, Field

from fin_tasks.yaml_file import read_yaml


class Price(BaseModel, extra="forbid"):
    """The price of a million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)


class Prices(BaseModel, extra="forbid"):
    """Prices by the name of a model."""

    models: dict[str, Price]
    currency: str = "USD"
    date: datetime.date | None = None  # of the prices
    share: float = Field(1.0, ge=0, le=1)
    """The share of these prices that is paid; a batch costs half."""

    def cost(
        self, model: str, tokens_in: float | None, tokens_out: float | None
    ) -> float | None:
        """Return the cost of a model's tokens; None if its price or a number is not known."""
        price = self.models.get(model)
        if price is None or tokens_in is None or tokens_out is None:
            return None
        cost = tokens_in * price.input + tokens_out * price.output
        return self.share * cost / 1e6


def read_prices(path: Path) -> Prices:
    """Read prices from a YAML or JSON file; raise ConfigError if it holds anything else."""
    return read_yaml(
        path,
        Prices,
        expected="`models` with `input` and `output` prices of a million tokens for each model",
    )
