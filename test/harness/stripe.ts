/**
 * A server that is to its clients what Stripe is: customers, checkout sessions with a page that completes, subscriptions, portal sessions,
 * idempotency keys, errors in Stripe's words, and events that it signs and sends again until they are taken. Nothing is charged.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ends } from './ends.ts';

export const SECRET_KEY = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc';
export const WEBHOOK_SECRET = 'whsec_2c1bf2d4a0f84b3e9d7c';
export const PRICES = {
  pro_monthly: 'price_pro_m',
  pro_yearly: 'price_pro_y',
  team_monthly: 'price_team_m',
  team_yearly: 'price_team_y',
} as const;

type Fields = Readonly<Record<string, string>>;

interface Session {
  readonly id: string;
  readonly customer: string;
  readonly fields: Fields;
  status: 'open' | 'complete' | 'expired';
}

export interface StripeSubscription {
  readonly id: string;
  readonly customer: string;
  readonly metadata: Fields;
  readonly created: number;
  status: string;
  price: string;
  current_period_end: number;
  cancel_at_period_end: boolean;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly fields: Fields;
}

export interface SignedEvent {
  readonly id: string;
  readonly body: string;
  readonly signature: string;
}

export class FakeStripe {
  readonly url: string;
  readonly customers = new Map<string, Fields>();
  readonly sessions = new Map<string, Session>();
  readonly subscriptions = new Map<string, StripeSubscription>();
  readonly asked: Asked[] = [];
  /** What stands in for the answer of every call: to fail, to say nonsense, to say nothing. */
  instead: ((response: ServerResponse, asked: Asked) => void) | undefined;
  /** What the next list of subscriptions waits for before it is sent; its answer is made before that. */
  gate: Promise<void> | undefined;
  /** Seconds. Events are signed with it. */
  now: () => number;
  readonly #answers = new Map<string, { fields: string; status: number; body: unknown }>();
  #ids = 0;

  constructor(url: string, now: () => number) {
    this.url = url;
    this.now = now;
  }

  /** A whole `[billing]` table. */
  get settings(): string {
    const prices = Object.entries(PRICES).map(([key, id]) => `prices.${key} = "${id}"`);
    return [
      '[billing]',
      'mode = "stripe"',
      '[billing.stripe]',
      `secret_key = "${SECRET_KEY}"`,
      `webhook_secret = "${WEBHOOK_SECRET}"`,
      `api_base = "${this.url}"`,
      ...prices,
    ].join('\n');
  }

  /** The customer pays on the page of a checkout. Makes the subscription; the events are the caller's to deliver. */
  pay(checkoutUrl: string): StripeSubscription {
    const session = this.sessions.get(checkoutUrl.split('/').at(-1) ?? '');
    if (session?.status !== 'open') throw new Error(`the page is ${session?.status ?? 'unknown'}`);
    session.status = 'complete';
    return this.subscribe(session.customer, session.fields['line_items[0][price]'] ?? '', notesOf(session.fields));
  }

  subscribe(customer: string, price: string, metadata: Fields = {}): StripeSubscription {
    const created = this.now() + this.subscriptions.size;
    const made: StripeSubscription = {
      id: this.#id('sub'),
      customer,
      metadata,
      created,
      status: 'active',
      price,
      current_period_end: created + 30 * 86_400,
      cancel_at_period_end: false,
    };
    this.subscriptions.set(made.id, made);
    return made;
  }

  /** An event about this object, as it is now, signed now. */
  event(type: string, object: object, id = this.#id('evt')): SignedEvent {
    const body = JSON.stringify({ id, object: 'event', type, api_version: '2026-01-01', data: { object } });
    return { id, body, signature: this.sign(body) };
  }

  sign(body: string, { at = this.now(), secret = WEBHOOK_SECRET }: { at?: number; secret?: string } = {}): string {
    return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
  }

  /** Sends until it is taken, with a fresh signature each time, as Stripe does over days. The statuses in order. */
  async deliver(to: string, event: SignedEvent, tries = 3): Promise<number[]> {
    const seen: number[] = [];
    for (let i = 0; i < tries; i++) {
      const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': this.sign(event.body) };
      const answer = await fetch(to, { method: 'POST', headers, body: event.body });
      await answer.arrayBuffer();
      seen.push(answer.status);
      if (answer.status < 300) break;
    }
    return seen;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const url = new URL(request.url ?? '/', 'http://stripe.test');
    const text = Buffer.concat(parts).toString('utf8');
    const fields: Fields = Object.fromEntries(new URLSearchParams(text === '' ? url.search : text));
    const asked: Asked = { method: request.method ?? '', path: url.pathname, headers: request.headers, fields };
    this.asked.push(asked);
    if (this.instead !== undefined) return this.instead(response, asked);
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) {
      return send(response, 401, {
        error: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_***' },
      });
    }
    const key = request.headers['idempotency-key'];
    const known = typeof key === 'string' ? this.#answers.get(key) : undefined;
    if (known !== undefined) {
      if (known.fields === text) return send(response, known.status, known.body);
      const message =
        'Keys for idempotent requests can only be used with the same parameters they were first used with.';
      return send(response, 400, { error: { type: 'idempotency_error', message } });
    }
    const [status, body] = this.#do(asked);
    if (typeof key === 'string') this.#answers.set(key, { fields: text, status, body });
    if (asked.path === '/v1/subscriptions' && this.gate !== undefined) {
      const { gate } = this;
      this.gate = undefined;
      await gate;
    }
    send(response, status, body);
  }

  #do({ method, path, fields }: Asked): [number, unknown] {
    const [, , noun = '', second = '', third = '', fourth = ''] = path.split('/');
    const route = `${method} ${noun === 'customers' || noun === 'subscriptions' ? noun : `${noun}/${second}`}`;
    const customer = fields['customer'] ?? '';
    if (route !== 'POST customers' && third === '' && !this.customers.has(customer)) return noSuchCustomer(customer);
    switch (route) {
      case 'POST customers': {
        const id = this.#id('cus');
        this.customers.set(id, fields);
        return [200, { id, object: 'customer' }];
      }
      case 'GET checkout/sessions': {
        const open = [...this.sessions.values()].filter((one) => one.customer === customer && one.status === 'open');
        return [200, { object: 'list', data: open, has_more: false }];
      }
      case 'POST checkout/sessions': {
        if (fourth === 'expire') return this.#expire(third);
        if (!Object.values<string>(PRICES).includes(fields['line_items[0][price]'] ?? '')) {
          return [
            400,
            {
              error: {
                type: 'invalid_request_error',
                code: 'resource_missing',
                param: 'line_items[0][price]',
                message: 'No such price',
              },
            },
          ];
        }
        const session: Session = { id: this.#id('cs'), customer, fields, status: 'open' };
        this.sessions.set(session.id, session);
        return [200, { ...session, object: 'checkout.session', url: `${this.url}/pay/${session.id}` }];
      }
      case 'POST billing_portal/sessions':
        return [200, { id: this.#id('bps'), url: `${this.url}/portal/${customer}?back=${fields['return_url'] ?? ''}` }];
      case 'GET subscriptions': {
        const all = [...this.subscriptions.values()].filter((one) => one.customer === customer);
        return [200, { object: 'list', data: all.map(present), has_more: false }];
      }
      default:
        return [404, { error: { type: 'invalid_request_error', message: `Unrecognized request URL (${route})` } }];
    }
  }

  #expire(id: string): [number, unknown] {
    const session = this.sessions.get(id);
    if (session?.status !== 'open') {
      return [
        400,
        {
          error: {
            type: 'invalid_request_error',
            message: 'Only Checkout Sessions with a status in ["open"] can be expired.',
          },
        },
      ];
    }
    session.status = 'expired';
    return [200, { id, object: 'checkout.session', status: 'expired' }];
  }

  #id(kind: string): string {
    this.#ids += 1;
    return `${kind}_${String(this.#ids).padStart(6, '0')}`;
  }
}

/** `now`: seconds, of the clock that both sides go by. */
export async function startStripe(ends: Ends, now: () => number): Promise<FakeStripe> {
  const server = createServer((request, response) => void fake.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake = new FakeStripe(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, now);
  ends.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return fake;
}

function present({ price, current_period_end, ...rest }: StripeSubscription) {
  const item = { id: 'si_1', object: 'subscription_item', price: { id: price, object: 'price' }, current_period_end };
  return { ...rest, object: 'subscription', cancel_at: null, items: { object: 'list', data: [item] } };
}

function notesOf(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => {
      const name = /^subscription_data\[metadata\]\[(\w+)\]$/.exec(key)?.[1];
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

function noSuchCustomer(id: string): [number, unknown] {
  const error = {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: 'customer',
    message: `No such customer: '${id}'`,
  };
  return [404, { error }];
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
  response.end(JSON.stringify(body));
}
