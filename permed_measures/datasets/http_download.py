"""A download by ir_datasets that takes no error page, and no more than the published file, for the file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from ir_datasets.lazy_libs import requests
from ir_datasets.util import RequestsDownload

_TEMPORARY = {408, 429, 500, 502, 503, 504}
"""HTTP errors after which the same request may succeed."""

_LONGEST_WAIT = 60
"""Seconds."""


class HttpDownload(RequestsDownload):  # type: ignore[misc]
    """Download a file of which the published size is known, in bytes.

    ir_datasets resumes interrupted downloads and counts the tries (``IR_DATASETS_DL_TRIES``), but takes an
    error page for the file.
    """

    def __init__(self, url: str, size: int) -> None:
        tries = int(os.environ.get("IR_DATASETS_DL_TRIES", "3"))
        # ir_datasets resumes at the byte of the file where it was cut, which is another one if compressed.
        super().__init__(url, tries=tries, headers={"Accept-Encoding": "identity"})
        self._size = size
        self._n_refused = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the content."""
        received = 0
        for data in super().__iter__():
            received += len(data)
            if received > self._size:
                raise OSError(f"the response is larger than the published file of {self._size:,} bytes")
            yield data

    def _iter_response_data(self, response: Any, http_args: dict[str, Any], skip: int) -> Iterator[bytes]:
        """Yield the content of one response."""
        if response.status_code >= 400:
            self._refuse(response)
        yield from super()._iter_response_data(response, http_args, skip)

    def _refuse(self, response: Any) -> None:
        """Raise an error; one of requests is a sign for ir_datasets to try again."""
        message = f"the server answered {response.status_code} {response.reason}"
        if response.status_code not in _TEMPORARY:
            raise OSError(message)
        self._n_refused += 1
        if self._n_refused < self.tries:
            wait = response.headers.get("Retry-After", "")
            time.sleep(min(int(wait) if wait.isdecimal() else 2**self._n_refused, _LONGEST_WAIT))
        raise requests().HTTPError(message, response=response)
