/**
 * A policy while it is edited, in one of two ways: by forms, or as text. Each action keeps a key of its own, so that a form stays the same
 * while others are added and removed around it. Pure.
 */
import type { Action, Kind, Policy } from './kinds.ts';
import { entryOf } from './kinds.ts';

/** What people, and the API, leave out. */
const ENFORCED: Partial<Action> = { enforce: true };
const DEFAULTS: Readonly<Record<string, Partial<Action>>> = {
  jwt_validation: { allowed_issuers: [], allowed_audiences: [], jwks_url: null },
  rate_limit: { per_client_ip: false },
};

export interface DraftAction {
  readonly key: number;
  readonly action: Action;
}

export interface Draft {
  readonly actions: readonly DraftAction[];
  /** The next key. */
  readonly next: number;
  /** The saved policy it began with, as text: a different one was saved by another member. */
  readonly base: string;
}

export function draftOf(policy: Policy | null): Draft {
  const actions = (policy?.actions ?? []).map((action, key) => ({ key, action: complete(action) }));
  return { actions, next: actions.length, base: textOf(policy) };
}

export function policyIn({ actions }: Draft): Policy {
  return { actions: actions.map(({ action }) => action) };
}

export function isChanged(draft: Draft): boolean {
  return textOf(policyIn(draft)) !== draft.base;
}

/** What of it is still to be saved now that `sent` is; null: nothing. */
export function rebased(draft: Draft, sent: Policy): Draft | null {
  const now = { ...draft, base: textOf(sent) };
  return isChanged(now) ? now : null;
}

export function withNew(draft: Draft, actions: readonly Action[]): Draft {
  const added = actions.map((action, i) => ({ key: draft.next + i, action: complete(action) }));
  return { ...draft, actions: [...draft.actions, ...added], next: draft.next + added.length };
}

export function withKind(draft: Draft, kind: Kind): Draft {
  const blank = entryOf(kind)?.blank;
  return blank === undefined ? draft : withNew(draft, [blank]);
}

export function withChanged(draft: Draft, key: number, action: Action): Draft {
  return { ...draft, actions: draft.actions.map((one) => (one.key === key ? { key, action } : one)) };
}

export function without(draft: Draft, key: number): Draft {
  return { ...draft, actions: draft.actions.filter((one) => one.key !== key) };
}

/** All of it anew, as the text of a person says. */
export function withPolicy(draft: Draft, { actions }: Policy): Draft {
  return withNew({ ...draft, actions: [] }, actions);
}

/** What needs no saying is left out, and so two that mean the same read the same. */
export function textOf(policy: Policy | null): string {
  return JSON.stringify({ actions: (policy?.actions ?? []).map(short) }, null, 2);
}

function short(action: Action): object {
  const whole: Readonly<Record<string, unknown>> = { ...complete(action) };
  const names = Object.keys(entryOf(action.kind)?.blank ?? action);
  return Object.fromEntries(names.filter((name) => !isUsual(name, whole[name])).map((name) => [name, whole[name]]));
}

function isUsual(name: string, value: unknown): boolean {
  if (name === 'enforce') return value === true;
  if (name === 'jwks_url') return value === null;
  return name.startsWith('allowed_') && Array.isArray(value) && value.length === 0;
}

/** With what may be left out, so that forms have something to show. */
function complete(action: Action): Action {
  return { ...ENFORCED, ...DEFAULTS[action.kind], ...action };
}

export type Read = { readonly policy: Policy } | { readonly fault: string };

/** Reads typed text. check.ts and the server judge the actions. */
export function policyOfText(text: string): Read {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `Invalid JSON: ${error instanceof Error ? error.message : "it can't be read"}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: 'A policy is an object: {"actions": [ … ]}' };
  const { actions, ...more } = value as { actions?: unknown };
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return { fault: `A policy has no field "${unknown}". Its only field is "actions".` };
  if (!Array.isArray(actions)) return { fault: '"actions" must be a list: {"actions": [ … ]}' };
  for (const [index, action] of actions.entries()) {
    const fault = shapeFault(action);
    if (fault !== undefined) return { fault: `Action ${index + 1}: ${fault}` };
  }
  return { policy: { actions: actions as Action[] } };
}

/** What forms could not show. */
function shapeFault(action: unknown): string | undefined {
  if (typeof action !== 'object' || action === null) return 'must be an object with a "kind".';
  const { kind } = action as { kind?: unknown };
  const blank = typeof kind === 'string' ? entryOf(kind)?.blank : undefined;
  if (blank === undefined) return `there is no kind ${JSON.stringify(kind) ?? 'without a name'}.`;
  const known: Readonly<Record<string, unknown>> = { ...blank };
  for (const [name, value] of Object.entries(action)) {
    if (!(name in known)) return `${blank.kind} has no field "${name}".`;
    if (!isLike(value, known[name])) return `"${name}" has the wrong type.`;
  }
  const whole: object = { ...ENFORCED, ...DEFAULTS[blank.kind], ...action };
  for (const name of Object.keys(known)) if (!(name in whole)) return `${blank.kind} needs "${name}".`;
  return undefined;
}

function isLike(value: unknown, example: unknown): boolean {
  if (example === null) return value === null || typeof value === 'string';
  if (Array.isArray(example)) return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  return typeof value === typeof example;
}
