/**
 * How a route is written down: createRoute of zod-openapi, plus the errors that follow from what the route is, so that no route forgets one.
 * A route is public only when it says `security: []`.
 */
import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import type { ErrorCode } from '../../../base/codes/api-errors.ts';
import type { Permission } from '../rules/actor.ts';
import { errorResponses } from './errors.ts';

type Config<P extends string> = Omit<RouteConfig, 'path'> & {
  path: P;
  /**
   * For a route that has a body to check: the permission that the caller's role must have before that, so that who may not do it hears so whatever
   * they send. The service checks it again.
   */
  'x-needs'?: Permission;
};

/** `security` of a route that takes a master key as bearer, besides a person's access token. Every other route is closed to them. */
export const WITH_MASTER_KEYS = [{ bearer: [] }, { masterKey: [] }];

/** `security` of the route that takes a key for metrics as bearer, besides a person's access token. Every other route is closed to them. */
export const WITH_METRIC_KEYS = [{ bearer: [] }, { metricKey: [] }];

/** `security` of the route that takes a key of an agent or a project as bearer, besides a person's access token. Every other route is closed to them. */
export const WITH_AGENT_KEYS = [{ bearer: [] }, { agentKey: [] }];

/** Does the mounted route take master keys? */
export function takesMasterKeys(security: RouteConfig['security'] | undefined): boolean {
  return security?.some((scheme) => 'masterKey' in scheme) === true;
}

/** Does the mounted route take keys for metrics? */
export function takesMetricKeys(security: RouteConfig['security'] | undefined): boolean {
  return security?.some((scheme) => 'metricKey' in scheme) === true;
}

/** Does the mounted route take keys of agents? */
export function takesAgentKeys(security: RouteConfig['security'] | undefined): boolean {
  return security?.some((scheme) => 'agentKey' in scheme) === true;
}

/** `errors`: the codes of this route alone; those of every route of its kind are added. */
export function defineRoute<P extends string, R extends Config<P>>(config: R, errors: readonly ErrorCode[] = []) {
  const codes = [...impliedErrors(config), ...errors];
  return createRoute({ ...config, responses: { ...config.responses, ...errorResponses(codes) } });
}

function impliedErrors(config: Config<string>): ErrorCode[] {
  const codes: ErrorCode[] = [];
  if (config.request?.body !== undefined) codes.push('invalid_request', 'payload_too_large');
  if (config.request?.query !== undefined) codes.push('invalid_request');
  if (config.security?.length !== 0) codes.push('unauthorized');
  if (takesMasterKeys(config.security)) codes.push('forbidden', 'upgrade_required');
  if (takesAgentKeys(config.security)) codes.push('forbidden');
  if (config.path.includes('{')) codes.push('not_found');
  if (config.path.startsWith('/auth/')) codes.push('rate_limited');
  return codes;
}

/** What `x-needs` of a mounted route says. */
export function neededPermission(route: RouteConfig & { 'x-needs'?: Permission }): Permission | undefined {
  return route['x-needs'];
}
