"""What every response tells browsers to forbid."""

from flask import Response

_NOTHING = "default-src 'none'; frame-ancestors 'none'"

# the page loads nothing from elsewhere, runs no inline script and makes no markup of texts
_PAGE = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

# Swagger UI writes style elements of its own, and makes markup of texts that it has cleaned
_API_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), serial=(), usb=()",
}


def forbid(response: Response, path: str) -> Response:
    """Give a response to `path` its headers: a page may load its own parts, data nothing.

    A policy that its route has given it stays.
    """
    response.headers.update(_ALWAYS)
    if not path.startswith("/api/"):
        policy = _PAGE
    else:
        policy = _API_PAGE if response.mimetype == "text/html" else _NOTHING
    response.headers.setdefault("Content-Security-Policy", policy)
    return response
