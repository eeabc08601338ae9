/**
 * Which proxy a connection goes through: the one that flag or settings name for all, else the environment's, as curl reads it: `HTTPS_PROXY`,
 * `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in lower case first.
 */
import { BlockList, isIP } from 'node:net';
import type { HostPort } from '../addr.ts';
import { noProxyFor } from './no-proxy.ts';
import { parseProxy, type Proxy, PROXY_FORM } from './proxy.ts';

/** `proxy` of a flag or a settings file; the empty text means none at all. */
export interface NamedProxy {
  readonly text: string;
  readonly namedBy: string;
}

export interface ProxyRules {
  /** Undefined: directly. */
  proxyFor(place: HostPort, protocol: 'http:' | 'https:'): Proxy | undefined;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** @throws Error, for people, when what names a proxy is none. */
export function proxyRules(env: NodeJS.ProcessEnv, named?: NamedProxy): ProxyRules {
  const isExcluded = noProxyFor(first(env, 'no_proxy')?.text ?? '');
  const forAll = named === undefined ? undefined : read(named);
  const all = first(env, 'all_proxy');
  const choose = (variable: 'https_proxy' | 'http_proxy'): Proxy | undefined => {
    if (named !== undefined) return forAll;
    const found = first(env, variable) ?? all;
    return found === undefined ? undefined : read(found);
  };
  const byProtocol = { 'https:': choose('https_proxy'), 'http:': choose('http_proxy') } as const;
  return {
    // This machine is never behind a proxy.
    proxyFor: (place, protocol) => (isLocal(place.host) || isExcluded(place) ? undefined : byProtocol[protocol]),
  };
}

/** A variable that is set and not empty, in lower case first, as curl does. */
function first(env: NodeJS.ProcessEnv, lower: string): NamedProxy | undefined {
  for (const namedBy of [lower, lower.toUpperCase()]) {
    const text = env[namedBy];
    if (text !== undefined && text.trim() !== '') return { text, namedBy };
  }
  return undefined;
}

function read({ text, namedBy }: NamedProxy): Proxy | undefined {
  if (text.trim() === '') return undefined;
  const proxy = parseProxy(text, namedBy);
  // The text may hold a password: only its source is named.
  if (proxy === undefined) throw new Error(`${namedBy}: ${PROXY_FORM}`);
  return proxy;
}

function isLocal(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const family = isIP(plain);
  if (family === 0) return plain === 'localhost' || plain.endsWith('.localhost');
  return LOOPBACK.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
