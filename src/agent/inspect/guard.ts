/**
 * Who may talk to the page. It listens on this machine alone, but so does every page that a browser on this machine has open: one of another
 * site could ask for `http://localhost:4040` under its own name (DNS rebinding), or make it do something without reading the answer.
 * So the Host must be one of ours, and whatever a browser says of where a request comes from must be this page. Programs, which say nothing
 * of that, are allowed. Asked by page-server.ts before anything else.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Why the request is refused, worded for an honest caller; undefined: allowed. */
export function refusalOf(request: GuardedRequest, port: number): string | undefined {
  const { headers, method = 'GET', path } = request;
  const hosts = hostsOf(port);
  if (headers.host === undefined || !hosts.includes(headers.host.toLowerCase()))
    return `the host name is not allowed; use ${hosts.join(', ')}`;
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`))
    return 'requests from other origins are blocked';
  const site = headers['sec-fetch-site'];
  // A link to the page, or its address typed in: the page itself and nothing else can be asked for so.
  const isVisit = method === 'GET' && path === '/' && headers['sec-fetch-mode'] === 'navigate';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit)
    return 'requests from other sites are blocked';
  if (method === 'POST' && !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return 'the request body must be JSON; set Content-Type: application/json';
  return undefined;
}

export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

function hostsOf(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => (port === 80 ? host : `${host}:${port}`));
}

/** Of every answer. */
export const GUARD_FIELDS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // Pictures of bodies are made of bytes by the page's own script.
    'img-src blob: data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};
