"""A server on this machine."""

import contextlib
import gzip
import http.server
import threading


class FileServer:
    """Serve the files that are put into it, and remember what was asked for.

    Attributes
    ----------
    files : dict of str to bytes
    statuses : dict of str to list of int
        The errors that the next requests get, before the file is served.
    cut : dict of str to list of int
        How many bytes the next requests get.
    compresses : bool
        Whether it compresses the file for a client that can decompress it, as GitHub does.
    together : threading.Barrier, optional
        Let so many requests wait for each other.
    endless : bool
        Whether it sends the file again and again, as long as the client reads, up to 256 MB.
    """

    def __init__(self):
        self.files, self.statuses, self.cut, self.asked, self.n_sent = {}, {}, {}, [], 0
        self.compresses, self.together, self.endless = False, None, False
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                body = server.files.get(self.path)
                statuses = server.statuses.get(self.path)
                if statuses or body is None:
                    self.refuse(statuses.pop(0) if statuses else 404)
                    return
                compressed = server.compresses and "gzip" in self.headers.get("Accept-Encoding", "")
                body = gzip.compress(body) if compressed else body
                self.send_response(200)
                if not server.endless:
                    self.send_header("Content-Length", str(len(body)))
                if compressed:
                    self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                cuts = server.cut.get(self.path)
                if server.together is not None:
                    with contextlib.suppress(threading.BrokenBarrierError):  # one may wait for the other
                        server.together.wait(1)
                sent = body[: cuts.pop(0)] if cuts else body
                self.wfile.write(sent)
                with contextlib.suppress(OSError):  # the client closes the connection
                    while server.endless and server.n_sent < 1 << 28:
                        self.wfile.write(body)
                        server.n_sent += len(body)

            def refuse(self, status):
                self.send_response(status)
                self.send_header("Content-Length", "9")
                self.end_headers()
                self.wfile.write(b"an error\n")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
