/**
 * The server's end of `culvert admin`: a Unix socket in the data folder (on Windows a named pipe), open for as long as the server holds the folder's lock. It serves
 * the same application as the API's listener. No other program can listen on it, as one can on a port that a server gave up; and
 * since it is there from the first moment to the last, a command learns why a server does not answer yet or any more.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { AppError, messageOf } from '../base/errors.ts';
import { listenLocal } from '../base/net/local-socket.ts';
import type { Api } from '../control/core/http/context.ts';
import { socketPath } from './socket-path.ts';

/** Commands of one operator; the next one waits in the system's queue or is refused by it. */
const MAX_CONNECTIONS = 100;

export interface AdminSocket {
  /** From now on this application answers; until then the response is that the server is starting. */
  serve(app: Pick<Api, 'fetch'>): void;
  /** Answers new requests with "the server is stopping"; resolves when what was under way has its answer. */
  drain(): Promise<void>;
  /** The same, but cuts what is under way. */
  cut(): void;
  /** Cuts all and removes the file. May be called twice. */
  close(): Promise<void>;
}

/** Takes the place of a socket that a killed server left. The caller holds the lock. Throws with what is in the way. */
export async function openAdminSocket(dataDir: string): Promise<AdminSocket> {
  let app: Pick<Api, 'fetch'> | undefined;
  let instead = `the server on ${dataDir} is starting: try again in a moment`;
  const answer = getRequestListener((request, env) =>
    app === undefined ? refusal(instead) : app.fetch(request, { ...(env as HttpBindings), isFromFolder: true }),
  );
  const underWay = new Set<ServerResponse>();
  const server = createServer((incoming, outgoing) => {
    underWay.add(outgoing);
    outgoing.once('close', () => underWay.delete(outgoing));
    void answer(incoming, outgoing);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const at = socketPath(dataDir);
  try {
    await listenLocal(server, at.path);
  } catch (cause) {
    server.close();
    at.release();
    throw new Error(`can't open the culvert admin socket in ${dataDir}: ${messageOf(cause)}`, { cause });
  }
  const stop = (): void => {
    app = undefined;
    instead = `the server on ${dataDir} is stopping: try again in a moment`;
  };
  return {
    serve: (served) => {
      app = served;
    },
    drain: async () => {
      stop();
      await Promise.all(Array.from(underWay, (outgoing) => once(outgoing, 'close')));
    },
    cut: () => {
      stop();
      server.closeAllConnections();
    },
    close: async () => {
      const ended = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await ended;
      at.release();
    },
  };
}

function refusal(message: string): Response {
  const { code, status } = new AppError('unavailable', message);
  return Response.json({ error: code, message }, { status });
}
