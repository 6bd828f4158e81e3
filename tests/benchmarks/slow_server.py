"""A judge on loopback that takes its time: `python slow_server.py SECONDS` prints its port and serves until killed."""

from __future__ import annotations

import asyncio
import json
import sys

ANSWER = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "x" * 3000}}]}).encode()
HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(ANSWER)}\r\n\r\n".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length"))
            await reader.readexactly(length)
            await asyncio.sleep(seconds)
            writer.write(HEAD + ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(seconds: float) -> None:
    server = await asyncio.start_server(lambda r, w: answer(r, w, seconds), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
