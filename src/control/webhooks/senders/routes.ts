/** `/webhooks/{id}`: where senders deliver, and where they check the address. No bearer: a signature, or the receiver's verify token. */
import { z } from '@hono/zod-openapi';
import type { Api } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { type Mailbox, unknownReceiver } from '../mailbox.ts';
import { acceptedSchema, hubQuery, repliedSchema } from './schemas.ts';

interface Deps {
  readonly mailbox: Mailbox;
  readonly publicUrl: () => string;
}

const PATH = '/webhooks/{receiver_id}';
const params = z.object({ receiver_id: z.string() });
const tags = ['webhooks'];

export function mountSenders(app: Api, deps: Deps): void {
  mountDelivery(app, deps);
  mountChallenge(app, deps);
}

function mountDelivery(app: Api, { mailbox, publicUrl }: Deps): void {
  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        method: 'post',
        path: PATH,
        security: [],
        tags,
        summary: 'Deliver a webhook to a receiver',
        request: {
          params,
          body: {
            required: false,
            content: {
              'application/json': { schema: z.looseObject({}).openapi({ example: { ref: 'refs/heads/main' } }) },
            },
          },
        },
        responses: {
          200: json(repliedSchema, "Response to Slack's and Discord's check of the URL; stored, for Linear"),
          202: json(acceptedSchema, 'Stored, now or earlier'),
          204: { description: 'Stored, for Twilio and the events of Discord' },
        },
      },
      ['invalid_signature', 'conflict', 'unavailable'],
    ),
  );
  // Not by `openapi`: the signature is over the bytes as they came, whatever their type.
  app.post('/webhooks/:receiver_id', async (c) => {
    const body = Buffer.from(await c.req.arrayBuffer());
    const receiverId = idOf(c.req.param('receiver_id'));
    // As the sender has it: behind a proxy the host of this request may be another.
    const url = `${publicUrl()}/webhooks/${receiverId}${queryOf(c.req.url)}`;
    const reply = mailbox.receive(receiverId, { headers: c.req.header(), body, url, remoteIp: c.get('clientIp') });
    return reply.body === null ? c.body(null, 204) : c.json(reply.body, reply.status);
  });
}

function mountChallenge(app: Api, { mailbox }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: PATH,
        security: [],
        tags,
        summary: "Check a receiver's URL, as Meta does",
        description: 'Returns `hub.challenge` if `hub.verify_token` is the verify token of the receiver.',
        request: { params, query: hubQuery },
        responses: {
          200: {
            description: 'The text of `hub.challenge`',
            content: { 'text/plain': { schema: z.string().openapi({ example: '1158201444' }) } },
          },
        },
      },
      ['forbidden', 'not_found'],
    ),
    (c) => {
      const text = mailbox.challenge(idOf(c.req.valid('param').receiver_id), c.req.valid('query'));
      c.header('X-Content-Type-Options', 'nosniff');
      return c.text(text, 200);
    },
  );
}

/** Throws `not_found` for what can be no id: then nothing is looked up. */
function idOf(text: string): string {
  if (!z.uuid().safeParse(text).success) throw unknownReceiver();
  return text;
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}
