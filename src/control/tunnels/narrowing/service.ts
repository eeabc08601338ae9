/**
 * What an agent's flags add in front of its tunnel (wire/narrowing.ts), checked by the rules of the API. The owner of a leaked key can type flags, too: so
 * they only narrow, and a claim with one that can't be applied is refused. Called by control/link.ts for each claim.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { parseNetwork } from '../../../base/net/addr.ts';
import type { ClaimQuestion, Refusal } from '../../../plane/link.ts';
import { type Narrowing, TTL_OVER, type WebhookGate } from '../../../plane/narrowing.ts';
import type { Actions } from '../../../plane/policy.ts';
import type { BasicGate } from '../../../plane/routes.ts';
import {
  type AskedNarrowing,
  flagOf,
  NARROWINGS,
  type NarrowingName,
  narrowingSchema,
} from '../../../wire/narrowing.ts';
import { isWebhookKind, WEBHOOK_KINDS } from '../../../signatures/kinds.ts';
import { secretProblem } from '../../../signatures/validators.ts';
import { refuse } from '../../access-keys/messages.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import type { Store } from '../../db/tx.ts';
import { tokenById } from '../../access-keys/rows.ts';
import { policyFor } from '../policies/service.ts';
import { GateHashes } from './gate-hashes.ts';
import { type AddedVisitorDeps, addedVisitors } from './visitors.ts';

export type PreparedNarrowing = { readonly ok: true; readonly narrowing: Narrowing | null } | Refusal;

type Credentials = NonNullable<AskedNarrowing['basic_auth']>;
type Question = Pick<ClaimQuestion, 'narrow' | 'protocol' | 'tokenId'>;

export interface NarrowingDeps extends AddedVisitorDeps {
  readonly store: Store;
  readonly passwords: Passwords;
}

/** Passwords that are hashed once for agents that reconnect. */
const MAX_GATES = 10_000;
/** A raw connection has an address and nothing else that could be looked at. */
const HTTP_ONLY = [
  'basic_auth',
  'policy',
  'visitor_login',
  'domain',
  'webhook_verify',
] as const satisfies readonly NarrowingName[];

/** A claim asks for what can't be applied. */
class NarrowingError extends Error {}

/** Turns what agents ask for into what their sessions apply. */
export class Narrowings {
  readonly #deps: NarrowingDeps;
  /** New with each process: a digest is of no use outside of it. */
  readonly #key = randomBytes(32);
  /** By a digest of user name and password. */
  readonly #gates = new RecentMap<string, BasicGate>({ max: MAX_GATES });
  /** Gates that are being made. */
  readonly #coming = new Map<string, Promise<BasicGate>>();
  readonly #hashes: GateHashes;

  constructor(deps: NarrowingDeps) {
    this.#deps = deps;
    this.#hashes = new GateHashes(deps.passwords);
  }

  /** null: the claim asks for nothing. Throws `unavailable`: too many passwords wait to be hashed. */
  async prepare(question: Question): Promise<PreparedNarrowing> {
    if (question.narrow === undefined || Object.keys(question.narrow).length === 0)
      return { ok: true, narrowing: null };
    try {
      return await this.#prepare(read(question.narrow), question);
    } catch (error) {
      if (error instanceof NarrowingError) return refuse('invalid_request', error.message);
      if (error instanceof AppError && error.code === 'upgrade_required')
        return refuse('upgrade_required', error.message);
      throw error;
    }
  }

