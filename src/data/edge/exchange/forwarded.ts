/**
 * What the edge says about a visitor (`X-Forwarded-For`, `-Proto`, `-Host`, `X-Real-IP`), and which tunnel its Host means. Both
 * are kept per connection for as long as the Host and the routing table stay the same: a browser asks for one host a hundred
 * times. A visitor's own values count only when its address is one of `api.trusted_proxies`.
 */
import { BlockList, isIPv6 } from 'node:net';
import { canonicalIp } from '../../../base/net/addr.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { SentRecord } from '../../inspect/recorder.ts';
import type { RouteTable } from '../../routing/table.ts';
import type { AddressLoad } from '../../entrance/admission.ts';
import type { ConnectionNames } from '../../entrance/connection-names.ts';
import type { Head } from '../../../http1/head.ts';
import { isUpstreamHost } from '../../../wire/upstream-form.ts';
import type { PublicOrigin } from '../rewrite/rewrite.ts';

/** Addresses that a request has come through. Proxies in a row are three or four; what has more comes to this edge again and again. */
const MAX_HOPS = 32;
/** So many addresses have at least so many characters. */
const MAX_HOPS_CHARS = MAX_HOPS * '1.1.1.1,'.length;

/** A visitor without an address from the trusted proxy. */
const UNKNOWN = 'unknown';

/** Where a connection's requests come from. */
export interface VisitorOrigin {
  readonly ip: string;
  readonly tls: boolean;
  /** Hosts that may be asked for; null: all. */
  readonly names: ConnectionNames | null;
  /** What its address has under way; null: uncounted. */
  readonly load: AddressLoad | null;
  /** Visitors speak HTTP/2: their heads are read in the form of HTTP/1.1 all the same. */
  readonly isHttp2?: true;
  /** No visitor's: the control plane sends it, with the lines besides that tell the service why, each with its CR LF. */
  readonly sentBy?: { readonly lines: string; readonly record: SentRecord };
}

export class ForwardedLines {
  readonly #ip: string;
  readonly #proto: 'http' | 'https';
  readonly #isTrusted: boolean;
  readonly #trusted: BlockList | null;
  #host: Buffer | null = null;
  #lines: Buffer | null = null;
  #origin: PublicOrigin | null = null;
  #entry: RouteEntry | undefined;
  #version = -1;
  readonly #names: ConnectionNames | null;
  readonly #ownLines: string;
  /** The Host of the last `lookUp` is none that its connection was made for. */
  isMisdirected = false;

  constructor(trusted: BlockList | null, { ip, tls, names, sentBy }: VisitorOrigin) {
    this.#ip = ip;
    this.#proto = tls ? 'https' : 'http';
    this.#names = names;
    this.#ownLines = sentBy?.lines ?? '';
    this.#trusted = trusted;
    this.#isTrusted = sentBy === undefined && trusted !== null && isListed(trusted, ip);
  }

