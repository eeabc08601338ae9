/**
 * Mistakes that no single key shows: listeners that clash, certificates half configured, keys that make sense together only.
 * Called by load.ts once every key has been checked by itself.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { type HostPort, isLoopback, isWildcard } from '../base/net/addr.ts';
import { apiAtEdge } from './one-port.ts';
import { findAcmeModeGap } from './acme-mode.ts';
import type { ServerFile } from './schema.ts';
import { readSmtpUrl } from './smtp-url.ts';
import type { Conflict } from './toml.ts';

/** All conflicts between settings. `isSet` tells which keys the person wrote: a message points at one of those. */
export function findConflicts(file: ServerFile, isSet: (path: readonly string[]) => boolean): Conflict[] {
  return [
    ...clashes(file, isSet),
    ...certificateGaps(file),
    ...apiGaps(file),
    ...onePortGaps(file),
    ...balancerGaps(file),
    ...redirectGaps(file),
    ...missingFiles(file),
    ...metricsGaps(file),
    ...backupGaps(file),
    ...exportGaps(file),
    ...acmeGaps(file),
    ...one(findAcmeModeGap(file)),
    ...mailGaps(file),
    ...oauthGaps(file),
    ...doublePrices(file),
  ];
}

function one(conflict: Conflict | undefined): Conflict[] {
  return conflict === undefined ? [] : [conflict];
}

/** Two listeners can't share a port, unless they are on different addresses. */
function* clashes(file: ServerFile, isSet: (path: readonly string[]) => boolean): Generator<Conflict> {
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
      yield { path: wrong.path, text };
    }
  }
}

function shareAddress(one: string, other: string): boolean {
  const plain = (host: string): string => (host.toLowerCase() === 'localhost' ? '127.0.0.1' : host.toLowerCase());
  return plain(one) === plain(other) || isWildcard(one) || isWildcard(other);
}

function* certificateGaps({ edge, agents }: ServerFile): Generator<Conflict> {
  if (edge.tls.mode === 'files') {
    for (const key of ['cert_file', 'key_file'] as const) {
      if (edge.tls[key] === null)
        yield { path: ['edge', 'tls', 'mode'], text: `"files" needs edge.tls.${key}: set it` };
    }
  } else if (edge.tls.cert_file !== null || edge.tls.key_file !== null) {
    const key = edge.tls.cert_file === null ? 'key_file' : 'cert_file';
    yield {
      path: ['edge', 'tls', key],
      text: `applies only to edge.tls.mode = "files": set that, or remove this key`,
    };
  }
  if (edge.https_listen !== null && edge.tls.mode === 'off') {
    yield {
      path: ['edge', 'https_listen'],
      text: 'needs a certificate: set edge.tls.mode to "acme", "files" or "self_signed"',
    };
  }
  if ((agents.cert_file === null) !== (agents.key_file === null)) {
    const [set, missing] = agents.cert_file === null ? ['key_file', 'cert_file'] : ['cert_file', 'key_file'];
    yield { path: ['agents', set], text: `needs agents.${missing} too: set both or neither` };
  }
}

function* apiGaps({ api, edge }: ServerFile): Generator<Conflict> {
  if (!api.tls) return;
  if (edge.https_listen === null) {
    const text = 'uses the certificate of the edge, which has none: set edge.https_listen and edge.tls.mode';
    yield { path: ['api', 'tls'], text };
  }
  const url = api.public_url;
  if (url !== null && !url.startsWith('https:'))
    yield { path: ['api', 'public_url'], text: 'starts with "http:", but api.tls is on: use "https:"' };
  if (edge.tls.mode !== 'acme') return;
  const host = url === null ? '' : new URL(url).hostname;
  if (!host.includes('.') || isIP(host) !== 0 || host.startsWith('[')) {
    const text = 'must contain the public host name for the certificate, e.g. "https://culvert.example.com:8443"';
    yield { path: ['api', 'public_url'], text };
  }
}

