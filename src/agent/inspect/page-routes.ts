/**
 * What the page's server answers: the page, the API in ngrok's shape, the live list, health, metrics. Called by page-server.ts with requests
 * that guard.ts has allowed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentSource } from './agent-source.ts';
import type { EventFeed } from './event-feed.ts';
import { EXPOSITION_TYPE, exposition } from './metrics/exposition.ts';
import { metricFamilies } from './metrics/metrics-view.ts';
import { PAGE_FILES } from './page/files.ts';
import type { Replays } from './replay.ts';
import { detail, ngrokRequest, REQUESTS_PATH, whyNoReplay } from './request-view.ts';
import { TUNNELS_PATH, tunnelDetail, tunnelList } from './tunnels-view.ts';
import type { StartedTunnels } from './started-tunnels.ts';
import type { Watch } from './watch.ts';

/** `{"id": "…"}`, or a tunnel to start. */
const MAX_POST_BYTES = 4_096;
const USUAL_LIMIT = 50;
const MAX_LIMIT = 500;

export interface PageParts {
  readonly source: AgentSource;
  readonly watch: Watch;
  readonly feed: EventFeed;
  readonly replays: Replays;
  /** Undefined: the agent has not begun. */
  readonly started: StartedTunnels | undefined;
}

export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

type Answer = (parts: PageParts, at: PageRequest) => void | Promise<void>;
type ByMethod = Readonly<Record<string, Answer>>;

const ROUTES: ReadonlyMap<string, ByMethod> = new Map<string, ByMethod>([
  // The page of ngrok's agent.
  ['/inspect/http', { GET: (_, { response }) => response.writeHead(302, { location: '/' }).end() }],
  ['/healthz', { GET: (_, { response }) => sendJson(response, 200, { status: 'ok' }) }],
  ['/readyz', { GET: readiness }],
  ['/metrics', { GET: metrics }],
  ['/api', { GET: (_, { response }) => sendJson(response, 200, API_INDEX) }],
  ['/api/status', { GET: ({ source }, { response }) => sendJson(response, 200, statusOf(source)) }],
  [
    TUNNELS_PATH,
    { GET: ({ source, watch }, { response }) => sendJson(response, 200, tunnelList(source, watch)), POST: startTunnel },
  ],
  [REQUESTS_PATH, { GET: listRequests, POST: replay, DELETE: clear }],
  ['/api/events', { GET: events }],
]);

const API_INDEX = { uri: '/api', requests_uri: REQUESTS_PATH, tunnels_uri: TUNNELS_PATH, events_uri: '/api/events' };

/** Answers. Rejects with a fault of our own code only. */
export async function answerPage(parts: PageParts, at: PageRequest): Promise<void> {
  const { request, response, url } = at;
  const file = PAGE_FILES.get(url.pathname);
  const byMethod =
    file === undefined ? routeOf(url.pathname) : { GET: () => send(response, 200, file.type, file.text) };
  if (byMethod === undefined) return refuse(response, 404, 'not found; /api lists the endpoints');
  const answer = byMethod[request.method === 'HEAD' ? 'GET' : (request.method ?? '')];
  if (answer !== undefined && Object.hasOwn(byMethod, request.method === 'HEAD' ? 'GET' : (request.method ?? '')))
    return answer(parts, at);
  response.setHeader('Allow', Object.keys(byMethod).join(', '));
  refuse(response, 405, 'this method is not supported; see the Allow header');
}

function routeOf(path: string): ByMethod | undefined {
  const tunnel = restBehind(path, TUNNELS_PATH);
  if (tunnel !== undefined) {
    return {
      GET: (parts, at) => oneTunnel(parts, at, tunnel),
      DELETE: ({ started }, { response }) => stopTunnel(started, response, tunnel),
    };
  }
  const request = restBehind(path, REQUESTS_PATH);
  if (request !== undefined) return { GET: (parts, at) => oneRequest(parts, at, request) };
  return ROUTES.get(path);
}

/** What stands behind `base/`, decoded. */
function restBehind(path: string, base: string): string | undefined {
  if (!path.startsWith(`${base}/`)) return undefined;
  try {
    return decodeURIComponent(path.slice(base.length + 1));
  } catch {
    return ''; // no such name
  }
}

