/**
 * `listen`: a public URL for an app of this process. No port is opened: the agent hands each connection to the app in memory, so that no other
 * user of the machine can reach it.
 */
import { createServer, Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { LocalTarget } from '../agent/local/target.ts';
import { MemorySocket } from '../agent/files/memory-socket.ts';
import { CulvertError } from './error.ts';
import { gatesOf } from './gates.ts';
import { openTunnel } from './tunnel.ts';
import type { Listener, Tunnel, TunnelOptions } from './types.ts';

/**
 * Publishes an app, and resolves once its public URL works.
 *
 *   const tunnel = await listen((request, response) => response.end('hello'), { name: 'shop' });
 *
 * An `http.Server` stays the caller's: WebSockets work where it has them, and it may also listen on a port. @throws CulvertError whose `code`
 * says what failed.
 */
export async function listen(listener: Listener, options: TunnelOptions = {}): Promise<Tunnel> {
  const server = serverOf(listener);
  const { name: subdomain, project, inspect } = options;
  const narrow = gatesOf(options, 'http');
  return openTunnel({ protocol: 'http', target: targetOf(server), subdomain, project, inspect, narrow }, options);
}

function serverOf(listener: Listener): Server {
  if (listener instanceof Server) return listener;
  if (typeof listener === 'function') return createServer(listener);
  // Not strict: plain JavaScript calls this, too.
  if (typeof listener?.fetch !== 'function') {
    throw new CulvertError('usage', 'listen takes a request listener, an http.Server, or an app with fetch (as Hono)');
  }
  const app = listener;
  const respond = getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false });
  return createServer((request, response) => void respond(request, response));
}

function targetOf(server: Server): LocalTarget {
  const connect = () => {
    const { near, far } = MemorySocket.pair();
    server.emit('connection', far);
    return near;
  };
  const none = { hosts: [], port: 80, tls: false, verifyTls: false, serverName: undefined, proxyProtocol: false };
  return { ...none, text: 'this process', inProcess: { connect } };
}
