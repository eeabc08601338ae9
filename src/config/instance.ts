/**
 * Settings that operators may set in the dashboard where the file leaves them out: which keys, and what holds with their values. Used by
 * server/parts/instance.ts.
 */
import type { z } from 'zod';
import { mailGaps, oauthGaps } from './conflicts.ts';
import { serverSchema, type Settings } from './schema.ts';
import { readSmtpUrl } from './smtp-url.ts';
import { describe } from './toml.ts';

export const INSTANCE_KEYS = [
  'server.name',
  'accounts.signup',
  'accounts.require_approval',
  'plans.default',
  'mail.transport',
  'mail.smtp_url',
  'mail.from',
  'oauth.google.client_id',
  'oauth.google.client_secret',
  'oauth.google.issuer',
  'oauth.github.client_id',
  'oauth.github.client_secret',
  'oauth.github.authorize_url',
  'oauth.github.token_url',
  'oauth.github.api_url',
] as const;
export type InstanceKey = (typeof INSTANCE_KEYS)[number];

export const INSTANCE_SECRETS: ReadonlySet<string> = new Set<InstanceKey>([
  'mail.smtp_url',
  'oauth.google.client_secret',
  'oauth.github.client_secret',
]);

/** The part of the settings that the keys are in. */
export type InstancePart = Pick<Settings, 'accounts' | 'plans' | 'mail' | 'oauth'> & {
  readonly server: Pick<Settings['server'], 'name'>;
};

/** A value that does not fit. */
interface Mistake {
  readonly key: string;
  readonly text: string;
}

export interface InstancePartRead {
  readonly part: InstancePart;
  readonly wrong: readonly Mistake[];
}

const schema = serverSchema.pick({ server: true, accounts: true, plans: true, mail: true, oauth: true });

/**
 * What holds with `values` of the dashboard, as they would stand in a file. A key that the file sets keeps its value. What does not fit is left
 * out, with all that belongs to it: half of a mail server is none.
 */
export function readInstance(settings: Settings, values: ReadonlyMap<string, unknown>): InstancePartRead {
  const known: ReadonlySet<string> = new Set(INSTANCE_KEYS);
  const wrong: Mistake[] = [];
  let kept = new Map([...values].filter(([key]) => known.has(key) && !settings.written.has(key)));
  for (;;) {
    const { part, mistakes } = merge(settings, kept);
    if (mistakes.length === 0) return { part: closedIfUnreadable(part, wrong), wrong };
    wrong.push(...mistakes);
    const groups = new Set(mistakes.map(({ key }) => groupOf(key)));
    const left = new Map([...kept].filter(([key]) => !groups.has(groupOf(key))));
    // The file alone was checked when it was read.
    if (left.size === kept.size) return { part: closedIfUnreadable(merge(settings, new Map()).part, wrong), wrong };
    kept = left;
  }
}

/** The table of a key. */
function groupOf(key: string): string {
  return key.slice(0, key.lastIndexOf('.'));
}

/** A sign-up mode that can't be read opens nothing. */
function closedIfUnreadable(part: InstancePart, wrong: readonly Mistake[]): InstancePart {
  if (!wrong.some(({ key }) => groupOf(key) === 'accounts')) return part;
  return { ...part, accounts: { ...part.accounts, signup: 'closed' } };
}

function merge(settings: Settings, values: ReadonlyMap<string, unknown>): { part: InstancePart; mistakes: Mistake[] } {
  const { accounts, plans, mail, oauth, server } = settings;
  const part = {
    server: { name: server.name },
    accounts: { ...accounts },
    plans: { ...plans },
    mail: { ...mail },
    oauth: { google: { ...oauth.google }, github: { ...oauth.github } },
  };
  const raw = {};
  for (const [key, value] of values) put(raw, key, value);
  const result = schema.safeParse(raw, { error: describe });
  if (!result.success) return { part, mistakes: result.error.issues.map(mistakeOf) };
  for (const key of values.keys()) put(part, key, at(result.data, key));
  const gaps = [...mailGaps(part), ...oauthGaps(part)];
  return { part, mistakes: gaps.map(({ path, text }) => ({ key: path.join('.'), text })) };
}

function mistakeOf({ path, message }: z.core.$ZodIssue): Mistake {
  return { key: path.map(String).join('.'), text: message };
}

type Table = Record<string, unknown>;

function put(into: object, key: string, value: unknown): void {
  const path = key.split('.');
  const last = path.pop() ?? '';
  let table = into as Table;
  for (const name of path) table = (table[name] ??= {}) as Table;
  table[last] = value;
}

function at(from: object, key: string): unknown {
  return key.split('.').reduce<unknown>((table, name) => (table as Table)[name], from);
}

/** What may be shown of each key; null: not set, or a secret. Of the URL of a mail server all but its password. */
export function shownOf(part: InstancePart): ReadonlyMap<string, string | boolean | null> {
  const shown = INSTANCE_KEYS.map((key) => [key, INSTANCE_SECRETS.has(key) ? null : at(part, key)] as const);
  const url = part.mail.smtp_url?.reveal();
  return new Map([
    ...(shown as Array<[string, string | boolean | null]>),
    ['mail.smtp_url', url === undefined ? null : safeUrl(url)],
  ]);
}

function safeUrl(text: string): string | null {
  if (readSmtpUrl(text) === undefined) return null;
  const url = new URL(text);
  url.password = '';
  return url.href;
}

/** Secrets that are set. */
export function setSecrets(part: InstancePart): ReadonlySet<string> {
  return new Set([...INSTANCE_SECRETS].filter((key) => at(part, key) !== null));
}
