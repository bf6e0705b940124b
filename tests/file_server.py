"""A server on this machine."""

import http.server
import threading


class FileServer:
    """Serve the files that are put into it, and remember what was asked for.

    Attributes
    ----------
    files : dict of str to bytes
    cut : dict of str to list of int
        How many bytes the next requests get.
    """

    def __init__(self):
        self.files, self.cut, self.asked = {}, {}, []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                body = server.files.get(self.path)
                self.send_response(404 if body is None else 200)
                body = b"an error\n" if body is None else body
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
