/** Alert rules as people handle them: what is watched, for how long, and where alerts are sent. What they find is evaluator.ts's. */
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import { Shares } from '../../../base/limits/shares.ts';
import { type PostRules, urlProblem } from '../../../base/net/outbound/guarded-post.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { changesBetween, partlySecretChange } from '../../core/rules/audit-changes.ts';
import { type AuditDetails, auditOf } from '../../core/rules/audit.ts';
import { checkDailyLimit, checkRoom } from '../../core/rules/daily-limit.ts';
import { emailKey } from '../../core/rules/email-key.ts';
import type { PendingWork } from '../../core/pending-rows.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { NodeControl } from '../../../plane/link.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { findOrg } from '../../organizations/rows.ts';
import { labelOf, ownTunnel } from '../../tunnels/rows.ts';
import { forgetAddressesOf, rememberAddresses, seenAgents } from './address-rows.ts';
import { type Channel, type ChannelInput, channelOf, type PendingLink, urlOf } from './channels/channels.ts';
import type { Confirmations, Confirmed } from './channels/confirmations.ts';
import { closeIncidents, historyOf, type IncidentRow, statesOf } from './incident-rows.ts';
import { ruleProblem, thresholdOf } from './kinds.ts';
import { testNotice } from './channels/notices.ts';
import { type QuietHours, quietHoursProblem } from './quiet-hours.ts';
import {
  type AlertKind,
  allRules,
  type ChannelRow,
  channelsOf,
  deleteRules,
  insertRule,
  type ListedChannel,
  openChannel,
  ownRule,
  putChannels,
  type RuleRow,
  rulesOf,
  rulesOnTunnels,
  updateRule,
} from './rows.ts';
import type { AlertSender } from './channels/sender.ts';

/** Of one organization: each is evaluated every ten seconds. */
export const MAX_RULES = 50;
export const MAX_CHANNELS = 10;
/** Rules that one person makes in a day, those deleted again too. */
const MAX_PER_DAY = 200;
const ROOM = { action: 'alert.create', most: MAX_RULES, perDay: MAX_PER_DAY, what: 'alert rules' } as const;
const TESTS = {
  action: 'alert.test',
  perDay: 100,
  message: 'You reached the limit of 100 alert tests a day. Try again later.',
} as const;
/** Tests under way at once, and of one organization. */
const TEST_PLACES = { places: 8, each: 2 };

export interface NewRule {
  readonly kind: AlertKind;
  readonly tunnelId: string | null;
  /** Undefined, null: the usual one of the kind. */
  readonly threshold: number | null | undefined;
  readonly forMinutes: number;
  readonly channels: readonly ChannelInput[];
  readonly quietHours: QuietHours | null;
  readonly enabled: boolean;
}

interface GivenChannels {
  readonly ruleId: string;
  readonly inputs: readonly ChannelInput[];
}

export interface RuleView {
  readonly row: RuleRow;
  readonly channels: readonly ChannelRow[];
  /** Pending and firing now. */
  readonly incidents: readonly IncidentRow[];
  /** Signing secrets that were made just now, by the id of the channel. */
  readonly newSecrets: ReadonlyMap<string, string>;
}

export interface TestResult {
  readonly channel: ChannelRow;
  /** null: the message was taken. */
  readonly error: string | null;
}

export interface AlertDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly nodes: Pick<NodeControl, 'connections'>;
  readonly sender: Pick<AlertSender, 'sendNow'>;
  readonly confirmations: Confirmations;
  readonly postRules: PostRules;
}

const record = auditOf('alert');

export class Alerts {
  readonly #deps: AlertDeps;
  readonly #tests = new Shares(TEST_PLACES);

  constructor(deps: AlertDeps) {
    this.#deps = deps;
  }

