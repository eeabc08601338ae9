/** Settings of a server under test: everything on loopback, in one folder, on ports of its own. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

export interface Ports {
  readonly api: number;
  readonly http: number;
  readonly https: number;
  readonly agents: number;
  /** First and last public port of tcp tunnels. */
  readonly tcp: readonly [number, number];
}

/**
 * Below the range from which systems give out ports by themselves: what was free stays so until it is used, though other tests open connections
 * and listeners meanwhile. Ends where the default of edge.tcp_ports begins: a listener in that range is refused as a clash.
 */
const SINGLE = { low: 11_000, size: 250, blocks: 36 };
const RANGES = { low: 21_000, size: 300, blocks: 36 };
const TCP_COUNT = 5;

/**
 * A block of ports that is this process's until it ends: its first port is held, and what a process holds is released even when it is killed.
 * Between the moment in which a port was found free and the one in which a server of the test has it, another process must not get the same.
 */
async function claimBlock({ low, size, blocks }: typeof SINGLE): Promise<{ first: number; count: number }> {
  const begin = Math.floor(Math.random() * blocks);
  for (let at = 0; at < blocks; at++) {
    const first = low + ((begin + at) % blocks) * size;
    const claim = await listenOn(first).catch(() => undefined);
    if (claim === undefined) continue;
    claim.unref();
    return { first: first + 1, count: size - 1 };
  }
  throw new Error(`all ${blocks} blocks of ports from ${low} are held: too many test processes run at once`);
}

/** One after the other within the process's block: a port that a server of the last test has just left rests for as long as possible. */
function inTurn(blocks: typeof SINGLE, step: number): () => Promise<number> {
  let block: ReturnType<typeof claimBlock> | undefined;
  let place = -1;
  return async () => {
    const { first, count } = await (block ??= claimBlock(blocks));
    place = (place + 1) % Math.floor(count / step);
    return first + place * step;
  };
}
/** A port that no other test process takes. It may be in use by this one: bind it to know. */
export const nextPort = inTurn(SINGLE, 1);
const nextRange = inTurn(RANGES, TCP_COUNT);

/** Ports that are free now. A server that must come back on the same ones can't use 0. */
export async function freePorts(): Promise<Ports> {
  const held = await Promise.all([holdAny(), holdAny(), holdAny(), holdAny()]);
  const [api, http, https, agents] = held.map(({ port }) => port) as [number, number, number, number];
  const ports = { api, http, https, agents, tcp: await freeRange() };
  await Promise.all(held.map(({ release }) => release()));
  return ports;
}

/** One port that is free now, for a program that needs its number. */
export async function freePort(): Promise<number> {
  const { port, release } = await holdAny();
  await release();
  return port;
}

async function freeRange(): Promise<[number, number]> {
  for (;;) {
    const first = await nextRange();
    const range = Array.from({ length: TCP_COUNT }, (_, index) => first + index);
    const outcomes = await Promise.allSettled(range.map(hold));
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.release();
    if (outcomes.every(({ status }) => status === 'fulfilled')) return [first, first + TCP_COUNT - 1];
  }
}

interface Held {
  readonly port: number;
  readonly release: () => Promise<void>;
}

async function holdAny(): Promise<Held> {
  for (;;) {
    const held = await hold(await nextPort()).catch(() => undefined);
    if (held !== undefined) return held;
  }
}

async function hold(wanted: number): Promise<Held> {
  const server = await listenOn(wanted);
  const release = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { port: wanted, release };
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export interface ConfigOptions {
  readonly folder: string;
  readonly ports: Ports;
  /** Added at the end. Whole tables only: keys of the tables above can't be repeated. */
  readonly toml?: string;
  /** Where API and agent listener are; loopback when not given. */
  readonly address?: string;
  /** Keys for [edge]. */
  readonly edge?: string;
  /** `edge.tls.mode`; self_signed when not given. */
  readonly tls?: string;
}

/** With a certificate it would be the https one; tests take that where they want it, by a `public_url` of theirs. */
function plainUrl(ports: Ports): string {
  return `public_url = "http://{subdomain}.localhost:${ports.http}"`;
}

/**
 * The settings file. Limits per address are off: all visitors of a test come from one. Handshakes may take a minute: a machine that is busy with
 * other tests stands still for ten seconds, and the server would cut those who wait for it.
 */
export function configText({ folder, ports, toml = '', address = '127.0.0.1', edge = '', tls }: ConfigOptions): string {
  return `data_dir = ${JSON.stringify(join(folder, 'data'))}
[log]
level = "info"
[api]
listen = "${address}:${ports.api}"
[limits]
auth_burst = 1000
[edge]
http_listen = "127.0.0.1:${ports.http}"
https_listen = "127.0.0.1:${ports.https}"
${edge.includes('public_url') ? '' : plainUrl(ports)}
tcp_ports = "${ports.tcp[0]}-${ports.tcp[1]}"
${edge}
[edge.tls]
mode = "${tls ?? 'self_signed'}"
[edge.limits]
max_connections_per_ip = 0
tls_handshakes_per_second_per_ip = 0
tls_handshake_timeout_seconds = 60
[agents]
listen = "${address}:${ports.agents}"
${toml}`;
}
