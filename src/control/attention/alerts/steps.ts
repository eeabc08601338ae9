/**
 * What becomes of incidents at an evaluation: pending, firing, recovering, recovered. Pure. What fires, or recovers, within half a minute goes into
 * one message: a machine that dies takes several tunnels with it.
 */
import { uuidv7 } from 'uuidv7';
import { DAY_MS } from '../../../base/clock.ts';
import type { IncidentRow } from './incident-rows.ts';
import type { RuleRow } from './rows.ts';

/** What is wrong with one object now. */
export interface Finding {
  readonly object: { readonly type: string; readonly id: string };
  /** For users: what the object is called. */
  readonly name: string;
  readonly title: string;
  readonly detail: string;
  readonly href: string;
  /** Since when it is so, milliseconds; null: unknown. */
  readonly since: number | null;
}

export interface Findings {
  readonly bad: readonly Finding[];
  /** Is there nothing to judge the object by? Then it stays as it is. */
  readonly isUnknown: (objectId: string) => boolean;
  /** Each is an event, without an end. */
  readonly areEvents: boolean;
  /** `for_minutes` is counted from `since`. */
  readonly countsFromStart: boolean;
}

/** Changes of the rows of one rule. */
export interface Step {
  readonly inserted: readonly IncidentRow[];
  readonly updated: readonly IncidentRow[];
  readonly removed: readonly string[];
  /** Of these, for the audit log. */
  readonly fired: readonly IncidentRow[];
  readonly recovered: readonly IncidentRow[];
}

/** Others that are due so soon are waited for, and no longer. */
const GROUP_MS = 30_000;
/** An object that is well for so long has recovered. */
const WELL_MS = 30_000;
/** While it goes on, a message a day, for a week. */
const REMIND_MS = DAY_MS;
const MAX_REMINDERS = 7;

interface Around {
  /** Of the rule. */
  readonly open: readonly IncidentRow[];
  readonly findings: Findings;
  readonly now: number;
  /** Nothing fires before this instant. */
  readonly notBefore: number;
}

export function step(rule: RuleRow, { open, findings, now, notBefore }: Around): Step {
  if (findings.areEvents) {
    const noted = findings.bad.map((one) => ({ ...incidentOf(rule, one, now), state: 'noted' as const, firedAt: now }));
    return { inserted: noted, updated: [], removed: [], fired: noted, recovered: [] };
  }
  const bad = new Map(findings.bad.map((one) => [one.object.id, one]));
  const known = new Map(open.filter(isOpen).map((row) => [row.objectId, row]));
  const fresh = [...bad.values()]
    .filter(({ object }) => !known.has(object.id))
    .map((one) => ({ ...incidentOf(rule, one, now), ...(findings.countsFromStart ? countedFrom(one, now) : {}) }));
  const pending = [...fresh, ...[...known.values()].filter((row) => row.state === 'pending' && bad.has(row.objectId))];
  const fired = ripe(pending, (row) => row.countedFrom + rule.forMinutes * 60_000, { now, notBefore }).map((row) => ({
    ...row,
    ...textOf(bad.get(row.objectId)),
    state: 'firing' as const,
    firedAt: now,
  }));
  const firedIds = new Set(fired.map((row) => row.id));
  const ends = endings([...known.values()], { bad, isUnknown: findings.isUnknown, now });
  return {
    inserted: fresh.map((row) => fired.find((one) => one.id === row.id) ?? row),
    updated: [...fired.filter((row) => !fresh.some((one) => one.id === row.id)), ...ends.updated, ...ends.recovered],
    removed: ends.removed.filter((id) => !firedIds.has(id)),
    fired,
    recovered: ends.recovered,
  };
}