  /** Of the actor's organization, oldest first. */
  list(actor: Actor): readonly RuleView[] {
    allow(actor, 'read', 'alert');
    const { db } = this.#deps.store;
    const rows = rulesOf(db, actor.orgId);
    const ids = rows.map(({ id }) => id);
    const channels = Map.groupBy(channelsOf(db, ids), ({ ruleId }) => ruleId);
    const states = statesOf(db, actor.orgId);
    return rows.map((row) => ({
      row,
      channels: channels.get(row.id) ?? [],
      incidents: states.get(row.id) ?? [],
      newSecrets: new Map(),
    }));
  }

  /** What fired last in the organization, newest first. */
  history(actor: Actor): readonly IncidentRow[] {
    allow(actor, 'read', 'alert');
    return historyOf(this.#deps.store.db, actor.orgId);
  }

  /** Throws `invalid_request`, `conflict` beyond the bound, `not_found` (tunnel), `rate_limited`, `forbidden`. */
  create(actor: Actor, input: NewRule): RuleView {
    allow(actor, 'create', 'alert');
    const { store } = this.#deps;
    const made = store.inTx((tx) => {
      checkRoom(tx, actor, { ...ROOM, has: rulesOf(tx.db, actor.orgId).length });
      const { channels: _, ...settings } = input;
      const row: RuleRow = {
        ...settings,
        id: uuidv7(),
        orgId: actor.orgId,
        threshold: thresholdOf(input.kind, input.threshold),
        activeSince: tx.now,
        createdAt: tx.now,
        updatedAt: tx.now,
      };
      requireRule(tx, row);
      insertRule(tx, row);
      const newSecrets = this.#putChannels(tx, actor, { ruleId: row.id, inputs: input.channels });
      if (row.kind === 'new_address') this.#knowPresent(tx, row.orgId);
      record(tx, actor, { action: 'alert.create', row, details: detailsOf(row, input.channels) });
      return { id: row.id, newSecrets };
    });
    return this.#view(ownRule(store.db, actor.orgId, made.id), made.newSecrets);
  }

  /** What is not given stays. Throws `not_found`, `invalid_request`, `forbidden`. */
  update(actor: Actor, id: string, changes: Partial<NewRule>): RuleView {
    allow(actor, 'change', 'alert');
    const { store } = this.#deps;
    const newSecrets = store.inTx((tx) => {
      const before = ownRule(tx.db, actor.orgId, id);
      const { channels, threshold, ...settings } = changes;
      const kind = settings.kind ?? before.kind;
      const old = kind === before.kind ? before.threshold : null;
      const row: RuleRow = {
        ...before,
        ...settings,
        threshold: thresholdOf(kind, threshold === undefined ? old : threshold),
        updatedAt: tx.now,
      };
      const isElsewhere = row.tunnelId !== null && row.tunnelId !== before.tunnelId;
      const isAnew = (row.enabled && !before.enabled) || kind !== before.kind || isElsewhere;
      const next = isAnew ? { ...row, activeSince: tx.now } : row;
      requireRule(tx, next);
      updateRule(tx, next);
      if (isAnew || !next.enabled) closeIncidents(tx, id);
      if (isAnew && kind === 'new_address') this.#knowPresent(tx, row.orgId);
      const listed = channels === undefined ? null : this.#channelsText(tx, id);
      const made =
        channels === undefined
          ? new Map<string, string>()
          : this.#putChannels(tx, actor, { ruleId: id, inputs: channels });
      const changed = [
        ...changesBetween(fieldsOf(tx.db, before), fieldsOf(tx.db, next)),
        ...(listed === null ? [] : partlySecretChange('channels', [listed, this.#channelsText(tx, id)], shownChannels)),
      ];
      record(tx, actor, { action: 'alert.update', row, details: detailsOf(next, channels), changes: changed });
      return made;
    });
    return this.#view(ownRule(store.db, actor.orgId, id), newSecrets);
  }

  /** With its history. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'alert');
    this.#deps.store.inTx((tx) => {
      const row = ownRule(tx.db, actor.orgId, id);
      deleteRules(tx, [id]);
      record(tx, actor, { action: 'alert.delete', row, details: { kind: row.kind } });
    });
  }

  /** Sends a message to all channels of the rule, in quiet hours too. Throws `not_found`, `rate_limited`, `forbidden`. */
  async test(actor: Actor, id: string): Promise<readonly TestResult[]> {
    allow(actor, 'change', 'alert');
    const { store, sender } = this.#deps;
    const leave = this.#tests.take(actor.orgId);
    if (leave === undefined) throw new AppError('rate_limited', 'Another test is running. Wait until it is done.');
    try {
      const row = ownRule(store.db, actor.orgId, id);
      const organization = { id: actor.orgId, name: findOrg(store.db, actor.orgId)?.name ?? '' };
      store.inTx((tx) => {
        checkDailyLimit(tx, actor, TESTS);
        record(tx, actor, { action: 'alert.test', row, details: { kind: row.kind } });
      });
      const head = { ruleId: id, kind: row.kind, organization, at: store.clock.now() };
      return await Promise.all(
        channelsOf(store.db, [id]).map(async (channel) => {
          const messageId = uuidv7();
          const message = { orgId: actor.orgId, id: messageId, notice: testNotice(head, messageId) };
          return { channel, error: await sender.sendNow(channel.id, message) };
        }),
      );
    } finally {
      leave();
    }
  }

  /** Sends the confirmation email of a waiting channel again. Throws `not_found`, `conflict`, `rate_limited`, `forbidden`. */
  resendConfirmation(actor: Actor, id: string, channelId: string): RuleView {
    allow(actor, 'change', 'alert');
    const { store, confirmations } = this.#deps;
    store.inTx((tx) => {
      const row = ownRule(tx.db, actor.orgId, id);
      const channel = channelsOf(tx.db, [row.id]).find((one) => one.id === channelId);
      if (channel === undefined)
        throw new AppError('not_found', 'The alert rule has no channel with this id. Check the id.');
      confirmations.resend(tx, actor, channel);
    });
    return this.#view(ownRule(store.db, actor.orgId, id), new Map());
  }

  /** By the owner of an address, who needs no account. Throws `not_found`. */
  confirm(token: string): Confirmed {
    return this.#deps.confirmations.confirm(token);
  }

  /** Rules that watch a tunnel go with it. */
  tunnelsDeleted(tx: Tx, tunnelIds: readonly string[]): void {
    const rows = rulesOnTunnels(tx.db, tunnelIds);
    deleteRules(
      tx,
      rows.map(({ id }) => id),
    );
    for (const row of rows)
      record(tx, { kind: 'system', orgId: row.orgId }, { action: 'alert.delete', row, details: { kind: row.kind } });
  }

  /** The rules of an organization that was deleted, and what it knows of addresses. A Drain. */
  drain(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
    const rows = allRules(tx.db, scope, limit);
    deleteRules(
      tx,
      rows.map(({ id }) => id),
    );
    for (const row of rows) record(tx, actor, { action: 'alert.delete', row, details: { kind: row.kind } });
    return rows.length + (rows.length < limit ? forgetAddressesOf(tx, scope, limit - rows.length) : 0);
  }

  #view(row: RuleRow, newSecrets: ReadonlyMap<string, string>): RuleView {
    const { db } = this.#deps.store;
    return {
      row,
      channels: channelsOf(db, [row.id]),
      incidents: statesOf(db, row.orgId).get(row.id) ?? [],
      newSecrets,
    };
  }

  /** Returns the secrets that were made. */
  #putChannels(tx: Tx, actor: UserActor, { ruleId, inputs }: GivenChannels): ReadonlyMap<string, string> {
    const { sealer, postRules, confirmations } = this.#deps;
    const links = new Map<string, PendingLink | null>();
    const before = new Map(channelsOf(tx.db, [ruleId]).map((row) => [row.id, row]));
    const newSecrets = new Map<string, string>();
    const list = inputs.map((input, index): ListedChannel => {
      const fault = (field: string, message: string): AppError => {
        const path = `channels.${index}.${field}`;
        return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
      };
      const old = input.id === undefined ? undefined : before.get(input.id);
      if (input.id !== undefined && old === undefined) throw fault('id', 'is not a channel of this rule');
      const made = channelOf(input, old === undefined ? undefined : openChannel(sealer, old));
      if ('problem' in made) throw fault(made.field, made.problem);
      const url = urlOf(made.channel);
      const problem = url === null ? null : urlProblem(url, postRules);
      if (problem !== null) throw fault('url', problem);
      const id = input.id ?? uuidv7();
      if (made.newSecret !== null) newSecrets.set(id, made.newSecret);
      if (made.channel.type !== 'email') return { id, channel: made.channel, link: null };
      const { to } = made.channel;
      // Twice in one list: one email.
      const key = emailKey(to);
      const link = links.get(key) ?? confirmations.linkFor(tx, actor, { to, ruleId, before: old });
      links.set(key, link);
      return { id, channel: made.channel, link };
    });
    const ids = list.map(({ id }) => id);
    if (new Set(ids).size < ids.length)
      throw new AppError('invalid_request', 'channels contains the same id twice. Remove one of them.');
    putChannels(tx, sealer, { rule: ruleId, list });
    return newSecrets;
  }

  /** All settings of all channels, with their secrets: to be compared, never to be kept. */
  #channelsText(tx: Tx, ruleId: string): string {
    const settingsOf = (row: ChannelRow): Channel | string => {
      try {
        return openChannel(this.#deps.sealer, row);
      } catch {
        // It can't be decrypted, which the channel's own error says. It must stay possible to replace it.
        return row.sealedSettings;
      }
    };
    const rows = channelsOf(tx.db, [ruleId]);
    return JSON.stringify(rows.map((row) => ({ shown: `${row.type} ${row.target}`, settings: settingsOf(row) })));
  }

  /** Addresses of agents that are there now, and of the last ones that were, are not new. */
  #knowPresent(tx: Tx, orgId: string): void {
    const live = this.#deps.nodes.connections().filter((one) => one.orgId === orgId);
    const agents = seenAgents(tx.db, live, { orgId, since: 0 });
    rememberAddresses(
      tx,
      orgId,
      agents.map(({ address }) => address),
    );
  }
}

/** Throws `not_found` for a tunnel of another organization, `invalid_request`. */
function requireRule(tx: Tx, row: RuleRow): void {
  const problem = ruleProblem(row.kind, row) ?? (row.quietHours === null ? null : quietProblem(row.quietHours));
  if (problem !== null) throw new AppError('invalid_request', problem.message, { details: [problem] });
  if (row.tunnelId !== null) ownTunnel(tx.db, row.orgId, row.tunnelId);
}

function quietProblem(hours: QuietHours): { path: string; message: string } | null {
  const problem = quietHoursProblem(hours);
  if (problem === null) return null;
  return { path: `quiet_hours.${problem.field}`, message: `quiet_hours.${problem.field} ${problem.message}.` };
}

/** For the audit log. */
function detailsOf(row: RuleRow, channels: readonly ChannelInput[] | undefined): AuditDetails {
  const { kind, threshold, forMinutes: for_minutes, tunnelId, enabled } = row;
  return {
    kind,
    for_minutes,
    enabled,
    ...(threshold === null ? {} : { threshold }),
    ...(tunnelId === null ? {} : { tunnel: tunnelId }),
    ...(channels === undefined ? {} : { channels: channels.map(({ type }) => type).join(', ') }),
  };
}

/** For the audit log, by the names of the API. */
function fieldsOf(db: Db, { kind, threshold, forMinutes, tunnelId, enabled, quietHours: quiet }: RuleRow) {
  return {
    ...{ kind, threshold, for_minutes: forMinutes, tunnel: labelOf(db, tunnelId), enabled },
    quiet_hours: quiet === null ? null : `${quiet.from} to ${quiet.to}, ${quiet.time_zone}`,
  };
}

/** `email ops@example.com, slack https://hooks.slack.com/…`. */
function shownChannels(text: string): string {
  return (JSON.parse(text) as ReadonlyArray<{ readonly shown: string }>).map(({ shown }) => shown).join(', ');
}
