/**
 * The ways to a server: the addresses that it announces, and the https port of its API. Two are dialed side by side, and the one on which the
 * server took the key comes first from then on. Used by connect.ts; what keeps it between runs is the caller's.
 */
import type { TLSSocket } from 'node:tls';
import type { Discovery } from '../../wire/discovery.ts';
import { dialServer } from './dial.ts';
import { type AgentAddress, agentAddress } from './discovery.ts';

/** Before the next address is tried beside one that has not answered (RFC 8305 §5 has 250 ms for TCP alone). */
const STAGGER_MS = 300;
const HTTPS_PORT = 443;

/** Keeps the way to one server between runs. Neither method throws. */
export interface WayStore {
  read(): string | undefined;
  keep(address: string): void;
}

export interface Dialed {
  readonly socket: TLSSocket;
  readonly address: AgentAddress;
}

export type Dial = (address: AgentAddress, signal: AbortSignal) => Promise<TLSSocket>;

/** `host:port`, for display and for the store. */
export function wayName({ host, port }: AgentAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Where to dial by `found`, in order. An older server names one address; its https port may take agents all the same. */
export function addressesOf(found: Discovery, server: URL): AgentAddress[] {
  const named = found.agent_addresses ?? [found.agent_address];
  const all = named.map((one) => agentAddress({ ...found, agent_address: one }, server));
  if (server.protocol === 'https:') {
    const host = server.hostname.replace(/^\[(.*)\]$/, '$1');
    all.push({ host, port: HTTPS_PORT, fingerprint: found.agent_fingerprint?.toLowerCase() });
  }
  return all.filter((one, at) => all.findIndex((other) => wayName(other) === wayName(one)) === at);
}

/** Which way comes first. */
export class Ways {
  readonly #store: WayStore | undefined;
  #best: string | undefined;

  /** Without a `store` this process alone remembers. */
  constructor(store?: WayStore) {
    this.#store = store;
    this.#best = store?.read();
  }

  order(addresses: readonly AgentAddress[]): AgentAddress[] {
    const isBest = (one: AgentAddress): boolean => wayName(one) === this.#best;
    return [...addresses.filter(isBest), ...addresses.filter((one) => !isBest(one))];
  }

  /** The server took the key on it. */
  proven(address: AgentAddress): void {
    const name = wayName(address);
    if (name === this.#best) return;
    this.#best = name;
    this.#store?.keep(name);
  }

  /** The connection ended before the server took the key: another way is first the next time. */
  failed(address: AgentAddress, addresses: readonly AgentAddress[]): void {
    const other = addresses.find((one) => wayName(one) !== wayName(address));
    if (other !== undefined) this.#best = wayName(other);
  }
}

/**
 * Dials the first, and each next one after 300 ms or as soon as all before it have failed. The first whose handshake is done wins, and the others are
 * closed. Rejects with the error of the first address when none can be reached.
 */
export async function dialFirst(
  addresses: readonly AgentAddress[],
  signal: AbortSignal,
  dial: Dial = dialServer,
): Promise<Dialed> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const tries: Array<Promise<Dialed>> = [];
  let won: Dialed | undefined;
  for (const address of addresses) {
    tries.push(dial(address, stop).then((socket) => ({ socket, address })));
    const first = firstOf(tries);
    won = await (tries.length === addresses.length ? first : Promise.race([first, pause(STAGGER_MS)]));
    if (won !== undefined) break;
  }
  over.abort();
  // Two may have come in the same turn.
  for (const one of tries) one.then(({ socket }) => socket !== won?.socket && socket.destroy(), ignore);
  if (won !== undefined) return won;
  // All have failed, and the first says why.
  return tries[0] ?? Promise.reject(new Error('the server announces no agent address'));
}

/** The first that succeeds; undefined when all have failed. */
function firstOf(tries: ReadonlyArray<Promise<Dialed>>): Promise<Dialed | undefined> {
  return Promise.any(tries).catch(() => undefined);
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), ms).unref());
}

function ignore(): void {}
