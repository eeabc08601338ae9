/**
 * A proxy on the way out, as its user names it: `http://`, `https://`, `socks5://` or `socks5h://`, with or without user and password.
 * Its text and its errors name host, port and the setting, never the password.
 */
import { isIP } from 'node:net';
import { messageOf } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import { formatHostPort, type HostPort, isHostName } from '../addr.ts';

/** What a proxy speaks. `socks5` gets addresses that this machine looked up, `socks5h` gets names. */
export type ProxyKind = 'http' | 'https' | 'socks5' | 'socks5h';

export interface Proxy extends HostPort {
  readonly kind: ProxyKind;
  readonly user: string | undefined;
  readonly password: Secret;
  /** The setting or variable that names it, for messages: `HTTPS_PROXY`. */
  readonly namedBy: string;
}

/** As Go and most programs have it; a proxy without a scheme speaks HTTP. */
const PORTS: Readonly<Record<ProxyKind, number>> = { http: 80, https: 443, socks5: 1080, socks5h: 1080 };

export const PROXY_FORM =
  'is not a proxy: use http://host:port, https://host:port, socks5://host:port or socks5h://host:port';

/** Undefined when `text` is no proxy. */
export function parseProxy(text: string, namedBy: string): Proxy | undefined {
  const trimmed = text.trim();
  const match = /^([a-z][a-z\d+.-]*):\/\//i.exec(trimmed);
  const kind = (match?.[1] ?? 'http').toLowerCase();
  if (!isKind(kind)) return undefined;
  const url = URL.parse(`proxy://${trimmed.slice(match?.[0].length ?? 0)}`);
  if (url === null || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && !isHostName(host)) return undefined;
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined) return undefined;
  return {
    kind,
    host,
    port: url.port === '' ? PORTS[kind] : Number(url.port),
    user: user === '' && password === '' ? undefined : user,
    password: new Secret(password),
    namedBy,
  };
}

function isKind(text: string): text is ProxyKind {
  return Object.hasOwn(PORTS, text);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a lone % is no URL: its reader says so
  }
}

/** `proxy.example.com:3128 (HTTPS_PROXY)`. */
export function proxyName(proxy: Proxy): string {
  return `${formatHostPort(proxy)} (${proxy.namedBy})`;
}

/** The proxy did not open a way: it refused, it can't be reached, or it is no proxy. The message is for people. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly proxy: HostPort;
  /** The way may open by itself: the proxy, or what is behind it, can't be reached now. */
  readonly isPassing: boolean;

  constructor(proxy: Proxy, why: string, options: ErrorOptions & { readonly isPassing: boolean }) {
    super(`proxy ${proxyName(proxy)}: ${why}`, options);
    this.proxy = { host: proxy.host, port: proxy.port };
    this.isPassing = options.isPassing;
  }
}

/** The connection to the proxy itself failed. */
export function unreachableProxy(proxy: Proxy, cause: unknown): ProxyError {
  const why = `can't be reached: ${messageOf(cause)}`;
  return new ProxyError(proxy, `${why}. Check the address in ${proxy.namedBy}`, { cause, isPassing: true });
}
