/**
 * What a visitor's browser carries between the planes, signed: the ticket, by which the control plane names to a data node the visitor that an identity provider
 * has vouched for, and the pass, which the data node makes of it and asks for at each request. Neither is a secret to its bearer.
 *
 *   <payload>.<mac>   both base64url; payload = JSON, mac = HMAC-SHA256 over the kind, a dot and the payload, by Snapshot.visitorKey
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** From the provider's answer to the tunnel's own host: one redirect. */
export const TICKET_MS = 60_000;
/** A working day. After that the provider is asked again, which most visitors do not notice. */
export const PASS_MS = 8 * 3_600_000;
/** Longer ones are not looked at. */
const MAX_WORD = 4_096;
/** Of SHA-256, in base64url. */
const MAC = /^[\w-]{43}$/;
/** Paths by which a tunnel's own host takes tickets, and forgets a visitor. */
export const TICKET_PATH = '/.culvert/visitor';
export const SIGN_OUT_PATH = '/.culvert/sign-out';
const OWN_PATHS = '/.culvert/';

const bound = {
  tunnelId: z.string(),
  /** Of the tunnel's gate. */
  version: z.string(),
  /** As the edge sees it: lower case, no port. */
  host: z.string(),
  email: z.string(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
};
const ticketSchema = z.strictObject({
  ...bound,
  /** Good once. */
  id: z.string(),
  /** SHA-256 of what the tunnel's host gave the browser that asked, or "" when no browser asked there. */
  nonceHash: z.string(),
  /** This browser came with another nonce before. */
  again: z.boolean(),
  /** Where it goes from there: `returnPath` has made it. */
  path: z.string(),
});
const passSchema = z.strictObject({
  ...bound,
  /** SHA-256 of what the tunnel's host gave the browser beside it. */
  browserHash: z.string(),
});
/** Nothing that was made here has a shorter payload. */
const MIN_PAYLOAD = payloadOf({ tunnelId: '', version: '', host: '', email: '', expiresAt: 0, browserHash: '' }).length;

export type VisitorTicket = Readonly<z.output<typeof ticketSchema>>;
export type VisitorPass = Readonly<z.output<typeof passSchema>>;

export function sealTicket(key: Buffer, ticket: VisitorTicket): string {
  return seal(key, 'ticket', ticket);
}

export function sealPass(key: Buffer, pass: VisitorPass): string {
  return seal(key, 'pass', pass);
}

/** Undefined for everything that was not made with this key as a ticket; an expired one is reported. */
export function openTicket(key: Buffer, word: string): VisitorTicket | undefined {
  return open(key, word, { kind: 'ticket', schema: ticketSchema });
}

/** The same for a pass. */
export function openPass(key: Buffer, word: string): VisitorPass | undefined {
  return open(key, word, { kind: 'pass', schema: passSchema });
}

/** What of a nonce leaves its browser's host. */
export function nonceHashOf(nonce: string): string {
  return createHash('sha256').update(nonce).digest('base64url');
}

/** Compares in constant time, whatever the lengths. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest());
}

/** Has it the form of a ticket or a pass? What has not costs no computing. */
export function isWord(word: string): boolean {
  const dot = word.indexOf('.');
  return dot >= MIN_PAYLOAD && word.length <= MAX_WORD && MAC.test(word.slice(dot + 1));
}

function payloadOf(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function seal(key: Buffer, kind: string, value: object): string {
  const payload = payloadOf(value);
  return `${payload}.${macOf(key, kind, payload).toString('base64url')}`;
}

function open<T>(key: Buffer, word: string, { kind, schema }: { kind: string; schema: z.ZodType<T> }): T | undefined {
  if (!isWord(word)) return undefined;
  const dot = word.indexOf('.');
  const payload = word.slice(0, dot);
  const wanted = macOf(key, kind, payload);
  // Compared as text: decoders take more than one spelling for the same bytes. Both have 43 characters.
  if (!timingSafeEqual(Buffer.from(word.slice(dot + 1)), Buffer.from(wanted.toString('base64url')))) return undefined;
  return schema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data;
}

function macOf(key: Buffer, kind: string, payload: string): Buffer {
  return createHmac('sha256', key).update(`${kind}.${payload}`).digest();
}

/** Longest path that is remembered while a visitor signs in: it travels in a cookie, beside those of other tabs. */
const MAX_PATH = 512;

/**
 * Path and query for a relative redirect, or `/` for whatever a browser might take for another host, and for the edge's own paths: a slash
 * that another one or a backslash follows, characters that vanish, userinfo behind them; dots that a browser takes out on its way.
 */
export function returnPath(asked: string): string {
  if (asked.length > MAX_PATH || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(asked)) return '/';
  const taken = URL.parse(`http://any${asked}`)?.pathname ?? OWN_PATHS;
  return asked.startsWith(OWN_PATHS) || taken.startsWith(OWN_PATHS) ? '/' : asked;
}
