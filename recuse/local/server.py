"""One model behind llama.cpp's OpenAI-compatible server on loopback. Run as `python -m recuse.local.server '<json>'`.

A process of its own: the model's memory goes with it, and Ctrl-C in the recording does not leave it behind.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any


def serve(model: str, port: int, context: int, threads: int, chat_template: str | None, name: str) -> None:
    """Serve until the parent process is gone. Answers call the model `name`, not by the path of its file."""
    import xllamacpp

    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {name}
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.n_parallel, parameters.n_ctx, parameters.use_jinja = 1, context, True
    if chat_template is not None:
        parameters.chat_template = chat_template
    server = xllamacpp.Server(parameters)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)
    del server
    # The server's threads may be in native code; nothing here needs an orderly goodbye.
    os._exit(0)


if __name__ == "__main__":
    threading.current_thread().name = "recuse-local-server"
    serve(**json.loads(sys.argv[1]))
