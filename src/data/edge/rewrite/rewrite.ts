/**
 * What a service gets in place of the visitor's host and path, compiled from its agent's claim. Requests: forward-rewritten.ts; responses:
 * response-lines.ts. A URL is changed where it names exactly the public host or the service's own, and nowhere else.
 */
import type { Head } from '../../../http1/head.ts';
import type { UpstreamForm } from '../../../wire/upstream-form.ts';

const NOTHING = Buffer.alloc(0);
/** A segment that means "up", in any way in which services write or read one. */
const UP = /(?:[/\\]|%2f|%5c)(?:\.|%2e){2}(?=[/\\;?#]|%2f|%5c|%3b|$)/i;
/** Two slashes, or what browsers make of them: a backslash is a slash, and they leave tabs out. */
const NAMES_HOST = /^\/[/\\\t]/;
/** Longer values are passed on as they are: no browser sends or follows one. */
export const MAX_VALUE_BYTES = 8_192;
const DEFAULT_PORTS = { http: ':80', https: ':443' } as const;

/** Where visitors find the tunnel. */
export interface PublicOrigin {
  readonly scheme: 'http' | 'https';
  /** As in the visitor's Host. */
  readonly host: string;
}

export class Rewrite {
  /** `Host: …` with its CR LF; empty: the service gets the public one. */
  readonly hostLine: Buffer;
  /** Put before the path; may be empty. */
  readonly prefix: Buffer;
  /** The service's own scheme, host and path; the host is empty where it gets the public one. */
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly prefixText: string;

  private constructor(form: UpstreamForm) {
    this.scheme = form.tls === true ? 'https' : 'http';
    this.host = form.host ?? '';
    this.prefixText = form.prefix ?? '';
    this.hostLine = form.host === undefined ? NOTHING : Buffer.from(`Host: ${form.host}\r\n`, 'latin1');
    this.prefix = Buffer.from(this.prefixText, 'latin1');
  }

  /** Null: heads go on as they are. */
  static of(form: UpstreamForm | undefined): Rewrite | null {
    return form === undefined || (form.host === undefined && form.prefix === undefined) ? null : new Rewrite(form);
  }

  /** Whether the target of a parsed head leads out of the prefix, as some services read it. */
  isLeft(bytes: Buffer, head: Head): boolean {
    return this.prefixText !== '' && goesUp(bytes.toString('latin1', head.pathStart, head.targetEnd));
  }

  /** A URL of the visitor's, as the service would write it; null: it stays as it is. `hasPath`: false for an Origin. */
  toService(url: string, origin: PublicOrigin, hasPath: boolean): string | null {
    const parts = partsOf(url);
    if (parts === null) return hasPath && this.#isOwnPath(url) ? this.prefixText + url : null;
    if (!isSameHost(parts, origin.host) || parts.scheme === '') return null;
    if (!hasPath) return parts.path === '' && this.host !== '' ? `${this.scheme}://${this.host}` : null;
    if (this.prefixText !== '' && goesUp(parts.path)) return null;
    const path = this.prefixText + (parts.path === '' && this.prefixText !== '' ? '/' : parts.path);
    return this.host === '' ? `${parts.scheme}://${parts.host}${path}` : `${this.scheme}://${this.host}${path}`;
  }

  /** A URL of the service's, as visitors must see it; null: it stays as it is. */
  toVisitor(url: string, origin: PublicOrigin): string | null {
    const parts = partsOf(url);
    if (parts === null) return this.#pathToVisitor(url, origin);
    const isPublic = isSameHost(parts, origin.host);
    const isOwn = this.host !== '' && isSameHost(parts, this.host);
    if (!isPublic && !isOwn) return null;
    const path = this.withoutPrefix(parts.path);
    if (!isOwn) return path === null ? null : `${parts.start}${path}`;
    const start = parts.scheme === '' ? '//' : `${origin.scheme}://`;
    return `${start}${origin.host}${path ?? parts.path}`;
  }

  /** What is left without the prefix may begin as `//host` does to browsers: then the public host stands before it. */
  #pathToVisitor(url: string, { scheme, host }: PublicOrigin): string | null {
    const path = url.startsWith('/') ? this.withoutPrefix(url) : null;
    return path !== null && NAMES_HOST.test(path) ? `${scheme}://${host}${path}` : path;
  }

  /** `path` as visitors must say it; null: it is not below the prefix. */
  withoutPrefix(path: string): string | null {
    const { prefixText } = this;
    if (prefixText === '' || !path.startsWith(prefixText)) return null;
    const rest = path.slice(prefixText.length);
    if (rest === '') return '/';
    if (rest.startsWith('/')) return rest;
    return /^[?#]/.test(rest) ? `/${rest}` : null;
  }

  /** Whether it is a path without a host, which the prefix must be put before. */
  #isOwnPath(url: string): boolean {
    return this.prefixText !== '' && url.startsWith('/') && !goesUp(url);
  }
}

/** The query is the service's own. */
function goesUp(target: string): boolean {
  return UP.test(target.split('?', 1)[0] as string);
}

interface UrlParts {
  /** Lower case; empty: `//host/path`. */
  readonly scheme: string;
  readonly host: string;
  /** Everything behind the host. */
  readonly path: string;
  /** Everything before the path. */
  readonly start: string;
}

/** Null: it has no host. A backslash is a slash to browsers: such a URL stays as it is. */
function partsOf(url: string): UrlParts | null {
  const match = /^(?:(https?):)?\/\/([^/?#\\]*)(.*)$/is.exec(url);
  if (match === null) return null;
  const [, scheme = '', host = '', path = ''] = match;
  return { scheme: scheme.toLowerCase(), host, path, start: url.slice(0, url.length - path.length) };
}

/** Whether the URL names `host`; the usual port of its scheme need not be said. */
function isSameHost({ scheme, host }: UrlParts, other: string): boolean {
  const [a, b] = [host.toLowerCase(), other.toLowerCase()];
  if (a === b) return true;
  return (scheme === 'http' || scheme === 'https') && withPort(a, scheme) === withPort(b, scheme);
}

function withPort(host: string, scheme: 'http' | 'https'): string {
  return /:\d+$/.test(host) ? host : host + DEFAULT_PORTS[scheme];
}
