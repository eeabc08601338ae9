/**
 * The bearer check: every route that is not marked public in its definition needs a live session, or a master key, a key for metrics or one of
 * an agent where the route says that it takes one. Who the caller is comes from the tables (auth/sessions/service.ts,
 * access-keys/master/keys.ts, metrics/keys.ts, webhooks/reader-keys.ts); this file reads a header and refuses.
 */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../base/errors.ts';
import {
  allow,
  type Actor,
  type MasterKeyActor,
  type MetricKeyActor,
  type OperatorActor,
  type Thing,
  type TokenActor,
  type UserActor,
  type Verb,
} from '../rules/actor.ts';
import type { ApiEnv } from './context.ts';
import type { RouteTable } from './route-table.ts';

/** Routes of those who run the server: the only ones that take an operator's token too, from requests that came by the data folder. */
const OPERATORS_ONLY = /^\/superadmin\//;
/** Routes about one organization, which need not be the active one. */
const ORGANIZATION = /^\/orgs\/([^/]+)/;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,4096})$/i;

/** What a bearer may be, and who that is now: each checked by the feature that gives it out. */
export interface Bearers {
  readonly sessions: {
    authenticate(jwt: string, ipAddress: string): Promise<UserActor | undefined>;
    callerNow(actor: UserActor): UserActor;
  };
  readonly operatorTokens: { authenticate(jwt: string, ipAddress: string): Promise<OperatorActor | undefined> };
  readonly masterKeys: {
    authenticate(key: string, at: { ipAddress: string; mints: boolean }): MasterKeyActor | undefined;
  };
  readonly metricKeys: { authenticate(key: string): MetricKeyActor | undefined };
  readonly readerKeys: { authenticate(key: string, ipAddress: string): TokenActor | undefined };
  readonly organizations: { actorIn(actor: Actor, orgId: string): UserActor };
}

/** The caller by its bearer, verified once per request; undefined when there is none or it is not valid. */
export async function bearerActor(c: Context<ApiEnv>, sessions: Bearers['sessions']): Promise<UserActor | undefined> {
  const known = c.get('actor');
  if (known !== undefined) return known;
  const jwt = bearerOf(c);
  const actor = jwt === undefined ? undefined : await sessions.authenticate(jwt, c.get('clientIp'));
  c.set('actor', actor);
  c.set('actorNow', actor === undefined ? undefined : () => sessions.callerNow(actor));
  return actor;
}

/** Deny by default: only a route that says so is open. A path that is no route goes on, to be answered with 404 or 405. */
export function requireBearer(table: RouteTable, deps: Bearers) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const route = table.find(c.req.method, c.req.path);
    if (route === undefined || route.isPublic) return next();
    const mayBeOperator = c.env.isFromFolder === true && OPERATORS_ONLY.test(c.req.path);
    if (mayBeOperator && (await isOperator(c, deps.operatorTokens))) return next();
    if (route.takesMasterKeys === true && isMasterKey(c, deps.masterKeys, route.needs === 'token.create'))
      return next();
    if (route.takesMetricKeys === true && isMetricKey(c, deps.metricKeys)) return next();
    if (route.takesAgentKeys === true && isReaderKey(c, deps.readerKeys)) return next();
    const actor = await bearerActor(c, deps.sessions);
    if (actor === undefined) throw noCaller(c, deps.metricKeys);
    if (route.needs !== undefined) {
      const orgId = ORGANIZATION.exec(c.req.path)?.[1];
      const [thing, verb] = route.needs.split('.') as [Thing, Verb];
      allow(orgId === undefined ? actor : deps.organizations.actorIn(actor, orgId), verb, thing);
    }
    return next();
  });
}

/** Throws `unauthorized`, `forbidden` or `upgrade_required` for a token of this server that is no master key, or none that may act now. */
function isMasterKey(c: Context<ApiEnv>, masterKeys: Bearers['masterKeys'], mints: boolean): boolean {
  const bearer = bearerOf(c);
  // An access token has dots; a text key and base64 have none.
  if (bearer === undefined || bearer.includes('.')) return false;
  const read = () => masterKeys.authenticate(bearer, { ipAddress: c.get('clientIp'), mints });
  if (read() === undefined) return false;
  c.set('masterKeyNow', () => {
    const key = read();
    if (key === undefined) throw new AppError('unauthorized', 'The master key was deleted. Create another one.');
    return key;
  });
  return true;
}

function isMetricKey(c: Context<ApiEnv>, metricKeys: Bearers['metricKeys']): boolean {
  const bearer = bearerOf(c);
  const scraper = bearer === undefined ? undefined : metricKeys.authenticate(bearer);
  c.set('scraper', scraper);
  return scraper !== undefined;
}

/** A metrics key gets its own message: it is valid but opens nothing here, and "log in" would mislead its owner. */
function noCaller(c: Context<ApiEnv>, metricKeys: Bearers['metricKeys']): AppError {
  const bearer = bearerOf(c);
  if (bearer !== undefined && metricKeys.authenticate(bearer) !== undefined) {
    return new AppError('forbidden', 'A metrics key may only read GET /metrics/prometheus. Log in for other requests.');
  }
  return new AppError(
    'unauthorized',
    'The request has no valid access token. Log in and send it as Authorization: Bearer.',
  );
}

/** Throws `unauthorized` or `forbidden` for a token of this server that reads no webhooks. */
function isReaderKey(c: Context<ApiEnv>, readerKeys: Bearers['readerKeys']): boolean {
  const bearer = bearerOf(c);
  // As for master keys.
  if (bearer === undefined || bearer.includes('.')) return false;
  const read = () => readerKeys.authenticate(bearer, c.get('clientIp'));
  if (read() === undefined) return false;
  c.set('readerNow', () => {
    const key = read();
    if (key === undefined) throw new AppError('unauthorized', 'The access key was deleted. Create another one.');
    return key;
  });
  return true;
}

async function isOperator(c: Context<ApiEnv>, tokens: Bearers['operatorTokens']): Promise<boolean> {
  const jwt = bearerOf(c);
  const operator = jwt === undefined ? undefined : await tokens.authenticate(jwt, c.get('clientIp'));
  c.set('operator', operator);
  return operator !== undefined;
}

function bearerOf(c: Context<ApiEnv>): string | undefined {
  return BEARER.exec(c.req.header('authorization') ?? '')?.[1];
}
