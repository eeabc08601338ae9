"""An origin for the HTTP fuzzer on Python's http.server: prints one JSON line per request that it reads."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        seen = {"line": f"{self.command} {self.path}", "from": self.headers.get_all("X-Forwarded-For") or []}
        sys.stdout.write(json.dumps(seen) + "\n")
        sys.stdout.flush()
        # http.server reads no bodies by itself, and knows no chunks: its user must.
        if self.headers.get("Transfer-Encoding") is not None:
            while (size := int(self.rfile.readline().strip() or b"0", 16)) > 0:
                self.rfile.read(size + 2)
            while self.rfile.readline().strip():
                pass
        else:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.serve
        raise AttributeError(name)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