/** What the page says above its list. */
export function statusOf(source: AgentSource): object {
  const { view } = source;
  const { tunnels = [], relays = [] } = view ?? {};
  return {
    state: view?.state ?? 'connecting',
    cause: view?.cause ?? null,
    version: source.version,
    tunnels: tunnels.map(({ name, url, target, state, fault }) => {
      return { name, public_url: url ?? null, target, state, fault: fault ?? null };
    }),
    relays: relays.map(({ name, network, endpoint, target, state, path, clients, fault }) => {
      const way = { endpoint: endpoint ?? null, path: path ?? null };
      return { name, network, ...way, target, state, clients, fault: fault ?? null };
    }),
  };
}

function readiness({ source }: PageParts, { response }: PageRequest): void {
  const { isOnline } = source;
  sendJson(response, isOnline ? 200 : 503, { status: isOnline ? 'ready' : 'not_connected' });
}

function metrics({ source, watch, feed }: PageParts, { response }: PageRequest): void {
  send(response, 200, EXPOSITION_TYPE, exposition(metricFamilies(source, watch, feed)));
}

function oneTunnel({ source, watch }: PageParts, { response }: PageRequest, name: string): void {
  const found = tunnelDetail(source, watch, name);
  if (found === undefined) return refuse(response, 404, 'no running tunnel has this name');
  sendJson(response, 200, found);
}

async function startTunnel({ source, watch, started }: PageParts, { request, response }: PageRequest): Promise<void> {
  if (started === undefined) return refuse(response, 503, 'the agent is starting; try again');
  const answer = await started.start(jsonIn(await bodyOf(request)));
  if ('status' in answer) return refuse(response, answer.status, answer.text);
  const found = tunnelDetail(source, watch, answer.name);
  if (found === undefined) return refuse(response, 502, 'the tunnel ended at once; see the log of the agent');
  sendJson(response, 201, found);
}

function stopTunnel(started: StartedTunnels | undefined, response: ServerResponse, name: string): void {
  const refusal =
    started === undefined ? { status: 503, text: 'the agent is starting; try again' } : started.stop(name);
  if (refusal !== undefined) return refuse(response, refusal.status, refusal.text);
  response.writeHead(204).end();
}

function listRequests({ watch }: PageParts, { response, url }: PageRequest): void {
  const text = url.searchParams.get('limit') ?? String(USUAL_LIMIT);
  const limit = Number(text);
  if (!/^\d{1,4}$/.test(text) || limit > MAX_LIMIT)
    return refuse(response, 400, `limit must be a number from 0 to ${MAX_LIMIT}`);
  const requests = watch.ring.list(limit, url.searchParams.get('tunnel_name') ?? undefined).map(ngrokRequest);
  sendJson(response, 200, { requests, uri: REQUESTS_PATH });
}

async function oneRequest({ watch }: PageParts, { response }: PageRequest, id: string): Promise<void> {
  const record = watch.ring.find(id);
  if (record === undefined) return refuse(response, 404, 'this request is no longer recorded');
  sendJson(response, 200, await detail(record));
}

function clear({ watch }: PageParts, { response }: PageRequest): void {
  watch.ring.clear();
  response.writeHead(204).end();
}

function events({ feed }: PageParts, { request, response }: PageRequest): void {
  if (request.method === 'HEAD') return send(response, 200, 'text/event-stream; charset=utf-8', '');
  if (!feed.open(response)) refuse(response, 503, 'too many pages are open; close one');
}

async function replay({ watch, replays }: PageParts, { request, response }: PageRequest): Promise<void> {
  const id = idIn(await bodyOf(request));
  if (id === undefined) return refuse(response, 400, 'the request ID is missing; send {"id": "…"}');
  const record = watch.ring.find(id);
  const target = record === undefined ? undefined : watch.serviceOf(record);
  if (record === undefined || target === undefined) return refuse(response, 404, 'this request is no longer recorded');
  const obstacle = whyNoReplay(record);
  if (obstacle !== undefined) return refuse(response, 409, `this request can't be replayed: ${obstacle}`);
  const outcome = await replays.send(record, target);
  if (!outcome.ok) return refuse(response, outcome.reason === 'busy' ? 503 : 502, outcome.text);
  // ngrok's clients take 204 alone for success.
  response.writeHead(204, { location: `${REQUESTS_PATH}/${outcome.id}` }).end();
}

function idIn(text: string | undefined): string | undefined {
  const value = jsonIn(text);
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined; // not JSON: the caller says what is
  }
}

/** Undefined: it is longer than anything that is meant here, or it broke off. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MAX_POST_BYTES) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined; // who asked has left
  }
  return Buffer.concat(parts).toString();
}

/** In the shape in which ngrok says no. */
export function refuse(response: ServerResponse, status: number, text: string): void {
  sendJson(response, status, { error_code: status, status_code: status, msg: text });
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`);
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
}