  /** The tunnel that the head's Host means. */
  lookUp(bytes: Buffer, head: Head, table: RouteTable): RouteEntry | undefined {
    if (this.#isSameHost(bytes, head)) {
      if (this.#version === table.version) return this.#entry;
    } else {
      this.#host = Buffer.from(bytes.subarray(head.hostStart, head.hostEnd));
      this.#lines = this.#origin = null;
    }
    const host = withoutPort(bytes.toString('latin1', head.hostStart, head.hostEnd));
    this.#version = table.version;
    this.#entry = table.findByHost(host);
    // A proxy that is trusted asks for all of its visitors' hosts by whatever name it connects to.
    this.isMisdirected = this.#names !== null && !this.#isTrusted && !this.#names.allow(host);
    return this.#entry;
  }

  /**
   * The visitor's true address, for the rules that go by it: of a trusted proxy's request what the proxy says, `unknown` where that is no address.
   */
  clientIp(bytes: Buffer, head: Head): string {
    return this.#isTrusted && head.forwardedForCount > 0 ? this.#client(forwardedFor(bytes, head), UNKNOWN) : this.#ip;
  }

  /**
   * Whether a tunnel leads back to this edge by way of a trusted proxy, for which no limit per address holds: each round adds to what the
   * proxy says. Without one the agent's address has its share of connections, and the loop ends there.
   */
  isLoop(bytes: Buffer, head: Head): boolean {
    if (!this.#isTrusted || head.forwardedForCount === 0) return false;
    const chars = head.forwardedForEnd - head.forwardedForStart;
    if (head.forwardedForCount === 1 && chars < MAX_HOPS_CHARS) return false;
    return forwardedFor(bytes, head).length > MAX_HOPS;
  }

  /** Whether the visitor came by https: of a trusted proxy's request what the proxy says. */
  isHttps(bytes: Buffer, head: Head): boolean {
    return (this.#isTrusted ? this.#protoOf(bytes, head) : this.#proto) === 'https';
  }

  /** The lines for this request, each ended by CR LF. Call after `lookUp`. */
  lines(bytes: Buffer, head: Head): Buffer {
    if (this.#isTrusted) return this.#fromProxy(bytes, head);
    this.#lines ??= this.#build(this.#ip, this.#ip, this.#proto, (this.#host as Buffer).toString('latin1'));
    return this.#lines;
  }

  /** The public name of this request, as `lines` says it. Call after `lookUp`. */
  origin(bytes: Buffer, head: Head): PublicOrigin {
    if (this.#isTrusted) {
      const said = bytes.toString('latin1', head.forwardedHostStart, head.forwardedHostEnd);
      return { scheme: this.#protoOf(bytes, head), host: isUpstreamHost(said) ? said : this.#hostText() };
    }
    this.#origin ??= { scheme: this.#proto, host: this.#hostText() };
    return this.#origin;
  }

  #hostText(): string {
    return (this.#host as Buffer).toString('latin1');
  }

  /** The last address that no trusted proxy has. What is no address ends the chain: then `unknown`, or without it the last one that is known. */
  #client(chain: readonly string[], unknown: string | null): string {
    let client = this.#ip;
    for (let i = chain.length - 1; i >= 0 && isListed(this.#trusted as BlockList, client); i--) {
      const next = addressIn(chain[i] as string);
      if (next === undefined) return unknown ?? client;
      client = next;
    }
    return client;
  }

  #fromProxy(bytes: Buffer, head: Head): Buffer {
    const chain = head.forwardedForCount > 0 ? forwardedFor(bytes, head) : [];
    const client = this.#client(chain, null);
    const host =
      head.forwardedHostEnd > 0 ? bytes.toString('latin1', head.forwardedHostStart, head.forwardedHostEnd) : '';
    return this.#build(
      [...chain, this.#ip].join(', '),
      client,
      this.#protoOf(bytes, head),
      host !== '' ? host : (this.#host as Buffer).toString('latin1'),
    );
  }

  #protoOf(bytes: Buffer, head: Head): 'http' | 'https' {
    if (head.forwardedProtoEnd === 0) return this.#proto;
    const said = bytes.toString('latin1', head.forwardedProtoStart, head.forwardedProtoEnd).toLowerCase();
    return said === 'http' || said === 'https' ? said : this.#proto;
  }

  #build(chain: string, client: string, proto: string, host: string): Buffer {
    return Buffer.from(
      `X-Forwarded-For: ${chain}\r\nX-Forwarded-Proto: ${proto}\r\nX-Forwarded-Host: ${host}\r\nX-Real-IP: ${client}\r\n${this.#ownLines}`,
      'latin1',
    );
  }

  #isSameHost(bytes: Buffer, head: Head): boolean {
    const host = this.#host;
    const length = head.hostEnd - head.hostStart;
    if (host === null || host.length !== length) return false;
    for (let i = 0; i < length; i++) if (host[i] !== bytes[head.hostStart + i]) return false;
    return true;
  }
}

/** All values of all X-Forwarded-For lines, in order. */
function forwardedFor(bytes: Buffer, head: Head): string[] {
  const values: string[] = [];
  for (let l = 0; l < head.lineCount; l++) {
    const line = bytes.toString('latin1', head.lines[l], (head.lines[l + 1] as number) - 2);
    const match = /^x-forwarded-for:(.*)$/i.exec(line);
    if (match === null) continue;
    for (const value of (match[1] as string).split(',')) if (value.trim() !== '') values.push(value.trim());
  }
  return values;
}

/** The address of `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1` or `[2001:db8::1]:567`: some proxies write the port of their visitor too. */
function addressIn(text: string): string | undefined {
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([^:]*):\d+$/.exec(text)?.[1] ?? text;
  return canonicalIp(address);
}

/** Of `api.trusted_proxies`. */
export function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

/** Whether `ip` is in one of the list's networks. */
export function isListed(list: BlockList, ip: string): boolean {
  return list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

export function withoutPort(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
