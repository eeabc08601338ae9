/**
 * Mistakes that no single key shows: listeners that clash, certificates half configured, keys that make sense together only.
 * Called by load.ts once every key has been checked by itself.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { type HostPort, isLoopback, isWildcard } from '../base/addr.ts';
import { findAcmeModeGap } from './acme-mode.ts';
import type { ServerFile } from './schema.ts';
import { readSmtpUrl } from './smtp-url.ts';

export interface Conflict {
  /** The key to point at. */
  readonly path: readonly string[];
  readonly text: string;
}

/** The first conflict between settings, if any. `isSet` tells which keys the person wrote: a message points at one of those. */
export function findConflict(file: ServerFile, isSet: (path: readonly string[]) => boolean): Conflict | undefined {
  return (
    findClash(file, isSet) ??
    findCertificateGap(file) ??
    findApiGap(file) ??
    findBalancerGap(file) ??
    findRedirectGap(file) ??
    findMissingFile(file) ??
    findMetricsGap(file) ??
    findAcmeGap(file) ??
    findAcmeModeGap(file) ??
    findMailGap(file) ??
    findOauthGap(file) ??
    findDoublePrice(file)
  );
}

/** Two listeners can't share a port, unless they are on different addresses. */
function findClash(file: ServerFile, isSet: (path: readonly string[]) => boolean): Conflict | undefined {
  const all: Array<{ path: string[]; host: string; first: number; last: number }> = [];
  const add = (path: string[], at: HostPort | null): void => {
    if (at !== null && at.port !== 0) all.push({ path, host: at.host, first: at.port, last: at.port });
  };
  add(['api', 'listen'], file.api.listen);
  add(['edge', 'http_listen'], file.edge.http_listen);
  add(['edge', 'https_listen'], file.edge.https_listen);
  add(['agents', 'listen'], file.agents.listen);
  add(['metrics', 'listen'], file.metrics.listen);
  if (file.edge.tcp_ports !== null) {
    all.push({ path: ['edge', 'tcp_ports'], host: file.edge.tcp_host, ...file.edge.tcp_ports });
  }
  for (const [index, one] of all.entries()) {
    for (const other of all.slice(index + 1)) {
      if (one.first > other.last || other.first > one.last || !shareAddress(one.host, other.host)) continue;
      // Point at a key that the person wrote: one of the two may be a default.
      const [wrong, right] = isSet(other.path) ? [other, one] : [one, other];
      const ports = right.first === right.last ? `port ${right.first}` : `ports ${right.first}-${right.last}`;
      const text = `clashes with ${right.path.join('.')} (${ports} on ${right.host}): choose another port`;
      return { path: wrong.path, text };
    }
  }
  return undefined;
}

function shareAddress(one: string, other: string): boolean {
  const plain = (host: string): string => (host.toLowerCase() === 'localhost' ? '127.0.0.1' : host.toLowerCase());
  return plain(one) === plain(other) || isWildcard(one) || isWildcard(other);
}

function findCertificateGap({ edge, agents }: ServerFile): Conflict | undefined {
  if (edge.tls.mode === 'files') {
    for (const key of ['cert_file', 'key_file'] as const) {
      if (edge.tls[key] === null)
        return { path: ['edge', 'tls', 'mode'], text: `"files" needs edge.tls.${key}: set it` };
    }
  } else if (edge.tls.cert_file !== null || edge.tls.key_file !== null) {
    const key = edge.tls.cert_file === null ? 'key_file' : 'cert_file';
    return {
      path: ['edge', 'tls', key],
      text: `is used with edge.tls.mode = "files" only: set that, or leave this out`,
    };
  }
  if (edge.https_listen !== null && edge.tls.mode === 'off') {
    return {
      path: ['edge', 'https_listen'],
      text: 'needs a certificate: set edge.tls.mode to "acme", "files" or "self_signed"',
    };
  }
  if ((agents.cert_file === null) !== (agents.key_file === null)) {
    const [set, missing] = agents.cert_file === null ? ['key_file', 'cert_file'] : ['cert_file', 'key_file'];
    return { path: ['agents', set], text: `needs agents.${missing} beside it: set both or none` };
  }
  return undefined;
}

function findApiGap({ api, edge }: ServerFile): Conflict | undefined {
  if (!api.tls) return undefined;
  if (edge.https_listen === null) {
    const text = 'shows the certificates of the edge, which has none: set edge.https_listen and edge.tls.mode';
    return { path: ['api', 'tls'], text };
  }
  const url = api.public_url;
  if (url !== null && !url.startsWith('https:'))
    return { path: ['api', 'public_url'], text: 'begins with "http:", and api.tls is on: write "https:"' };
  if (edge.tls.mode !== 'acme') return undefined;
  const host = url === null ? '' : new URL(url).hostname;
  if (!host.includes('.') || isIP(host) !== 0 || host.startsWith('[')) {
    const text =
      'tells which name to get a certificate for: set it to what people will type, e.g. "https://culvert.example.com:8443"';
    return { path: ['api', 'public_url'], text };
  }
  return undefined;
}

