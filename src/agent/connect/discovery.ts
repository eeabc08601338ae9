/**
 * Asks a server where its agent listener is. Called before each connect, so that a server that moved is found again.
 * Uses node:http and not fetch: an agent that idles for weeks need not hold a second HTTP stack in memory.
 */
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { ProxyError } from '../../base/net/outbound/proxy.ts';
import { DISCOVERY_PATH, type Discovery, discovery } from '../../wire/discovery.ts';
import { CaptivePortalError, isForeignCertificate, isPage, isPortal, portalBefore } from './captive-portal.ts';
import { type Place, UnreachableError } from './reachability.ts';
import { connectFault } from '../lost.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;

export interface AgentAddress {
  readonly host: string;
  readonly port: number;
  /** `sha256:<hex>` in lower case, or undefined: ordinary verification. */
  readonly fingerprint: string | undefined;
}

/** Resolves with the server's discovery document; rejects with a message for people (network, status, or no such document). */
export async function discover(
  server: URL,
  signal?: AbortSignal,
  outbound: Outbound = new Outbound(),
): Promise<Discovery> {
  let url = new URL(server.pathname.replace(/\/+$/, '') + DISCOVERY_PATH, server);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await request(url, outbound, signal).catch(async (error: unknown) => {
      throw (await portalFor(url, outbound, error)) ?? error;
    });
    if (answer.location === undefined) {
      if (isPortal(server, url, answer)) throw new CaptivePortalError(url.host);
      return parse(url, answer);
    }
    const next = new URL(answer.location, url);
    if (url.protocol === 'https:' && next.protocol !== 'https:') {
      throw new Error(`${url.host} redirects to plain HTTP. The agent follows redirects to HTTPS only`);
    }
    url = next;
  }
  throw new Error(`${server.host}: too many redirects. Set the final URL with --server`);
}

/** A certificate of another name may be that of a portal. Through a proxy there is none. */
async function portalFor(url: URL, outbound: Outbound, error: unknown): Promise<CaptivePortalError | undefined> {
  const cause = error instanceof Error ? error.cause : undefined;
  if (url.protocol !== 'https:' || !isForeignCertificate(cause) || outbound.proxyFor(placeOf(url)) !== undefined) {
    return undefined;
  }
  const host = await portalBefore(url);
  return host === undefined ? undefined : new CaptivePortalError(host, { cause: error });
}

/** Where to dial by `found`. An address that only means "any interface" is taken to be the host of the server's own URL. */
export function agentAddress(found: Discovery, server: URL): AgentAddress {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(found.agent_address);
  const port = Number(match?.[3]);
  const named = match?.[1] ?? match?.[2];
  if (named === undefined || port < 1 || port > 65_535) {
    throw new Error(
      `the server announces an invalid agent address: "${found.agent_address}". Its operator must correct agents.public_address`,
    );
  }
  const anywhere = named === '0.0.0.0' || named === '::';
  return {
    host: anywhere ? server.hostname.replace(/^\[(.*)\]$/, '$1') : named,
    port,
    fingerprint: found.agent_fingerprint?.toLowerCase(),
  };
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/** Statuses of a proxy without an upstream: a restarting server appears so behind one. */
const NO_UPSTREAM: ReadonlySet<number> = new Set([502, 503, 504]);

function parse(url: URL, answer: Answer): Discovery {
  if (NO_UPSTREAM.has(answer.status)) {
    throw new UnreachableError(
      `${url.host} responded with ${answer.status}: the Culvert server behind this proxy does not respond`,
      placeOf(url),
    );
  }
  if (answer.status !== 200)
    throw new Error(`${url.host} responded with ${answer.status} for ${url.pathname}. Is this a Culvert server?`);
  let json: unknown;
  try {
    json = JSON.parse(answer.body);
  } catch (cause) {
    // Only over TLS it is certain who answered.
    const portal =
      url.protocol === 'http:' && isPage(answer.body)
        ? ' If this network requires a login (captive portal), open a browser and log in'
        : '';
    const text = `the response of ${url.host} for ${url.pathname} is not JSON. Is this a Culvert server?${portal}`;
    throw new Error(text, { cause });
  }
  const found = discovery.safeParse(json);
  if (!found.success)
    throw new Error(`${url.host} sent a discovery document that this agent can't read`, { cause: found.error });
  return found.data;
}

function request(url: URL, outbound: Outbound, signal?: AbortSignal): Promise<Answer> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return Promise.reject(
      new Error(`${url.protocol}// is not supported. The server URL must start with https:// or http://`),
    );
  }
  const get = url.protocol === 'https:' ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const request = get(
      url,
      {
        agent: outbound.newAgent(url.protocol),
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
        headers: { accept: 'application/json' },
      },
      (response) => read(response, resolve, reject),
    );
    let connected = false;
    request.on('socket', (socket) => {
      connected = !socket.connecting; // through a proxy the way is open by then
      socket.once('connect', () => (connected = true));
    });
    request.on('error', (cause) => {
      if (cause instanceof ProxyError) {
        const { message, isPassing } = cause;
        return reject(isPassing ? new UnreachableError(message, placeOf(url), { cause }) : cause);
      }
      const why = `${url.host}: ${deadline.aborted ? `no response within ${TIMEOUT_MS / 1000} s` : connectFault(cause, Date.now())}`;
      reject(connected ? new Error(why, { cause }) : new UnreachableError(why, placeOf(url), { cause }));
    });
  });
}

function placeOf({ hostname, port, protocol }: URL): Place {
  const usual = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? usual : Number(port) };
}

function read(response: IncomingMessage, resolve: (answer: Answer) => void, reject: (error: Error) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BYTES) parts.push(chunk);
    else response.destroy(new Error('the discovery document is too long'));
  });
  response.on('error', reject);
  response.on('end', () => {
    const status = response.statusCode ?? 0;
    const location = status >= 301 && status <= 308 && status !== 304 ? response.headers.location : undefined;
    resolve({ status, location, body: Buffer.concat(parts).toString('utf8') });
  });
}
