/** May the certificate authority issue for the names of the server? CAA records, RFC 8659. */
import type { CaaRecord } from 'node:dns';
import { messageOf } from '../../base/errors.ts';
import { type Check, fail, ok, warn } from './check.ts';
import type { System } from './system.ts';

const NAME = 'caa';
/** What the authority calls itself in CAA records, by the host of its ACME directory. */
const AUTHORITIES: ReadonlyArray<readonly [host: RegExp, caa: string]> = [
  [/(^|\.)letsencrypt\.org$/, 'letsencrypt.org'],
  [/(^|\.)zerossl\.com$/, 'sectigo.com'],
  [/(^|\.)pki\.goog$/, 'pki.goog'],
];

export interface CaaQuestion {
  readonly host: string;
  readonly directoryUrl: string;
  /** A wildcard certificate (dns-01): records of `issuewild` count first. */
  readonly wildcard: boolean;
}

/** The closest name upward that has CAA records decides. */
export async function checkCaa(system: Pick<System, 'caa'>, question: CaaQuestion): Promise<Check> {
  const { host, directoryUrl, wildcard } = question;
  let found: { readonly name: string; readonly records: readonly CaaRecord[] } | undefined;
  try {
    found = await closest(system, host);
  } catch (error) {
    return warn(
      NAME,
      `The CAA records of ${host} can't be read: ${messageOf(error)}. The authority refuses names whose DNS fails.`,
      'Check the name servers of the domain.',
    );
  }
  if (found === undefined) return ok(NAME, 'No CAA record limits who may issue certificates.');
  const { name, records } = found;
  const allowed = issuers(records, wildcard);
  const wanted = AUTHORITIES.find(([at]) => at.test(new URL(directoryUrl).hostname))?.[1];
  if (allowed === undefined) return ok(NAME, `The CAA records of ${name} don't limit who may issue certificates.`);
  const list = allowed.filter((issuer) => issuer !== '').join(', ') || 'no authority';
  if (wanted === undefined) return ok(NAME, `The CAA records of ${name} allow ${list}.`);
  if (allowed.includes(wanted)) return ok(NAME, `The CAA records of ${name} allow ${wanted}.`);
  return fail(
    NAME,
    `The CAA records of ${name} allow ${list}, not ${wanted}: no certificate can be issued.`,
    `Add this record: ${name}. CAA 0 ${wildcard ? 'issuewild' : 'issue'} "${wanted}"`,
  );
}

async function closest(
  system: Pick<System, 'caa'>,
  host: string,
): Promise<{ readonly name: string; readonly records: readonly CaaRecord[] } | undefined> {
  const labels = host.split('.');
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.');
    const records = await system.caa(name);
    if (records.length > 0) return { name, records };
  }
  return undefined;
}

/** Undefined: no record speaks about it, so all may. Parameters behind a semicolon are left out. */
function issuers(records: readonly CaaRecord[], wildcard: boolean): readonly string[] | undefined {
  const of = (key: 'issue' | 'issuewild'): string[] =>
    records.flatMap((record) => {
      const value = record[key];
      return value === undefined ? [] : [(value.split(';')[0] ?? '').trim()];
    });
  const own = wildcard ? of('issuewild') : [];
  const list = own.length > 0 ? own : of('issue');
  return list.length > 0 ? list : undefined;
}
