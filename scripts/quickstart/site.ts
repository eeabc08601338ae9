/**
 * The small local site that quickstart.ts publishes: a page, a clock over server-sent events, and a WebSocket that echoes. It listens on
 * loopback and stands for whatever a developer runs.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>It works: a local port on a public name</title>
<style>
  :root { color-scheme: light dark; --accent: #3b5bdb; }
  body { font: 17px/1.6 system-ui, sans-serif; max-width: 42rem; margin: 12vh auto; padding: 0 1.2rem; }
  h1 { font-size: 2rem; line-height: 1.2; margin-bottom: .3rem; }
  code { background: color-mix(in srgb, currentColor 10%, transparent); padding: .1em .35em; border-radius: .3em; }
  section { border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: .6rem; padding: .8rem 1.2rem; margin: 1rem 0; }
  output { font: 1.4rem ui-monospace, monospace; color: var(--accent); }
  input, button { font: inherit; padding: .35rem .7rem; border-radius: .4rem; border: 1px solid #8888; }
  button { background: var(--accent); color: #fff; border: 0; }
</style>
<h1>It works.</h1>
<p>This page comes from a port on your own machine, by way of a public name: <code id="host"></code>.</p>
<section><h2>Streaming</h2><p>Each tick is sent alone and arrives at once: <output id="clock">…</output></p></section>
<section><h2>WebSocket</h2>
  <form id="form"><input id="text" value="hello" aria-label="Text to send"> <button>Send</button></form>
  <p>Echo: <output id="echo">…</output></p>
</section>
<script>
  const byId = (id) => document.getElementById(id);
  byId('host').textContent = location.host;
  new EventSource('/clock').onmessage = (event) => { byId('clock').textContent = event.data; };
  const socket = new WebSocket('ws' + location.protocol.slice(4) + '//' + location.host + '/echo');
  socket.onmessage = (event) => { byId('echo').textContent = event.data; };
  byId('form').onsubmit = (event) => { event.preventDefault(); socket.send(byId('text').value); };
</script>
</html>
`;

/** Visitors of the clock at once; it is a toy. */
const MAX_CLOCKS = 100;

export interface Site {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the site on a free port of 127.0.0.1. */
export async function startSite(): Promise<Site> {
  const clocks = new Set<ServerResponse>();
  const server = createServer((request, response) => answer(request, response, clocks));
  const sockets = new WebSocketServer({ server, path: '/echo', maxPayload: 64 * 1024 });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on('error', () => socket.terminate());
  });
  const tick = setInterval(() => {
    for (const clock of clocks) clock.write(`data: ${new Date().toLocaleTimeString()}\n\n`);
  }, 1000);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the site has no port');
  return {
    port: address.port,
    close: async () => {
      clearInterval(tick);
      for (const socket of sockets.clients) socket.terminate();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, clocks: Set<ServerResponse>): void {
  if (request.url === '/clock' && clocks.size < MAX_CLOCKS) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(`data: ${new Date().toLocaleTimeString()}\n\n`);
    clocks.add(response);
    response.on('close', () => clocks.delete(response));
  } else if (request.url === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(PAGE);
  } else {
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('There is only one page here.\n');
  }
}