/** Agents need a listener, and the name by which they find it. */
function* onePortGaps({ agents, api, edge }: ServerFile): Generator<Conflict> {
  if (agents.listen !== null) return;
  const path = ['agents', 'listen'];
  if (edge.https_listen === null || edge.tls.mode === 'off') {
    const text = '"" means that agents come by edge.https_listen: set that, e.g. to "0.0.0.0:443", and edge.tls.mode';
    yield { path, text };
    return;
  }
  if (apiAtEdge({ agents, api, edge }) !== undefined) return;
  const text = '"" needs an https URL as api.public_url, whose host agents dial, e.g. "https://culvert.example.com"';
  yield { path, text };
}

/** Deny by default: a PROXY header needs a list of load balancers, or it refuses all or trusts all. */
function* balancerGaps({ edge }: ServerFile): Generator<Conflict> {
  const { proxy_protocol: isOn, proxy_protocol_from: from } = edge;
  if (isOn === from.length > 0) return;
  yield isOn
    ? {
        path: ['edge', 'proxy_protocol'],
        text: 'needs edge.proxy_protocol_from: name the addresses of your load balancers, e.g. ["10.0.0.5"]',
      }
    : {
        path: ['edge', 'proxy_protocol_from'],
        text: 'applies only to edge.proxy_protocol = true: set that, or remove this key',
      };
}

/** Without https every visitor would be redirected to a closed port. */
function* redirectGaps({ edge }: ServerFile): Generator<Conflict> {
  if (!edge.https_redirect || edge.https_listen !== null || edge.public_url?.startsWith('https:') === true) return;
  yield {
    path: ['edge', 'https_redirect'],
    text: 'needs https: set edge.https_listen, or edge.public_url = "https://{subdomain}.…" when a proxy in front has the certificate',
  };
}

function* missingFiles({ edge, agents, acme, metrics, backup, export: { otlp } }: ServerFile): Generator<Conflict> {
  const files: ReadonlyArray<readonly [string[], string | null]> = [
    [['edge', 'tls', 'cert_file'], edge.tls.cert_file],
    [['edge', 'tls', 'key_file'], edge.tls.key_file],
    [['agents', 'cert_file'], agents.cert_file],
    [['agents', 'key_file'], agents.key_file],
    [['acme', 'ca_file'], acme.ca_file],
    [['acme', 'dns_hook'], acme.dns_hook],
    [['metrics', 'token_file'], metrics.token_file],
    [['backup', 'passphrase_file'], backup.passphrase_file],
    [['backup', 's3', 'access_key_file'], backup.s3.access_key_file],
    [['backup', 's3', 'secret_key_file'], backup.s3.secret_key_file],
    [['export', 'otlp', 'headers_file'], otlp.headers_file],
  ];
  for (const [path, name] of files) {
    if (name !== null && !existsSync(name))
      yield { path, text: `${name} does not exist or is not accessible to this user: correct the path` };
  }
}

/** Metrics of the whole server are for its operator alone. */
function* metricsGaps({ metrics }: ServerFile): Generator<Conflict> {
  if (metrics.listen === null) {
    if (metrics.token_file === null) return;
    yield { path: ['metrics', 'token_file'], text: 'applies only with metrics.listen: set that, or remove this key' };
    return;
  }
  if (metrics.token_file !== null || isLoopback(metrics.listen.host)) return;
  yield {
    path: ['metrics', 'listen'],
    text: 'is reachable from other machines: set metrics.token_file too, or listen on "127.0.0.1:9464"',
  };
}

/** A store needs all four; a passphrase alone makes no backup. */
function* backupGaps({ backup: { folder, passphrase_file: passphrase, s3 } }: ServerFile): Generator<Conflict> {
  const needed = ['endpoint', 'bucket', 'access_key_file', 'secret_key_file'] as const;
  const missing = needed.filter((key) => s3[key] === null);
  const set = needed.find((key) => s3[key] !== null);
  if (set !== undefined && missing.length > 0) {
    const names = missing.map((key) => `backup.s3.${key}`).join(' and ');
    yield { path: ['backup', 's3', set], text: `needs ${names} beside it: set all four, or none` };
  }
  if (passphrase !== null && folder === null && set === undefined) {
    const text = 'is used with backup.folder or [backup.s3] only: set one of them, or leave this out';
    yield { path: ['backup', 'passphrase_file'], text };
  }
}

