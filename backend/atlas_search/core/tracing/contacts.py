"""The redaction `contacts`: e-mail addresses, telephone numbers and keys.

It knows them by their form alone, which names and addresses of houses do not have.
"""

import re

from atlas_search.core.settings import Settings
from atlas_search.core.tracing.redaction import Redaction

# each repetition is bounded: a long text takes no more than its length
_KEY = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{1,40}-----.{1,10000}?-----END\ [A-Z ]{1,40}-----  # a file of a key
    | \beyJ[\w-]{5,2000}\.[\w-]{5,4000}\.[\w-]{5,2000}                 # a signed token (JWT)
    | \b(?:sk|pk|rk|hf|ghp|gho|ghs|glpat|xox[abeprs]|atlas|github_pat)[-_][\w-]{16,200}
    | \b(?:AKIA|ASIA|AIza)[\w-]{16,60}
    | \b(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9]{32,200}\b     # as providers make them
    """,
    re.VERBOSE | re.DOTALL,
)
_TOLD_KEY = re.compile(
    r"(?i)\b(bearer\s{1,3}|basic\s{1,3}|(?:api[_ -]?key|password|passwd|secret|token)"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?)[^\s\"',;]{6,500}"
)
_LOGIN = re.compile(r"(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}@")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[\w-]{2,63}")
_PHONE = re.compile(
    r"""
    (?<![\w.-])(?:
      (?:\+|00)[1-9](?:[ ./()-]{0,2}\d){7,13}          # with the code of a country
      | \(\d{2,5}\)[ ]?\d(?:[ ./-]?\d){4,9}              # with the area in brackets
      | 0\d{2,4}[ /-]\d(?:[ -]?\d){4,8}                  # with the area before a blank
      | \d{3}[-. ]\d{3}[-. ]\d{4}
    )(?![\w-])
    """,
    re.VERBOSE,
)


def contacts(_: Settings) -> Redaction:
    """See RedactionFactory. There is nothing to set."""
    return mask_contacts


def mask_contacts(text: str) -> str:
    """The text with `[email]`, `[phone]` and `[key]` in their place."""
    text = _LOGIN.sub("[key]@", text)
    text = _EMAIL.sub("[email]", text)
    text = _KEY.sub("[key]", text)
    text = _TOLD_KEY.sub(r"\1[key]", text)
    return _PHONE.sub("[phone]", text)
