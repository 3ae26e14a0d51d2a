"""What a request may carry: JSON, and said to be JSON."""

import json

from flask import request
from werkzeug.exceptions import BadRequest

from atlas_search.core.errors import WrongMediaType

JSON = "application/json"


def read_body() -> None:
    """Read the body of the present request. Raises WrongMediaType and BadRequest.

    A page of another origin may send a form or a plain text to any server without asking first;
    JSON it may not. Malformed JSON is told here; later it would count as a missing field.
    """
    if request.content_length and request.mimetype != JSON:
        raise WrongMediaType(
            f"The body is sent as {request.mimetype[:80] or 'nothing in particular'}. Send JSON, "
            f"with the header `Content-Type: {JSON}`."
        )
    if request.method in {"POST", "PUT", "PATCH"} and request.get_data(cache=True):
        try:
            body = request.get_json()
            # half a character can be written as an escape, but no model or store can read it
            json.dumps(body, ensure_ascii=False).encode()
        except (BadRequest, RecursionError, UnicodeEncodeError) as error:
            raise BadRequest("The body is not valid JSON. Send a JSON object.") from error
