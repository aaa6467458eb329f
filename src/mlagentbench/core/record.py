"""The base of all records: a frozen pydantic model that refuses unknown fields."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A value that is validated when it is made and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
