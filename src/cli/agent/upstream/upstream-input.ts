/** What users say about the way to the service, by flags or by keys. Checked by upstream-options.ts and upstream-form.ts. */
import type { Protocol } from '../../../wire/messages.ts';

export const UPSTREAM_KEYS = [
  'host_header',
  'path_prefix',
  'upstream_ca',
  'upstream_sni',
  'upstream_cert',
  'upstream_key',
  'upstream_connect_timeout',
  'upstream_keep_alive_timeout',
  'upstream_protocol',
] as const;
export type UpstreamKey = (typeof UPSTREAM_KEYS)[number];

export interface UpstreamInput {
  readonly target: string;
  readonly protocol: Protocol;
  readonly verifyTls: boolean;
  readonly proxyProtocol: boolean;
  readonly values: Readonly<Partial<Record<UpstreamKey, string | undefined>>>;
  /** The values are for other services too, and may concern those alone. */
  readonly isOneOfSeveral?: boolean;
  /** Where relative file names begin. */
  readonly folder: string;
  /** Throws for a client certificate or its key that this settings file may not use. */
  readonly requireOwn?: (key: 'upstream_cert' | 'upstream_key', path: string) => void;
  /** The error for a mistake in the value of `key`. */
  readonly mistake: (key: UpstreamKey | 'target', text: string) => Error;
}

/** The values that flags have: `upstreamCa` is `--upstream-ca`. */
export function upstreamFlags(flags: Readonly<Record<string, unknown>>): UpstreamInput['values'] {
  const values: Partial<Record<UpstreamKey, string>> = {};
  for (const key of UPSTREAM_KEYS) {
    const value = flags[flagOf(key)];
    if (typeof value === 'string') values[key] = value;
  }
  return values;
}

/** `upstream_ca` → `upstreamCa`. */
export function flagOf(key: string): string {
  return key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