/** Deny by default: without a list of load balancers nobody could come in, and with one that is not used everybody could. */
function findBalancerGap({ edge }: ServerFile): Conflict | undefined {
  const { proxy_protocol: isOn, proxy_protocol_from: from } = edge;
  if (isOn === from.length > 0) return undefined;
  return isOn
    ? {
        path: ['edge', 'proxy_protocol'],
        text: 'needs edge.proxy_protocol_from: name the addresses of your load balancers, e.g. ["10.0.0.5"]',
      }
    : {
        path: ['edge', 'proxy_protocol_from'],
        text: 'is used with edge.proxy_protocol = true only: set that, or leave this out',
      };
}

/** Without https every visitor would be sent where nobody answers. */
function findRedirectGap({ edge }: ServerFile): Conflict | undefined {
  if (!edge.https_redirect || edge.https_listen !== null || edge.public_url?.startsWith('https:') === true)
    return undefined;
  return {
    path: ['edge', 'https_redirect'],
    text: 'needs https: set edge.https_listen, or edge.public_url = "https://{subdomain}.…" when a proxy in front has the certificate',
  };
}

function findMissingFile({ edge, agents, acme, metrics }: ServerFile): Conflict | undefined {
  const files: ReadonlyArray<readonly [string[], string | null]> = [
    [['edge', 'tls', 'cert_file'], edge.tls.cert_file],
    [['edge', 'tls', 'key_file'], edge.tls.key_file],
    [['agents', 'cert_file'], agents.cert_file],
    [['agents', 'key_file'], agents.key_file],
    [['acme', 'ca_file'], acme.ca_file],
    [['acme', 'dns_hook'], acme.dns_hook],
    [['metrics', 'token_file'], metrics.token_file],
  ];
  for (const [path, name] of files) {
    if (name !== null && !existsSync(name))
      return { path, text: `there is no file ${name} that this user can see: correct the path` };
  }
  return undefined;
}

/** What the whole server does is nobody's business but its operator's. */
function findMetricsGap({ metrics }: ServerFile): Conflict | undefined {
  if (metrics.listen === null)
    return metrics.token_file === null
      ? undefined
      : { path: ['metrics', 'token_file'], text: 'is used with metrics.listen only: set that, or leave this out' };
  if (metrics.token_file !== null || isLoopback(metrics.listen.host)) return undefined;
  return {
    path: ['metrics', 'listen'],
    text: 'can be reached by others: set metrics.token_file too, or listen on "127.0.0.1:9464"',
  };
}

function findAcmeGap({ acme }: ServerFile): Conflict | undefined {
  if (acme.challenge === 'dns-01' && acme.dns_hook === null) {
    const text = '"dns-01" needs acme.dns_hook: set it to the program that sets and removes TXT records';
    return { path: ['acme', 'challenge'], text };
  }
  if ((acme.eab_kid === null) !== (acme.eab_hmac_key === null)) {
    const [set, missing] = acme.eab_kid === null ? ['eab_hmac_key', 'eab_kid'] : ['eab_kid', 'eab_hmac_key'];
    return { path: ['acme', set], text: `needs acme.${missing} beside it: set both or none` };
  }
  const mac = acme.eab_hmac_key?.reveal();
  if (mac !== undefined && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(mac)) {
    return { path: ['acme', 'eab_hmac_key'], text: 'is not base64url: write it as the authority gave it' };
  }
  return undefined;
}

/** One address, by itself or behind a name. */
const SENDER = /^(?:[^<>\p{Cc}]*<[^<>@,\s]+@[^<>@,\s]+>|[^<>@,\s]+@[^<>@,\s]+)$/u;

function findMailGap({ mail }: ServerFile): Conflict | undefined {
  if (mail.transport !== 'smtp') return undefined;
  if (mail.smtp_url === null) return { path: ['mail', 'transport'], text: '"smtp" needs mail.smtp_url: set it' };
  if (readSmtpUrl(mail.smtp_url.reveal()) === undefined) {
    return {
      path: ['mail', 'smtp_url'],
      text:
        'is not a mail server: write "smtp://user:password@host:587" or "smtps://…", with other signs than letters and digits ' +
        'in the password as %XX, and nothing behind but "?verify=no"',
    };
  }
  if (mail.from === null)
    return { path: ['mail', 'transport'], text: '"smtp" needs mail.from: set the sender\'s address' };
  if (!SENDER.test(mail.from)) {
    return {
      path: ['mail', 'from'],
      text: 'is not a sender: write "culvert@example.com" or "Name <culvert@example.com>"',
    };
  }
  return undefined;
}

function findOauthGap({ oauth }: ServerFile): Conflict | undefined {
  for (const name of ['google', 'github'] as const) {
    const { client_id, client_secret } = oauth[name];
    if ((client_id === null) === (client_secret === null)) continue;
    const [set, missing] = client_id === null ? ['client_secret', 'client_id'] : ['client_id', 'client_secret'];
    return {
      path: ['oauth', name, set],
      text: `needs oauth.${name}.${missing} beside it: set both or none`,
    };
  }
  return undefined;
}

/** Whoever pays a price gets what it is the price of: one thing. */
function findDoublePrice({ billing }: ServerFile): Conflict | undefined {
  const known = new Map<string, string>();
  for (const [key, id] of Object.entries(billing.stripe.prices)) {
    if (id === null) continue;
    const other = known.get(id);
    if (other !== undefined) {
      const text = `is the price of ${other} too: each plan and cycle has a price of its own`;
      return { path: ['billing', 'stripe', 'prices', key], text };
    }
    known.set(id, key);
  }
  return undefined;
}
