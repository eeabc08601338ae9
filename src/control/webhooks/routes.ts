/** `/webhook-receivers` and `/webhooks/{id}`: the webhook mailbox. */
import { z } from '@hono/zod-openapi';
import { WEBHOOK_KINDS } from '../../signatures/kinds.ts';
import { MAX_SECRETS } from '../../signatures/validators.ts';
import type { Redeliveries } from './attempts/redelivery.ts';
import { mountRedelivery } from './attempts/redelivery-routes.ts';
import { mountAttempts } from './attempts/routes.ts';
import { MAX_ORG_BYTES, MAX_STORED, MAX_STORED_BYTES, STATE_FILTERS } from './delivery-rows.ts';
import type { Destination } from './forward-rows.ts';
import { MAX_RECEIVERS, type Receivers, type ShownReceiver } from './service.ts';
import { type Api, actorOf, goneSignal, readerOf } from '../core/http/context.ts';
import { defineRoute, WITH_AGENT_KEYS } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, jsonBody } from '../core/http/fields/shared.ts';
import { deliverySchema, presentDelivery } from './delivery-schemas.ts';
import { destination, presentReceiver, receiver } from './receiver-schemas.ts';
import { acceptedSchema } from './senders/schemas.ts';
import { someName } from '../core/http/fields/new-account.ts';
import { text } from '../core/http/fields/text.ts';
import type { Mailbox } from './mailbox.ts';
import { mountTestEvents } from './test-events/routes.ts';
import type { TestEvents } from './test-events/service.ts';
import type { ReceiverWarnings } from './warnings/service.ts';
import { mountSenders } from './senders/routes.ts';
import { given } from '../../base/given.ts';

interface Deps {
  readonly mailbox: Mailbox;
  readonly publicUrl: () => string;
  readonly receivers: Receivers;
  readonly redeliveries: Redeliveries;
  readonly testEvents: TestEvents;
  readonly warnings: ReceiverWarnings;
}

/** Below what proxies commonly allow an answer to take (60 s). */
const MAX_WAIT_SECONDS = 30;
const MEGABYTE = 1024 * 1024;

const name = someName().openapi({ example: 'orders' });
const validator = z.enum(WEBHOOK_KINDS).openapi({
  example: 'github',
  description:
    '`generic_hmac_sha256`: `X-Signature-256: sha256=<hex HMAC-SHA256 of the body>`, with `X-Delivery-Id` and `X-Event-Type` if the sender has them. `generic_ed25519`: `X-Signature-Ed25519: <hex signature of the timestamp and the body>`, with `X-Signature-Timestamp` (seconds), and these two. `standard_webhooks`: Svix and others, `webhook-id`, `webhook-timestamp`, `webhook-signature`. All others: the signatures of these services. Meta signs as `github`.',
});
const oneSecret = text(1, 512, { pattern: /\S/, says: 'must not be empty' });
const secret = z.union([oneSecret, z.array(oneSecret).min(1).max(MAX_SECRETS)]).openapi({
  example: 'k3Yw0mV8…',
  description: `Shared with the sender; the API never returns it. For \`discord\` and \`generic_ed25519\`, the sender's public key. While you replace a secret: a list of up to ${MAX_SECRETS}, each of which holds.`,
});
const forward = destination.nullable().openapi({
  description: 'New and waiting deliveries are forwarded to this tunnel, in order. null: deliveries are only stored.',
});
const newReceiver = z
  .object({ name, validator, secret, forward: forward.optional() })
  .openapi('NewWebhookReceiver', { example: { name: 'orders', validator: 'github', secret: 'k3Yw0mV8…' } });
const changes = newReceiver.partial().openapi('WebhookReceiverChanges', { example: { name: 'orders, new shop' } });

