"""A server on this machine."""

import http.server
import threading
import time


class FileServer:
    """Serve the files that are put into it, and remember what was asked for.

    Attributes
    ----------
    files : dict of str to bytes
    cut : dict of str to list of int
        How many bytes the next requests get.
    failing : dict of str to list of int
        The status of the next requests, with a page that says so.
    pause : float
        How many seconds pass before an answer.
    gathered : int
        How many requests must have come before the first answer.
    """

    def __init__(self):
        self.files, self.cut, self.failing, self.asked = {}, {}, {}, []
        self.pause, self.gathered = 0.0, 0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                time.sleep(server.pause)
                while len(server.asked) < server.gathered:
                    time.sleep(0.02)
                body = server.files.get(self.path)
                failing = server.failing.get(self.path)
                status = failing.pop(0) if failing else 404 if body is None else 200
                self.send_response(status)
                body = body if status == 200 else b"an error\n"
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                cuts = server.cut.get(self.path)
                self.wfile.write(body[: cuts.pop(0)] if cuts else body)

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
