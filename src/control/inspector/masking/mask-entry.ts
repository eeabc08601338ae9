/** Masks one entry of the access log by the rules of its tunnel: the inspector, logs and exports hide the same values. Called by record-masks.ts. */
import type { AccessEntry } from '../../../plane/access-log.ts';
import { MASK } from '../../core/rules/recorded-head.ts';
import { maskQuery } from './fields.ts';
import type { MaskRules, Names } from './rules.ts';

/** The same entry if nothing is masked. */
export function maskEntry(entry: AccessEntry, { queries, headers }: MaskRules): AccessEntry {
  const target = maskQuery(entry.target, queries).text;
  const referer = maskHeader('referer', maskQuery(entry.referer, queries).text, headers);
  const userAgent = maskHeader('user-agent', entry.userAgent, headers);
  if (target === entry.target && referer === entry.referer && userAgent === entry.userAgent) return entry;
  return { ...entry, target, referer, userAgent };
}

function maskHeader(name: string, value: string, names: Names): string {
  return value !== '' && names.has(name) ? MASK : value;
}