/** What of the open ones is not found any more, or again. */
function endings(
  known: readonly IncidentRow[],
  { bad, isUnknown, now }: { bad: ReadonlyMap<string, Finding>; now: number } & Pick<Findings, 'isUnknown'>,
) {
  const updated: IncidentRow[] = [];
  const removed: string[] = [];
  const recovering: IncidentRow[] = [];
  for (const row of known) {
    if (bad.has(row.objectId)) {
      if (row.state === 'recovering') updated.push({ ...row, state: 'firing', wellAt: null });
    } else if (isUnknown(row.objectId)) continue;
    else if (row.state === 'pending') removed.push(row.id);
    else if (row.state === 'firing') updated.push({ ...row, state: 'recovering', wellAt: now });
    else recovering.push(row);
  }
  const recovered = ripe(recovering, (row) => (row.wellAt ?? now) + WELL_MS, { now, notBefore: 0 }).map((row) => ({
    ...row,
    state: 'recovered' as const,
    // Nothing was said of its start.
    endToldAt: row.toldAt === null ? now : null,
  }));
  return { updated, removed, recovered };
}

/** Those that are due, once no other is due soon, or the first has waited for the others. */
function ripe(
  rows: readonly IncidentRow[],
  dueAt: (row: IncidentRow) => number,
  { now, notBefore }: { readonly now: number; readonly notBefore: number },
): readonly IncidentRow[] {
  const due = rows.filter((row) => dueAt(row) <= now);
  if (due.length === 0 || now < notBefore) return [];
  const isOtherSoon = rows.some((row) => dueAt(row) > now && dueAt(row) <= now + GROUP_MS);
  const waited = now - Math.max(notBefore, Math.min(...due.map(dueAt)));
  return isOtherSoon && waited < GROUP_MS ? [] : due;
}

/** What messages are due about. */
export interface Due {
  readonly fired: readonly IncidentRow[];
  readonly reminded: readonly IncidentRow[];
  readonly recovered: readonly IncidentRow[];
}

export function due(rows: readonly IncidentRow[], now: number): Due {
  return {
    fired: rows.filter((row) => row.toldAt === null && (isFiring(row) || row.state === 'noted')),
    reminded: rows.filter(
      (row) =>
        row.state === 'firing' &&
        row.toldAt !== null &&
        row.reminders < MAX_REMINDERS &&
        now - (row.remindedAt ?? row.toldAt) >= REMIND_MS,
    ),
    recovered: rows.filter((row) => row.state === 'recovered' && row.toldAt !== null && row.endToldAt === null),
  };
}

/** The rows once the messages are on their way. */
export function told({ fired, reminded, recovered }: Due, now: number): readonly IncidentRow[] {
  return [
    ...fired.map((row) => ({ ...row, toldAt: now, ...(row.state === 'noted' ? { endToldAt: now } : {}) })),
    ...reminded.map((row) => ({ ...row, remindedAt: now, reminders: row.reminders + 1 })),
    ...recovered.map((row) => ({ ...row, endToldAt: now })),
  ];
}

function isOpen({ state }: IncidentRow): boolean {
  return state === 'pending' || state === 'firing' || state === 'recovering';
}

function isFiring({ state }: IncidentRow): boolean {
  return state === 'firing' || state === 'recovering';
}

function incidentOf(rule: RuleRow, finding: Finding, now: number): IncidentRow {
  return {
    id: uuidv7(),
    ruleId: rule.id,
    orgId: rule.orgId,
    objectType: finding.object.type,
    objectId: finding.object.id,
    name: finding.name,
    title: finding.title,
    detail: finding.detail,
    href: finding.href,
    state: 'pending',
    since: finding.since ?? now,
    countedFrom: now,
    firedAt: null,
    wellAt: null,
    toldAt: null,
    remindedAt: null,
    reminders: 0,
    endToldAt: null,
  };
}

function countedFrom({ since }: Finding, now: number): { readonly countedFrom: number } {
  return { countedFrom: Math.min(since ?? now, now) };
}

function textOf(finding: Finding | undefined): Partial<IncidentRow> {
  if (finding === undefined) return {};
  const { name, title, detail, href } = finding;
  return { name, title, detail, href };
}