  async #prepare(asked: AskedNarrowing, { protocol, tokenId }: Question): Promise<PreparedNarrowing> {
    const foreign = protocol === 'tcp' ? HTTP_ONLY.find((name) => asked[name] !== undefined) : undefined;
    if (foreign !== undefined) throw wrong(foreign, 'is for http and https tunnels only');
    if (protocol !== 'tcp' && asked.remote_port !== undefined) throw wrong('remote_port', 'is for tcp tunnels only');
    const endsAt = this.#endOf(asked.ttl);
    if (endsAt !== null && endsAt <= this.#deps.store.clock.now()) return refuse('tunnel_expired', TTL_OVER);
    const visitors = asked.visitor_login === undefined ? null : addedVisitors(this.#deps, tokenId, asked.visitor_login);
    if (typeof visitors === 'string') throw wrong('visitor_login', visitors);
    const narrowing = {
      names: Object.keys(asked),
      allow: asked.allow_cidr ?? [],
      deny: asked.deny_cidr ?? [],
      policy: asked.policy === undefined ? null : policyOf(protocol, asked.policy),
      visitors,
      endsAt,
      domain: asked.domain?.toLowerCase() ?? null,
      remotePort: asked.remote_port ?? null,
      webhook: asked.webhook_verify === undefined ? null : webhookOf(asked.webhook_verify),
      gate: asked.basic_auth === undefined ? null : await this.#gateOf(asked.basic_auth, tokenId),
    };
    return { ok: true, narrowing };
  }

  #endOf(ttl: AskedNarrowing['ttl']): number | null {
    if (ttl === undefined) return null;
    return Math.min(this.#deps.store.clock.now() + ttl.seconds * 1_000, ttl.ends_at ?? Infinity);
  }

  async #gateOf({ username, password }: Credentials, tokenId: string): Promise<BasicGate> {
    const digest = createHmac('sha256', this.#key)
      .update(JSON.stringify([username, password]))
      .digest('base64');
    const known = this.#gates.get(digest) ?? this.#coming.get(digest);
    if (known !== undefined) return known;
    const orgId = tokenById(this.#deps.store.db, tokenId)?.orgId ?? '';
    const coming = this.#hashes
      .hash(password, [orgId, tokenId])
      .then((passwordHash) => ({ username, passwordHash, version: randomUUID() }));
    this.#coming.set(digest, coming);
    try {
      const gate = await coming;
      this.#gates.set(digest, gate);
      return gate;
    } finally {
      this.#coming.delete(digest);
    }
  }
}

function read(narrow: Record<string, unknown>): AskedNarrowing {
  const unknown = Object.keys(narrow).find((name) => !NARROWINGS.some((known) => known === name));
  if (unknown !== undefined)
    throw wrong(unknown, 'is not supported by this server. Upgrade the server, or leave the flag out');
  const parsed = narrowingSchema.safeParse(narrow);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(String(issue?.path[0] ?? ''), issue?.message ?? 'is invalid');
  }
  for (const name of ['allow_cidr', 'deny_cidr'] as const) {
    const other = parsed.data[name]?.find((network) => parseNetwork(network) === undefined);
    if (other !== undefined) throw wrong(name, `"${other}" is no IP address and no network such as 10.0.0.0/8`);
  }
  return parsed.data;
}

function webhookOf({ kind, secrets }: WebhookGate): WebhookGate {
  if (!isWebhookKind(kind)) throw wrong('webhook_verify', `"${kind}" is none of ${WEBHOOK_KINDS.join(', ')}`);
  const problem = secrets.map((secret) => secretProblem(kind, secret)).find((one) => one !== null);
  if (problem !== undefined) throw wrong('webhook_verify', `the secret ${problem}`);
  return { kind, secrets };
}

function policyOf(protocol: Question['protocol'], input: unknown): Actions {
  const policy = checkedPolicy(protocol, input);
  // What an action would refuse is counted for policies that are stored.
  if (policy.actions.every(({ enforce }) => enforce)) return policy;
  throw wrong('policy', 'has an action with "enforce": false. Set such a policy in the dashboard or by the API');
}

function checkedPolicy(protocol: Question['protocol'], input: unknown): Actions {
  try {
    return policyFor({ protocol }, input);
  } catch (error) {
    if (error instanceof AppError) throw wrong('policy', error.message.replace(/\.$/, ''));
    throw error;
  }
}

function wrong(name: string, reason: string): NarrowingError {
  return new NarrowingError(`${flagOf(name)}: ${reason.slice(0, 800)}.`);
}
