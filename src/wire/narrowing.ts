/**
 * What the flags of an agent add in front of its tunnel (`--allow-cidr` …): narrower access than API and dashboard set, never wider. A server
 * applies all of it or refuses the claim. An older server would ignore it, so `welcome` lists what the server knows, and `bound` what is in force.
 */
import { z } from 'zod';

/** As the keys of `[tunnels.NAME]`; with dashes they are the flags. */
export const NARROWINGS = [
  'allow_cidr',
  'deny_cidr',
  'basic_auth',
  'policy',
  'visitor_login',
  'ttl',
  'domain',
  'remote_port',
  'webhook_verify',
] as const;
export type NarrowingName = (typeof NARROWINGS)[number];

/** Names of one list, in messages. */
export const narrowingNames = z.array(z.string().max(64)).max(64);

/** JSON text of one claim's narrowing: the rest of a message has room beside it. */
export const MAX_NARROWING_BYTES = 48 * 1024;
/** Domains and addresses of one visitor login. */
export const MAX_VISITORS = 100;
/** Networks of one list. */
export const MAX_NETWORKS = 100;

/** Secrets that hold at the same time: while one replaces another there are two. */
export const MAX_WEBHOOK_SECRETS = 4;
/** A public key in PEM has some hundred characters. */
export const MAX_WEBHOOK_SECRET = 1_024;

/** Of a user name, and of a password. */
const MAX_CREDENTIAL = 256;
const MAX_TTL_SECONDS = 315_360_000;

/** RFC 7617: the first colon ends the user name, and neither has control characters. */
const credential = (not: string) =>
  z
    .string()
    .min(1)
    .max(MAX_CREDENTIAL)
    .regex(new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f${not}]*$`, 'u'), 'has a colon or a control character')
    .refine((value) => value.isWellFormed(), 'has half a character');

const networks = z.array(z.string().min(1).max(64)).min(1).max(MAX_NETWORKS);

/** Strict: an unknown key must not leave a tunnel open. */
export const narrowingSchema = z.strictObject({
  allow_cidr: networks.optional(),
  deny_cidr: networks.optional(),
  /** The server keeps a hash. */
  basic_auth: z.strictObject({ username: credential(':'), password: credential('') }).optional(),
  /** As `PUT /tunnels/{id}/policy` takes it; the server checks it. */
  policy: z.record(z.string().max(64), z.unknown()).optional(),
  /** Domains and addresses. */
  visitor_login: z.array(z.string().min(1).max(254)).min(1).max(MAX_VISITORS).optional(),
  ttl: z
    .strictObject({
      seconds: z.int().min(1).max(MAX_TTL_SECONDS),
      /** What the server said at first, by its own clock: a reconnect begins no new time. */
      ends_at: z.number().optional(),
    })
    .optional(),
  /** Of the organization, verified and bound to a tunnel: the agent serves that tunnel. */
  domain: z.string().min(1).max(253).optional(),
  /** Public port of a tcp tunnel. */
  remote_port: z.int().min(1).max(65_535).optional(),
  /** Requests must be signed as this kind of webhook sender signs; the server knows the kinds, and keeps the secrets in memory alone. */
  webhook_verify: z
    .strictObject({
      kind: z.string().min(1).max(64),
      secrets: z.array(z.string().min(1).max(MAX_WEBHOOK_SECRET)).min(1).max(MAX_WEBHOOK_SECRETS),
    })
    .optional(),
});

/** What an agent asks for. */
export type AskedNarrowing = z.infer<typeof narrowingSchema>;

/** `allow_cidr` → `--allow-cidr`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}
