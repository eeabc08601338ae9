/** Alert rules as the API shows and takes them. */
import { z } from '@hono/zod-openapi';
import { newEmail } from '../../core/http/fields/new-account.ts';
import { iso } from '../../core/http/fields/shared.ts';
import { text } from '../../core/http/fields/text.ts';
import type { ChannelInput } from './channels/channels.ts';
import type { NewRule, RuleView, TestResult } from './service.ts';
import { MAX_CHANNELS } from './service.ts';
import type { Incident } from './views.ts';
import { ALERT_KINDS, CHANNEL_TYPES, INCIDENT_VIEW_STATES } from './views.ts';

const ID = '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13';
const TUNNEL = '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10';
const AT = '2026-11-21T02:27:00.000Z';

const kind = z.enum(ALERT_KINDS).openapi({
  description:
    '`tunnel_offline`: a tunnel without an agent, unless it is paused, expired or in maintenance; `error_rate`: share of 5xx responses; `latency_p95`: time to the first byte; `webhook_failing`: deliveries of a receiver fail; `certificate`: it fails, or ends within two days; `budget`: an access key has spent this percentage of its budget; `new_address`: an agent from an address that no agent of the organization has used before',
});
const scope = z
  .object({ tunnel_id: text(1, 64).optional() })
  .openapi({ description: 'Without `tunnel_id`, the whole organization. `budget` and `new_address` have no scope.' });
const threshold = z.number().nullable().openapi({
  description:
    '`error_rate`: a share of requests, up to 1 (default 0.05); `latency_p95`: milliseconds (default 1000); `budget`: percent (default 80). Other kinds have none.',
});
const forMinutes = z.int().min(1).max(1440).openapi({
  description: 'How long the problem must last before the alert fires. Ignored for `new_address`.',
});
const quietHours = z.object({ from: text(1, 5), to: text(1, 5), time_zone: text(1, 64) }).openapi({
  description: 'Messages are held until the quiet hours end, then sent as one. Recovered alerts are left out.',
  example: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' },
});

const channel = z
  .object({
    id: z
      .uuid()
      .optional()
      .openapi({ description: 'ID of an existing channel of this rule. Omitted fields stay unchanged.' }),
    type: z.enum(CHANNEL_TYPES),
    to: newEmail.optional().openapi({ description: '`email`: the address' }),
    url: text(1, 2048).optional().openapi({
      description: 'All types but `email`. `ntfy`: including the topic. `pagerduty`: only for another region',
    }),
    secret: text(1, 200).optional().openapi({
      description: '`webhook`: signing secret, `whsec_` followed by base64. Generated if omitted',
    }),
    token: text(1, 512).nullable().optional().openapi({ description: '`ntfy`: access token; null removes it' }),
    routing_key: text(1, 100).optional().openapi({ description: '`pagerduty`: integration key' }),
  })
  .openapi('NewAlertChannel', { example: { type: 'email', to: 'ops@example.com' } });
const channels = z.array(channel).min(1).max(MAX_CHANNELS);

const settings = {
  kind,
  threshold: threshold.optional(),
  for_minutes: forMinutes,
  channels,
  enabled: z.boolean().optional(),
};
export const newAlert = z
  .object({ ...settings, scope: scope.optional(), quiet_hours: quietHours.nullable().optional() })
  .openapi('NewAlert', {
    example: {
      kind: 'tunnel_offline',
      scope: {},
      for_minutes: 5,
      channels: [{ type: 'email', to: 'ops@example.com' }],
    },
  });
export const alertChanges = newAlert.partial().openapi('AlertChanges', { example: { for_minutes: 10 } });

const shownChannel = z
  .object({
    id: z.uuid(),
    type: z.enum(CHANNEL_TYPES),
    to: z.string().optional(),
    url: z.string().optional().openapi({ description: 'Without its secret parts' }),
    secret: z.string().optional().openapi({
      description:
        '`webhook`: verifies `webhook-signature` (Standard Webhooks). Only in the response to the request that created it.',
    }),
    state: z.enum(['active', 'pending']).openapi({
      description:
        '`pending`: the owner of the email address must confirm it by the link in an email; it gets no alerts',
    }),
    confirm_until: z.iso.datetime().nullable().openapi({ description: 'Expiry of the link, if `pending`' }),
    last_sent_at: z.iso.datetime().nullable(),
    last_error: z.string().nullable().openapi({ description: 'Error of the last attempt; null: it succeeded' }),
    failing_since: z.iso.datetime().nullable(),
  })
  .openapi('AlertChannel');
const incident = z
  .object({
    id: z.uuid(),
    alert_id: z.uuid(),
    object: z.object({ type: z.string(), id: z.string() }),
    state: z.enum(INCIDENT_VIEW_STATES).openapi({
      description: '`pending`: has not lasted `for_minutes` yet; `noted`: a single event, which does not recover',
    }),
    title: z.string(),
    detail: z.string(),
    since: z.iso.datetime(),
    fired_at: z.iso.datetime().nullable(),
    recovered_at: z.iso.datetime().nullable(),
    href: z.string().openapi({ description: 'Path of the dashboard page, relative to the base URL of the API' }),
  })
  .openapi('AlertIncident', {
    example: {
      id: ID,
      alert_id: ID,
      object: { type: 'tunnel', id: TUNNEL },
      state: 'firing',
      title: 'Tunnel shop is offline',
      detail: "The connection to its agent broke. Check the agent's machine and network.",
      since: AT,
      fired_at: '2026-11-21T02:32:00.000Z',
      recovered_at: null,
      href: `/app/tunnels/${TUNNEL}`,
    },
  });