const reading = z.object({
  after: z.uuid().optional().openapi({ description: 'ID of your last delivery; omitted: from the oldest' }),
  order: z.enum(['oldest', 'newest']).default('oldest').openapi({
    description: '`newest`: newest first; `after` and `wait` are ignored',
  }),
  before: z.uuid().optional().openapi({
    description: 'With `order=newest`: ID of your oldest delivery; omitted: from the newest',
  }),
  brief: z.enum(['true', 'false']).default('false').openapi({
    description: 'With `order=newest`: `true` leaves `headers` and `body` empty.',
  }),
  state: z.enum(STATE_FILTERS).optional().openapi({
    description:
      'Only deliveries whose forwarding has this state; `waiting` includes the one that is being sent. Ignores `wait`',
  }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  wait: z.coerce.number().int().min(0).max(MAX_WAIT_SECONDS).default(0).openapi({
    type: 'integer',
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    description: 'Seconds to wait for a delivery if there is none; the response can come earlier',
  }),
});

const event = z.object({ id: z.string(), event_id: z.string() });
const tags = ['webhooks'];

/** Mounts the webhook mailbox: receivers, their deliveries and the URL of senders. */
export function mountWebhookReceivers(app: Api, deps: Deps): void {
  mountReceiverList(app, deps);
  mountReceiver(app, deps);
  mountEvents(app, deps);
  mountAttempts(app, deps);
  mountRedelivery(app, deps);
  mountTestEvents(app, deps);
  mountSenders(app, deps);
}

function mountReceiverList(app: Api, { receivers, ...deps }: Deps): void {
  const present = presentWith(deps);
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers',
      tags,
      summary: 'List webhook receivers, oldest first',
      responses: { 200: json(z.array(receiver), 'Receivers') },
    }),
    (c) => c.json(receivers.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/webhook-receivers',
        'x-needs': 'webhook_receiver.create',
        tags,
        summary: 'Create a URL that receives signed webhooks',
        description: `At most ${MAX_RECEIVERS}. Each stores ${MAX_STORED} deliveries and ${MAX_STORED_BYTES / MEGABYTE} MiB, and all together ${MAX_ORG_BYTES / MEGABYTE} MiB, for the retention of the plan. Above that, the oldest are deleted.`,
        request: { body: jsonBody(newReceiver) },
        responses: { 201: json(receiver, 'Created') },
      },
      ['forbidden', 'not_found', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { forward, secret, ...made } = c.req.valid('json');
      const to = destinationFrom(forward) ?? null;
      const row = receivers.create(actorOf(c), { ...made, secrets: [secret].flat(), forward: to });
      return c.json(present(row), 201);
    },
  );
}

function mountReceiver(app: Api, { receivers, ...deps }: Deps): void {
  const present = presentWith(deps);
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}',
      tags,
      summary: 'Get a webhook receiver',
      request: { params: byId },
      responses: { 200: json(receiver, 'The receiver') },
    }),
    (c) => c.json(present(receivers.get(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/webhook-receivers/{id}',
        'x-needs': 'webhook_receiver.change',
        tags,
        summary: 'Change a webhook receiver',
        description: 'A new validator or secret applies from the next delivery on.',
        request: { params: byId, body: jsonBody(changes) },
        responses: { 200: json(receiver, 'Changed') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { name, validator, secret, forward: asked } = c.req.valid('json');
      const forward = destinationFrom(asked);
      const secrets = secret === undefined ? undefined : [secret].flat();
      const change = given({ name, validator, secrets, forward });
      return c.json(present(receivers.update(actorOf(c), c.req.valid('param').id, change)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/webhook-receivers/{id}',
        tags,
        summary: 'Delete a webhook receiver and its deliveries',
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      receivers.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function mountEvents(app: Api, { mailbox }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}/events',
      security: WITH_AGENT_KEYS,
      tags,
      summary: 'List deliveries after a cursor, oldest first',
      description:
        'With the ID of your last delivery as `after`, you get each delivery exactly once. With `wait`, the request waits for the next delivery. With `order=newest`, the latest deliveries come first, and `before` leads to older ones. A response with many large bodies has fewer deliveries than `limit`.',
      request: { params: byId, query: reading },
      responses: { 200: json(z.array(deliverySchema), 'Deliveries') },
    }),
    async (c) => {
      const { after, before, brief, limit, order, state, wait } = c.req.valid('query');
      const { id } = c.req.valid('param');
      const reader = readerOf(c);
      if (order === 'newest') {
        const page = { before, limit, state, isBrief: brief === 'true' };
        return c.json(mailbox.latest(reader(), id, page).map(presentDelivery), 200);
      }
      const rows = await mailbox.read(reader, id, {
        after,
        limit,
        state,
        waitSeconds: state === undefined ? wait : 0,
        gone: goneSignal(c),
      });
      return c.json(rows.map(presentDelivery), 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}/events/{event_id}',
      tags,
      summary: 'Get a delivery with its headers and body',
      request: { params: event },
      responses: { 200: json(deliverySchema, 'The delivery') },
    }),
    (c) => {
      const { id, event_id } = c.req.valid('param');
      return c.json(presentDelivery(mailbox.get(actorOf(c), id, event_id)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/webhook-receivers/{id}/events/{event_id}/redeliver',
        tags,
        summary: 'Send a delivery to the tunnel again',
        description: 'The delivery goes before all waiting ones.',
        request: { params: event },
        responses: { 202: json(acceptedSchema, 'The delivery is the next to be sent') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { id, event_id } = c.req.valid('param');
      mailbox.redeliver(actorOf(c), id, event_id);
      return c.json({ ok: true as const }, 202);
    },
  );
}

function destinationFrom(said: z.output<typeof forward> | undefined): Destination | null | undefined {
  return said === null || said === undefined ? said : { tunnelId: said.tunnel_id, path: said.path };
}

function presentWith({ publicUrl, warnings }: Pick<Deps, 'publicUrl' | 'warnings'>) {
  return (row: ShownReceiver) => {
    const url = publicUrl();
    return presentReceiver(row, { publicUrl: url, warnings: warnings.of(row, url) });
  };
}
