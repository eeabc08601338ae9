/** `/alerts`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, DONE, done, jsonBody } from '../../core/http/fields/shared.ts';
import {
  alert,
  alertChanges,
  changesFrom,
  confirmed,
  confirmToken,
  incidentList,
  newAlert,
  presentAlert,
  presentIncident,
  presentTest,
  ruleFrom,
  testResult,
} from './schemas.ts';
import { type Alerts, MAX_CHANNELS, MAX_RULES } from './service.ts';

interface Deps {
  readonly alerts: Alerts;
}

const tags = ['alerts'];

/** Mounts alert rules: the list, one rule, its test, and what fired. */
export function mountAlerts(app: Api, deps: Deps): void {
  mountList(app, deps);
  mountOne(app, deps);
  mountConfirmation(app, deps);
}

function mountList(app: Api, { alerts }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/alerts',
      tags,
      summary: 'List alert rules, oldest first',
      responses: { 200: json(z.array(alert), 'Rules') },
    }),
    (c) => c.json(alerts.list(actorOf(c)).map(presentAlert), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/alerts',
        'x-needs': 'alert.create',
        tags,
        summary: 'Create an alert rule',
        description: `At most ${MAX_RULES}, each with up to ${MAX_CHANNELS} channels. Rules are evaluated every 10 seconds. Alerts that start or end within 30 seconds go out in one message.`,
        request: { body: jsonBody(newAlert) },
        responses: { 201: json(alert, 'Created') },
      },
      ['forbidden', 'not_found', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(presentAlert(alerts.create(actorOf(c), ruleFrom(c.req.valid('json')))), 201),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/alerts/history',
      tags,
      summary: 'List the last alerts that fired, newest first',
      description: 'At most 100, for 90 days.',
      responses: { 200: json(incidentList, 'Alerts') },
    }),
    (c) => c.json(alerts.history(actorOf(c)).map(presentIncident), 200),
  );
}

function mountOne(app: Api, { alerts }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/alerts/{id}',
        'x-needs': 'alert.change',
        tags,
        summary: 'Change an alert rule',
        description:
          'Omitted fields stay unchanged. `channels` replaces the whole list; a channel with its `id` keeps its omitted secrets.',
        request: { params: byId, body: jsonBody(alertChanges) },
        responses: { 200: json(alert, 'Changed') },
      },
      ['forbidden'],
    ),
    (c) =>
      c.json(presentAlert(alerts.update(actorOf(c), c.req.valid('param').id, changesFrom(c.req.valid('json')))), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/alerts/{id}',
        tags,
        summary: 'Delete an alert rule with its history',
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      alerts.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/alerts/{id}/test',
        tags,
        summary: 'Send a test to all channels of an alert rule',
        description: 'Also in quiet hours.',
        request: { params: byId },
        responses: { 200: json(testResult, 'Result of each channel') },
      },
      ['forbidden', 'rate_limited'],
    ),
    async (c) => c.json(presentTest(await alerts.test(actorOf(c), c.req.valid('param').id)), 200),
  );
}

const byChannel = byId.extend({ channel_id: z.uuid() });

function mountConfirmation(app: Api, { alerts }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/alerts/{id}/channels/{channel_id}/resend',
        'x-needs': 'alert.change',
        tags,
        summary: 'Send the confirmation email of a channel again',
        description: 'For a `pending` channel. Links of earlier emails stop working.',
        request: { params: byChannel },
        responses: { 200: json(alert, 'The rule') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { id, channel_id: channelId } = c.req.valid('param');
      return c.json(presentAlert(alerts.resendConfirmation(actorOf(c), id, channelId)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/alerts/confirm',
        security: [],
        tags,
        summary: 'Verify an email address for alerts',
        description:
          'It needs no account. 404 for a token that is used, replaced or expired. The rate limit is that of `/auth/*`, counted separately.',
        request: { body: jsonBody(confirmToken) },
        responses: { 200: json(confirmed, 'Confirmed') },
      },
      ['not_found', 'rate_limited'],
    ),
    (c) => c.json(alerts.confirm(c.req.valid('json').token), 200),
  );
}
