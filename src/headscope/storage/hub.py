"""The Hugging Face hub is never waited for without end."""

# Of the first request, which says whether the hub is there; of each wait for a byte in all others.
SECONDS, SILENCE = 5.0, 30.0


def limit_waiting() -> None:
    """End any request of this process to the hub after 30 seconds without a byte, unless its user has set a limit."""
    from huggingface_hub import get_session

    session = get_session()
    if session.timeout.read is None:  # the library's default: it would wait forever
        session.timeout = SILENCE
