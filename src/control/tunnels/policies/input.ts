/**
 * A traffic policy as people write it, checked and turned into what the data plane carries out. Everything that is not known is refused: a
 * mistyped field must not leave a tunnel open.
 */
import { z } from 'zod';
import { isLoopback, parseNetwork } from '../../../base/net/addr.ts';
import { AppError } from '../../../base/errors.ts';
import type { Actions, PolicyAction } from '../../../plane/policy.ts';

export const MAX_ACTIONS = 16;
/** Entries of a list in one action. */
const MAX_ENTRIES = 100;
const MAX_TEXT = 2_048;
const MAX_RATE = 1_000_000;
/** At most one each. */
const SINGLE = ['jwt_validation', 'rate_limit'] as const;

/** Fields that frame, route or name a hop of a message (RFC 9110 §7.6.1, RFC 9112 §6), and those that only the edge itself says. */
const RESERVED =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|http2-settings|proxy-.*|forwarded|x-forwarded-.*|x-real-ip|culvert-.*)$/;

/** Made at each call: a schema takes part in the API's document only if it was made after the document's library was loaded. */
export function policySchema() {
  const enforce = z.boolean().default(true);
  const text = z.string().min(1).max(MAX_TEXT);
  const texts = z.array(text).max(MAX_ENTRIES).default([]);
  const networks = z
    .array(
      z
        .string()
        .refine((entry) => parseNetwork(entry) !== undefined, 'must be an IP address or a network such as 10.0.0.0/8'),
    )
    .min(1)
    .max(MAX_ENTRIES);
  const headerName = z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be a header name')
    .refine((name) => !RESERVED.test(name.toLowerCase().replaceAll('_', '-')), 'is set by the edge');
  // The edge takes from a service's cookies what would reach other tunnels; these would be set behind that.
  const responseName = headerName.refine(
    (name) => !/^(set[-_]cookie|clear[-_]site[-_]data)/i.test(name),
    'sets or clears cookies, which only the service may do',
  );
  const headerValue = z
    .string()
    .max(MAX_TEXT)
    .regex(/^[\t\x20-\x7e]*$/, 'must be visible ASCII characters');

  const header = { name: headerName, value: headerValue, enforce };

  const action = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('header_set'), ...header }),
    z.strictObject({ kind: z.literal('response_header_set'), ...header, name: responseName }),
    z.strictObject({
      kind: z.literal('deny'),
      path_prefix: text.refine((prefix) => prefix.startsWith('/'), 'must begin with a /'),
      enforce,
    }),
    z.strictObject({ kind: z.literal('ip_allow'), networks, enforce }),
    z.strictObject({ kind: z.literal('ip_deny'), networks, enforce }),
    z.strictObject({
      kind: z.literal('rate_limit'),
      requests_per_minute: z.int().min(1).max(MAX_RATE),
      per_client_ip: z.boolean().default(false),
      enforce,
    }),
    z.strictObject({
      kind: z.literal('jwt_validation'),
      allowed_issuers: texts,
      allowed_audiences: texts,
      jwks_url: z
        .url({ protocol: /^https?$/ })
        .max(MAX_TEXT)
        .refine(isFetchable, 'must begin with https://')
        .nullable()
        .default(null),
      enforce,
    }),
  ]);
  return z.strictObject({ actions: z.array(action).max(MAX_ACTIONS) });
}

/** By https, or from the machine of the server itself, which `edge.allow_private_jwks` lets the edge do. */
function isFetchable(url: string): boolean {
  const to = URL.parse(url);
  return to?.protocol === 'https:' || isLoopback(to?.hostname.replace(/^\[|\]$/g, '') ?? '');
}

type Policy = ReturnType<typeof policySchema>;
/** As people write it. */
export type WrittenAction = z.input<Policy>['actions'][number];

/** Throws `bad_policy` that says which action is wrong, and how. */
export function policyFrom(input: unknown): Actions {
  const parsed = policySchema().safeParse(input);
  if (!parsed.success) throw invalidPolicy(parsed.error.issues);
  const { actions } = parsed.data;
  for (const kind of SINGLE) {
    if (actions.filter((one) => one.kind === kind).length > 1) throw badPolicy([`actions: at most one ${kind}`]);
  }
  return { actions: actions.map(read) };
}

/** What a schema has against it, as the one error of policies. */
export function invalidPolicy(issues: ReadonlyArray<{ path: readonly PropertyKey[]; message: string }>): AppError {
  return badPolicy(
    issues.map(({ path, message }) => `${path.length === 0 ? 'the policy' : path.map(String).join('.')}: ${message}`),
  );
}

function badPolicy(reasons: readonly string[]): AppError {
  return new AppError('bad_policy', `The policy is invalid: ${reasons.slice(0, 5).join('; ')}.`);
}

function read(written: z.output<Policy>['actions'][number]): PolicyAction {
  const { enforce: isEnforced } = written;
  switch (written.kind) {
    case 'deny':
      return { kind: 'deny', pathPrefix: written.path_prefix, enforce: isEnforced };
    case 'rate_limit':
      return {
        kind: 'rate_limit',
        requestsPerMinute: written.requests_per_minute,
        perClientIp: written.per_client_ip,
        enforce: isEnforced,
      };
    case 'jwt_validation':
      return {
        kind: 'jwt_validation',
        allowedIssuers: written.allowed_issuers,
        allowedAudiences: written.allowed_audiences,
        jwksUrl: written.jwks_url,
        enforce: isEnforced,
      };
    default:
      return written;
  }
}

/** The policy as it is written in the API; what needs no saying is left out. */
export function writtenPolicy({ actions }: Actions): { actions: WrittenAction[] } {
  return { actions: actions.map((action) => ({ ...write(action), ...(action.enforce ? {} : { enforce: false }) })) };
}

function write(action: PolicyAction): WrittenAction {
  switch (action.kind) {
    case 'deny':
      return { kind: 'deny', path_prefix: action.pathPrefix };
    case 'rate_limit':
      return {
        kind: 'rate_limit',
        requests_per_minute: action.requestsPerMinute,
        per_client_ip: action.perClientIp,
      };
    case 'jwt_validation':
      return {
        kind: 'jwt_validation',
        ...(action.allowedIssuers.length === 0 ? {} : { allowed_issuers: [...action.allowedIssuers] }),
        ...(action.allowedAudiences.length === 0 ? {} : { allowed_audiences: [...action.allowedAudiences] }),
        ...(action.jwksUrl === null ? {} : { jwks_url: action.jwksUrl }),
      };
    case 'ip_allow':
    case 'ip_deny':
      return { kind: action.kind, networks: [...action.networks] };
    case 'header_set':
    case 'response_header_set':
      return { kind: action.kind, name: action.name, value: action.value };
    default:
      return action satisfies never;
  }
}
