"""Where a server may listen: beyond this machine only if something says who may ask."""

from ipaddress import ip_address

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings


def check_listening(settings: Settings) -> None:
    """Raise ConfigurationError if others could ask without anybody having allowed it."""
    if settings.api_keys_file or settings.atlas_access == "proxy":
        return
    if not is_loopback(settings.atlas_host):
        raise ConfigurationError(
            f"ATLAS_HOST={settings.atlas_host} lets other machines ask this server, and nothing "
            "says who may. Set API_KEYS_FILE (`atlas keys add NAME` makes a key), or "
            "ATLAS_ACCESS=proxy if a proxy in front, or the network, lets in only whom it should."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens on `host`."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