export const incidentList = z.array(incident);

export const alert = z
  .object({
    id: z.uuid(),
    kind,
    scope,
    threshold,
    for_minutes: forMinutes,
    channels: z.array(shownChannel),
    quiet_hours: quietHours.nullable(),
    enabled: z.boolean(),
    state: z.enum(['ok', 'pending', 'firing', 'disabled']),
    incidents: incidentList.openapi({ description: 'Pending and firing now' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Alert', {
    example: {
      id: ID,
      kind: 'tunnel_offline',
      scope: {},
      threshold: null,
      for_minutes: 5,
      channels: [
        {
          id: ID,
          type: 'email',
          to: 'ops@example.com',
          state: 'active',
          confirm_until: null,
          last_sent_at: AT,
          last_error: null,
          failing_since: null,
        },
      ],
      quiet_hours: null,
      enabled: true,
      state: 'ok',
      incidents: [],
      created_at: AT,
      updated_at: AT,
    },
  });

export const testResult = z
  .object({
    ok: z.boolean().openapi({ description: 'All channels accepted the test' }),
    results: z.array(
      z.object({
        channel_id: z.uuid(),
        type: z.enum(CHANNEL_TYPES),
        ok: z.boolean().openapi({ description: 'Of an email: it is on its way' }),
        error: z.string().nullable(),
      }),
    ),
  })
  .openapi('AlertTest', {
    example: {
      ok: false,
      results: [{ channel_id: ID, type: 'slack', ok: false, error: 'The endpoint responded with status 404.' }],
    },
  });

export const confirmToken = z
  .object({ token: text(1, 200) })
  .openapi('AlertConfirmation', { example: { token: 'Vd3c…' } });
export const confirmed = z
  .object({ organization: z.string(), email: z.string() })
  .openapi('AlertConfirmed', { example: { organization: 'Acme', email: 'ops@example.com' } });

/** A rule from a request. */
export function ruleFrom(body: z.infer<typeof newAlert>): NewRule {
  const { scope: of, quiet_hours, for_minutes, enabled = true, threshold: bound, ...rest } = body;
  return {
    ...rest,
    tunnelId: of?.tunnel_id ?? null,
    threshold: bound,
    forMinutes: for_minutes,
    quietHours: quiet_hours ?? null,
    enabled,
    channels: rest.channels satisfies readonly ChannelInput[],
  };
}

/** What a request changes. */
export function changesFrom(body: z.infer<typeof alertChanges>): Partial<NewRule> {
  const { scope: of, quiet_hours, for_minutes, kind: to, threshold: bound, channels: list, enabled } = body;
  return {
    ...(to === undefined ? {} : { kind: to }),
    ...(of === undefined ? {} : { tunnelId: of.tunnel_id ?? null }),
    ...(bound === undefined ? {} : { threshold: bound }),
    ...(for_minutes === undefined ? {} : { forMinutes: for_minutes }),
    ...(list === undefined ? {} : { channels: list }),
    ...(quiet_hours === undefined ? {} : { quietHours: quiet_hours }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

export function presentAlert({ row, channels: list, incidents, newSecrets }: RuleView): z.infer<typeof alert> {
  return {
    id: row.id,
    kind: row.kind,
    scope: row.tunnelId === null ? {} : { tunnel_id: row.tunnelId },
    threshold: row.threshold,
    for_minutes: row.forMinutes,
    channels: list.map((one) => {
      const secret = newSecrets.get(one.id);
      return {
        id: one.id,
        type: one.type,
        ...(one.type === 'email' ? { to: one.target } : { url: one.target }),
        ...(secret === undefined ? {} : { secret }),
        state: one.confirmHash === null ? 'active' : 'pending',
        confirm_until: iso(one.confirmUntil),
        last_sent_at: iso(one.lastSentAt),
        last_error: one.lastError,
        failing_since: iso(one.failingSince),
      };
    }),
    quiet_hours: row.quietHours,
    enabled: row.enabled,
    state: stateOf(row.enabled, incidents),
    incidents: incidents.map(presentIncident),
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
  };
}

function stateOf(enabled: boolean, incidents: RuleView['incidents']): z.infer<typeof alert>['state'] {
  if (!enabled) return 'disabled';
  if (incidents.some(({ state }) => state !== 'pending')) return 'firing';
  return incidents.length > 0 ? 'pending' : 'ok';
}

export function presentIncident(row: Incident): z.infer<typeof incident> {
  return {
    id: row.id,
    alert_id: row.ruleId,
    object: { type: row.objectType, id: row.objectId },
    state: row.state === 'recovering' ? 'firing' : row.state,
    title: row.title,
    detail: row.detail,
    since: iso(row.since),
    fired_at: iso(row.firedAt),
    recovered_at: row.state === 'recovered' ? iso(row.wellAt) : null,
    href: row.href,
  };
}

export function presentTest(results: readonly TestResult[]): z.infer<typeof testResult> {
  return {
    ok: results.every(({ error }) => error === null),
    results: results.map(({ channel: { id, type }, error }) => ({ channel_id: id, type, ok: error === null, error })),
  };
}
