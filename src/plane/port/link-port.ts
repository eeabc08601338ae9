/**
 * The Link over a port: the data node's end asks, the control plane's end answers. Routes and relays of a snapshot go in slices, so that ten thousand of
 * them hold up neither side; changes go as they are, in order.
 */
import type { Logger } from '../../base/log.ts';
import { messageOf } from '../../base/errors.ts';
import type { AccessBatch } from '../access-log.ts';
import type { EventBatch } from '../events.ts';
import type { InspectionBatch } from '../inspection.ts';
import type { AdmitAnswer, AttachAnswer, ClaimAnswer, ClaimQuestion, Link, Refusal } from '../link.ts';
import type { AttachQuestion, RelayDevice, RelayRoute } from '../relays.ts';
import type { Delta, Route, Snapshot } from '../routes.ts';
import type { PortCalls } from './calls.ts';

/** An agent that waits gets an answer by then, and comes again (data/gateway/claims/token-queues.ts waits as long). */
const DECISION_MS = 15_000;
/** All rows of a large server are read for it. */
const SNAPSHOT_MS = 60_000;
/** A certificate is worth some minutes; handshakes stop waiting on their own clock. */
const CERTIFICATE_MS = 10 * 60_000;
/** A report is sent again after that (data/report/outbox.ts waits as long). */
const STORED_MS = 30_000;
const ROUTES_OF_A_SLICE = 250;
/** Networks count too. */
const DEVICES_OF_A_SLICE = 1_000;
/** Changes that the node has not worked off: beyond it they are held back, and the node asks for a snapshot once it has caught up. */
const MAX_UNREAD = 100_000;
const RETRY_MS = 250;

interface Slice {
  /** Of the question: what an earlier one still brings is left out. */
  readonly of: number;
  readonly routes: readonly Route[];
  /** One with many devices comes in pieces, one behind the other. */
  readonly relays: readonly RelayRoute[];
}

interface Admission {
  readonly token: string;
  readonly remoteIp: string | undefined;
}

type Head = Omit<Snapshot, 'routes' | 'relays'>;

/** A relay whose devices are still coming. */
type Growing = Omit<RelayRoute, 'devices'> & { readonly devices: RelayDevice[] };

/** The data node's end. */
export function linkOverPort(calls: PortCalls, log: Logger): Link {
  const listeners = new Set<(delta: Delta) => void>();
  let asked = 0;
  let routes: Route[] = [];
  let relays: Growing[] = [];
  calls.hear('delta', (delta: Delta) => {
    for (const listener of listeners) listener(delta);
  });
  calls.hear('slice', (slice: Slice) => {
    if (slice.of !== asked) return;
    for (const route of slice.routes) routes.push(route);
    for (const piece of slice.relays) addPiece(relays, piece);
  });
  const decide = async <T>(what: string, question: unknown): Promise<T | Refusal> => {
    try {
      return await calls.ask<T>(what, question, { timeoutMs: DECISION_MS });
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'no response from the control plane: the agent must retry');
      return { ok: false, code: 'overloaded', message: 'The server is too busy. Try again in a few seconds.' };
    }
  };
  return {
    snapshot: async (): Promise<Snapshot> => {
      const of = ++asked;
      routes = [];
      relays = [];
      const head = await calls.ask<Head>('snapshot', of, { timeoutMs: SNAPSHOT_MS });
      return { ...head, routes, relays };
    },
    onDelta: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    admit: (token, remoteIp) => decide<AdmitAnswer>('admit', { token, remoteIp } satisfies Admission),
    recheck: (tokenIds) => calls.ask('recheck', tokenIds, { timeoutMs: DECISION_MS }),
    claim: (question) => decide<ClaimAnswer>('claim', question),
    attach: (question) => decide<AttachAnswer>('attach', question),
    wantCertificate: (host) =>
      calls.ask<boolean>('wantCertificate', host, { timeoutMs: CERTIFICATE_MS }).catch(() => false),
    report: (batch) => calls.ask('report', batch, { timeoutMs: STORED_MS }),
    inspect: (batch) => calls.ask('inspect', batch, { timeoutMs: STORED_MS, transfer: buffersOf(batch) }),
    logAccess: (batch) => calls.ask('logAccess', batch, { timeoutMs: STORED_MS }),
  };
}

