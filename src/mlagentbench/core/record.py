"""The base of every noun: a frozen pydantic model that refuses unknown fields."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A value that is checked when it is made and never changes afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid")
