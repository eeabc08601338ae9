/**
 * The way in for every connection to a public port: finds its address, accepts it when the limits allow, and hands it on. One per
 * data node, for HTTP listeners and TCP ports. Behind a load balancer (`edge.proxy_protocol`) the address is in a PROXY header,
 * which is believed of the operator's own load balancers alone; without a whole and valid one in time the connection is cut.
 */
import type { Socket } from 'node:net';
import { type NetworkSet, plainIp } from '../../base/net/addr.ts';
import type { Logger } from '../../base/log.ts';
import type { AddressLoad, Admission } from './admission.ts';
import type { Drops } from '../faults/drops.ts';
import { type Proxied, type ProxyFault, readProxyHeader } from './proxy-header.ts';

export interface EntranceOptions {
  /** Load balancers whose header is asked for and believed; null: visitors come by themselves. */
  readonly balancers: NetworkSet | null;
  /** They speak for many: the limit per address is not theirs. */
  readonly proxies: NetworkSet;
  /** The PROXY header must be whole by then. */
  readonly headerTimeoutMs: number;
}

export interface EntranceDeps {
  readonly admission: Admission;
  readonly drops: Drops;
  readonly log: Logger;
}

/** The source of a connection, once it is counted in. */
export interface Entered extends Proxied {
  /** What this address has under way; null: it speaks for many, and no limit per address is its own. */
  readonly load: AddressLoad | null;
  /** It is no visitor's: counted out here, and by its new owner in. May be called twice. */
  readonly leave: () => void;
}

type Refusal = ProxyFault | 'not_listed' | 'late' | 'left';

/** The same trouble is said once in so long; drops.ts says how often it was. */
const SAY_AGAIN_MS = 60_000;

const WORDS: Readonly<Record<Refusal, string>> = {
  not_listed:
    'the peer is not in edge.proxy_protocol_from. If it is your load balancer, add its address. Otherwise, block other clients from this port',
  no_header:
    'it does not start with a PROXY protocol header. Turn on send-proxy-v2 in the load balancer, or set edge.proxy_protocol = false',
  version_1: 'its PROXY protocol header has version 1. Set the load balancer to version 2 (send-proxy-v2)',
  malformed: 'its PROXY protocol header is invalid',
  late: 'its PROXY protocol header did not arrive in time',
  left: 'it closed before its PROXY protocol header was complete',
};

export class Entrance {
  readonly #options: EntranceOptions;
  readonly #deps: EntranceDeps;
  /** Those whose header is awaited. Counted in admission.ts, which bounds them. */
  readonly #waiting = new Set<Socket>();
  readonly #said = new Map<Refusal, number>();

  constructor(options: EntranceOptions, deps: EntranceDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Calls `onEntered` with who it is, at once or when the header has come, once it is counted in; a connection that must not enter is cut.
   * Bytes behind the header are those that the next reader gets.
   */
  enter(socket: Socket, onEntered: (from: Entered) => void): void {
    const { balancers, proxies } = this.#options;
    const { admission } = this.#deps;
    const ip = plainIp(socket.remoteAddress ?? '');
    const own: Proxied = { ip, port: socket.remotePort ?? 0, secure: false };
    if (balancers !== null && ip !== '' && !balancers.has(ip)) return this.#refuse(socket, 'not_listed', ip);
    const isProxy = balancers !== null || proxies.has(ip);
    // No address: it has left already.
    if (ip === '' || !admission.admit(ip, isProxy)) {
      socket.resetAndDestroy();
      return;
    }
    if (balancers !== null) return this.#awaitHeader(socket, own, onEntered);
    const leave = this.#releaseOnce(ip);
    socket.once('close', leave);
    onEntered({ ...own, load: isProxy ? null : admission.loadOf(ip), leave });
  }

  /** Cuts those whose header has not come. */
  close(): void {
    for (const socket of [...this.#waiting]) socket.destroy();
  }

  /** The load balancer has been counted in; its visitor takes its place once known. */
  #awaitHeader(socket: Socket, balancer: Proxied, onEntered: (from: Entered) => void): void {
    const { admission } = this.#deps;
    let counted: string | null = balancer.ip;
    let held: Buffer = Buffer.alloc(0);
    const onReadable = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      held = Buffer.concat([held, chunk]);
      const header = readProxyHeader(held);
      if (header === 'more') return;
      stop();
      if ('fault' in header) return this.#refuse(socket, header.fault, balancer.ip);
      if (header.size < held.length) socket.unshift(held.subarray(header.size));
      const from = header.from ?? balancer;
      const isProxy = from === balancer || this.#options.proxies.has(from.ip);
      counted = null;
      if (!admission.move(balancer.ip, from.ip, isProxy)) {
        socket.resetAndDestroy();
        return;
      }
      const leave = this.#releaseOnce(from.ip);
      socket.once('close', leave);
      onEntered({ ...from, load: isProxy ? null : admission.loadOf(from.ip), leave });
    };
    // A load balancer's health check may connect and leave: nothing is wrong with that.
    const onEnd = (): void => {
      stop();
      if (held.length === 0) socket.destroy();
      else this.#refuse(socket, 'left', balancer.ip);
    };
    const onError = (): void => {};
    const timer = setTimeout(() => {
      stop();
      this.#refuse(socket, 'late', balancer.ip);
    }, this.#options.headerTimeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(socket);
      socket.off('readable', onReadable).off('end', onEnd).off('error', onError);
    };
    socket.once('close', () => {
      stop();
      if (counted !== null) admission.release(counted);
    });
    this.#waiting.add(socket);
    socket.on('readable', onReadable).on('end', onEnd).on('error', onError);
  }

  #releaseOnce(ip: string): () => void {
    let isCounted = true;
    return () => {
      if (isCounted) this.#deps.admission.release(ip);
      isCounted = false;
    };
  }

  #refuse(socket: Socket, why: Refusal, from: string): void {
    const { drops, log } = this.#deps;
    drops.add('proxy_header');
    socket.resetAndDestroy();
    const now = performance.now();
    const before = this.#said.get(why);
    if (before !== undefined && now - before < SAY_AGAIN_MS) return;
    this.#said.set(why, now);
    log.warn({ from, reason: why }, `a connection to a public port was closed: ${WORDS[why]}`);
  }
}