function* exportGaps({ export: { otlp } }: ServerFile): Generator<Conflict> {
  if (otlp.headers_file === null || otlp.endpoint !== null) return;
  const text = 'applies only with export.otlp.endpoint: set that, or remove this key';
  yield { path: ['export', 'otlp', 'headers_file'], text };
}

function* acmeGaps({ acme }: ServerFile): Generator<Conflict> {
  if (acme.challenge === 'dns-01' && acme.dns_hook === null) {
    const text = '"dns-01" needs acme.dns_hook: set it to the program that sets and removes TXT records';
    yield { path: ['acme', 'challenge'], text };
  }
  if ((acme.eab_kid === null) !== (acme.eab_hmac_key === null)) {
    const [set, missing] = acme.eab_kid === null ? ['eab_hmac_key', 'eab_kid'] : ['eab_kid', 'eab_hmac_key'];
    yield { path: ['acme', set], text: `needs acme.${missing} too: set both or neither` };
  }
  const mac = acme.eab_hmac_key?.reveal();
  if (mac !== undefined && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(mac)) {
    yield { path: ['acme', 'eab_hmac_key'], text: 'is not base64url: copy it exactly as the authority shows it' };
  }
}

/** One address, by itself or behind a name. */
const SENDER = /^(?:[^<>\p{Cc}]*<[^<>@,\s]+@[^<>@,\s]+>|[^<>@,\s]+@[^<>@,\s]+)$/u;

/** What outgoing mail lacks. */
export function* mailGaps({ mail }: Pick<ServerFile, 'mail'>): Generator<Conflict> {
  if (mail.transport !== 'smtp') return;
  if (mail.smtp_url === null) {
    yield { path: ['mail', 'transport'], text: '"smtp" needs mail.smtp_url: set it' };
  } else if (readSmtpUrl(mail.smtp_url.reveal()) === undefined) {
    yield {
      path: ['mail', 'smtp_url'],
      text:
        'is not an SMTP URL: write "smtp://user:password@host:587" or "smtps://…". Percent-encode special characters ' +
        'in the password. The only allowed parameter is "?verify=no"',
    };
  }
  if (mail.from === null) {
    yield { path: ['mail', 'transport'], text: '"smtp" needs mail.from: set the sender\'s address' };
  } else if (!SENDER.test(mail.from)) {
    yield {
      path: ['mail', 'from'],
      text: 'is not a sender: write "culvert@example.com" or "Name <culvert@example.com>"',
    };
  }
}

/** What identity providers lack. */
export function* oauthGaps({ oauth }: Pick<ServerFile, 'oauth'>): Generator<Conflict> {
  for (const name of ['google', 'github'] as const) {
    const { client_id, client_secret } = oauth[name];
    if ((client_id === null) === (client_secret === null)) continue;
    const [set, missing] = client_id === null ? ['client_secret', 'client_id'] : ['client_id', 'client_secret'];
    yield {
      path: ['oauth', name, set],
      text: `needs oauth.${name}.${missing} too: set both or neither`,
    };
  }
}

/** A price belongs to one plan alone. */
function* doublePrices({ billing }: ServerFile): Generator<Conflict> {
  const known = new Map<string, string>();
  for (const [key, id] of Object.entries(billing.stripe.prices)) {
    if (id === null) continue;
    const other = known.get(id);
    if (other !== undefined) {
      const text = `is also the price of ${other}: set a separate price for each plan and billing cycle`;
      yield { path: ['billing', 'stripe', 'prices', key], text };
    }
    known.set(id, key);
  }
}