/** The control plane's end. `onAllowed` hears which session may serve which tunnel, before the session does. Returns what ends it. */
export function serveLink(
  calls: PortCalls,
  link: Link,
  onAllowed: (agentId: string, tunnelId: string) => void,
): () => void {
  calls.answer('snapshot', async (of: number): Promise<Head> => {
    const { routes, relays, ...head } = await link.snapshot();
    for (const slice of slicesOf(routes, relays)) {
      calls.tell('slice', { of, ...slice } satisfies Slice);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return head;
  });
  calls.answer('admit', ({ token, remoteIp }: Admission) => link.admit(token, remoteIp));
  calls.answer('recheck', (tokenIds: readonly string[]) => link.recheck(tokenIds));
  calls.answer('claim', async (question: ClaimQuestion): Promise<ClaimAnswer> => {
    const answer = await link.claim(question);
    if (answer.ok) onAllowed(question.agentId, answer.route.tunnelId);
    return answer;
  });
  calls.answer('attach', (question: AttachQuestion) => link.attach(question));
  calls.answer('wantCertificate', (host: string) => link.wantCertificate(host));
  calls.answer('report', (batch: EventBatch) => link.report(batch));
  calls.answer('inspect', (batch: InspectionBatch) => link.inspect(batch));
  calls.answer('logAccess', (batch: AccessBatch) => link.logAccess(batch));
  return tellDeltas(calls, link);
}

function* slicesOf(routes: readonly Route[], relays: readonly RelayRoute[]): Generator<Omit<Slice, 'of'>> {
  for (let at = 0; at < routes.length; at += ROUTES_OF_A_SLICE)
    yield { routes: routes.slice(at, at + ROUTES_OF_A_SLICE), relays: [] };
  let some: RelayRoute[] = [];
  let room = DEVICES_OF_A_SLICE;
  for (const relay of relays) {
    let at = 0;
    do {
      const devices = relay.devices.slice(at, at + room);
      some.push({ ...relay, devices });
      at += devices.length;
      room -= devices.length + 1;
      if (room > 0) continue;
      yield { routes: [], relays: some };
      some = [];
      room = DEVICES_OF_A_SLICE;
    } while (at < relay.devices.length);
  }
  if (some.length > 0) yield { routes: [], relays: some };
}

/** Takes the next piece of a relay, or the first of the next one. */
function addPiece(relays: Growing[], { devices, ...relay }: RelayRoute): void {
  const last = relays.at(-1);
  if (last?.networkId !== relay.networkId) relays.push({ ...relay, devices: [...devices] });
  else for (const device of devices) last.devices.push(device);
}

/** A change that is left out is a gap in the numbers: the last one of them, sent once there is room, makes the node ask for everything. */
function tellDeltas(calls: PortCalls, link: Link): () => void {
  let left: Delta | undefined;
  const retry = setInterval(() => {
    if (left === undefined || calls.unread >= MAX_UNREAD / 2) return;
    calls.tell('delta', left);
    left = undefined;
  }, RETRY_MS);
  retry.unref();
  const unsubscribe = link.onDelta((delta) => {
    if (left !== undefined || calls.unread >= MAX_UNREAD) left = delta;
    else calls.tell('delta', delta);
  });
  return () => {
    clearInterval(retry);
    unsubscribe();
  };
}

/** What the bytes of a batch lie in: one buffer, made for it (data/inspect/record-queue.ts). */
function buffersOf({ records, websockets = [] }: InspectionBatch): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const frames = websockets.flatMap((websocket) => websocket.frames ?? []);
  for (const { buffer } of [...records.map(({ requestHead }) => requestHead), ...frames.map(({ bytes }) => bytes)]) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) buffers.add(buffer);
  }
  return [...buffers];
}
