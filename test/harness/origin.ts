/** A service for a tunnel to publish. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Ends } from './ends.ts';

export interface Origin {
  readonly port: number;
  readonly server: Server;
}

/** An HTTP server on a free port of loopback, closed with its connections at the end. */
export async function startOrigin(t: Ends, handler: RequestListener): Promise<Origin> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the origin has no port');
  return { port: address.port, server };
}
