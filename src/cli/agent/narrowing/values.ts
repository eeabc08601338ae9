/** The part of access control that is text in flags, keys and options of programs alike: no files, no secrets. Forms are checked here, rules by the server. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { durationMs } from '../../../base/duration.ts';
import { parseNetwork } from '../../../base/net/addr.ts';
import { type AskedNarrowing, flagOf, MAX_NARROWING_BYTES } from '../../../wire/narrowing.ts';
import { usageError } from '../../terminal/exit.ts';
import type { NarrowingInput } from './input.ts';

/** What of a NarrowingInput it reads. */
export type ValuesInput = Pick<NarrowingInput, 'values' | 'mistake'>;

/** Throws what `mistake` makes. */
export function valuesOf({ values, mistake }: ValuesInput): AskedNarrowing {
  return {
    ...networks('allow_cidr', { values, mistake }),
    ...networks('deny_cidr', { values, mistake }),
    ...(values.visitor_login === undefined ? {} : { visitor_login: visitorsOf(values.visitor_login, mistake) }),
    ...(values.domain === undefined ? {} : { domain: hostOf(values.domain, mistake) }),
    ...(values.remote_port === undefined ? {} : { remote_port: portOf(values.remote_port, mistake) }),
    ...(values.ttl === undefined ? {} : { ttl: { seconds: secondsOf(values.ttl, mistake) } }),
  };
}

/** Has room in a claim, else a usage error. */
export function requireFits(asked: AskedNarrowing): AskedNarrowing {
  if (Buffer.byteLength(JSON.stringify(asked)) <= MAX_NARROWING_BYTES) return asked;
  throw usageError(
    `${Object.keys(asked).map(flagOf).join(', ')}: together more than ${MAX_NARROWING_BYTES / 1024} KiB`,
  );
}

function networks(key: 'allow_cidr' | 'deny_cidr', { values, mistake }: ValuesInput): AskedNarrowing {
  const given = values[key];
  if (given === undefined) return {};
  if (given.length === 0) throw mistake(key, 'has no network');
  const wrong = given.find((network) => parseNetwork(network) === undefined);
  if (wrong !== undefined) throw mistake(key, `"${wrong}" is no IP address and no network such as 10.0.0.0/8`);
  return { [key]: given };
}

/** ngrok's flag names the provider, which is the server's choice here. */
function visitorsOf(entries: string[], mistake: NarrowingInput['mistake']): string[] {
  const other = entries.find((entry) => !/[.@]/.test(entry));
  if (other === undefined) return entries;
  throw mistake(
    'visitor_login',
    `"${other}" is no domain or address. Name the visitors: example.com or ann@example.com`,
  );
}

function secondsOf(text: string, mistake: NarrowingInput['mistake']): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < 1_000) throw mistake('ttl', `"${text}" is no time such as 30m, 2h or 7d`);
  return Math.floor(ms / 1_000);
}

function portOf(port: number, mistake: NarrowingInput['mistake']): number {
  if (port >= 1 && port <= 65_535) return port;
  throw mistake('remote_port', `${port} is no port from 1 to 65535`);
}

/** In the form that the server keeps: lower case, ASCII. */
function hostOf(name: string, mistake: NarrowingInput['mistake']): string {
  const host = domainToASCII(name.replace(/\.$/, ''));
  if (host !== '' && isIP(host) === 0 && /^[a-z0-9.-]+$/.test(host)) return host;
  throw mistake('domain', `"${name}" is no domain such as shop.example.com`);
}
