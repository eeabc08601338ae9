/**
 * A listener of its own for scrapers of the operator (`metrics.listen`), who have no log-in: `GET /metrics` and nothing else. On loopback it may
 * be open to every user of this machine; elsewhere the bearer of `metrics.token_file` is wanted, which the check of the settings sees to.
 * Opened by start.ts.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostPort, isLoopback, parseHostPort } from '../../base/net/addr.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Exposition } from '../../control/core/http/metric-sheet.ts';

/** Scrapers of an operator: two, three, and a person with curl. */
const MAX_CONNECTIONS = 50;
const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000 } as const;
/** 128 bits in base64, rounded down: what is shorter could be guessed. */
const MIN_TOKEN = 16;
const BEARER = /^Bearer +(\S{1,4096})$/i;

export interface MetricsListenerOptions {
  readonly listen: HostPort;
  /** null: any client that reaches the listener may read. */
  readonly tokenFile: string | null;
  /** What is served; made anew at each request. */
  readonly page: () => Promise<Exposition>;
  readonly log: Logger;
}

export interface MetricsListener {
  readonly address: AddressInfo;
  /** Cuts what is under way. May be called twice. */
  close(): Promise<void>;
}

/** Binds and serves. Throws what is wrong with the token file, and the system's error when the address can't be bound. */
export async function openMetricsListener(options: MetricsListenerOptions): Promise<MetricsListener> {
  const { listen, tokenFile, log } = options;
  if (tokenFile !== null) await readToken(tokenFile);
  const server = createServer({ ...TIMEOUTS, maxHeaderSize: 8_192 }, (request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      log.error({ error: messageOf(error) }, 'could not serve metrics');
      say(response, 500, 'The server had an internal error. The reason is in its log.');
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  return {
    address: server.address() as AddressInfo,
    close: () => {
      const ended = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      return ended;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: MetricsListenerOptions,
): Promise<void> {
  const { tokenFile, page } = options;
  if (tokenFile === null) {
    // A page in a browser of this machine could come under a name of its own that it has turned to this address.
    const { host: named = '' } = request.headers;
    const host = parseHostPort(named)?.host ?? named.replace(/^\[|\]$/g, '');
    if (!isLoopback(host))
      return say(response, 403, 'Use a loopback address in the URL, such as 127.0.0.1, or set metrics.token_file.');
  } else if (!isSame(BEARER.exec(request.headers.authorization ?? '')?.[1] ?? '', await readToken(tokenFile))) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    return say(response, 401, 'Send the token in metrics.token_file as "Authorization: Bearer …".');
  }
  const [path] = (request.url ?? '').split('?');
  if (path !== '/metrics') return say(response, 404, 'Not found. Only /metrics is available here.');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return say(response, 405, 'Only GET is allowed here.');
  }
  try {
    const { contentType, text } = await page();
    response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    say(response, error.status, error.message);
  }
}

/** Read at each request: a new one counts from then on. Throws when the file can't be read or holds nothing of use. */
async function readToken(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim();
  if (token.length < MIN_TOKEN || /\s/.test(token))
    throw new Error(
      `${file} (metrics.token_file) must contain one token of at least ${MIN_TOKEN} characters without spaces: try \`openssl rand -base64 32\``,
    );
  return token;
}

/** In constant time, whatever the lengths. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

function say(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(`${message}\n`);
}
