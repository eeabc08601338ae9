/**
 * From a route's policy and gate to what is carried out per request: the chain of its steps in their order, and the headers that it sets.
 * What the flags of the serving agent add (plane/narrowing.ts) is a second layer: a visitor must pass both, and neither replaces the other.
 * Called by policy-registry.ts when a route changes, never per request.
 */
import type { Logger } from '../../base/log.ts';
import { actionsOf, bothVisitors, type Narrowing, type WebhookGate } from '../../plane/narrowing.ts';
import {
  type DenyAction,
  type HeaderAction,
  type JwtAction,
  type PolicyAction,
  type RateAction,
  ruleOf,
} from '../../plane/policy.ts';
import type { BasicGate, Route } from '../../plane/routes.ts';
import type { BasicChecks } from './password/checks.ts';
import { basicStep } from './password/step.ts';
import { type ChainedStep, PolicyChain } from './chain.ts';
import { denySteps } from './deny.ts';
import type { DryRun } from './dry-run.ts';
import type { DryRuns } from '../report/dry-runs.ts';
import { HeaderRule } from './header-rule.ts';
import { addressRule, ipStep } from './ip-rule.ts';
import type { JwtSteps } from './jwt/step.ts';
import { RateLimit } from './rate-limit.ts';
import { rateStep } from './rate-step.ts';
import type { PolicyRequest, Step } from './step.ts';
import type { DryRunSlots } from './dry-run-slots.ts';
import { visitorPaths } from './visitor-login/paths.ts';
import type { VisitorPasses } from './visitor-login/passes.ts';
import type { GatedRoute } from './visitor-login/sign-in.ts';
import { visitorStep } from './visitor-login/step.ts';
import { webhookStep } from './webhook/step.ts';

export interface CompiledPolicy {
  /** What it was made from. */
  readonly of: Pick<Route, 'policy' | 'gate' | 'visitorGate' | 'publicUrl'> & { readonly narrowing: Narrowing | null };
  /** null: nothing can be refused. */
  readonly chain: PolicyChain | null;
  /** For connections that are no HTTP: whether a visitor of this address is kept out. */
  readonly keepsOut: (ip: string) => boolean;
  /** Whether the service must not get the token of a request: one to this server itself. null: tokens of others alone are allowed. */
  readonly hidesToken: ((request: PolicyRequest) => boolean) | null;
  /** What is set on the forwarded request, and on the response. */
  readonly request: HeaderRule | null;
  readonly response: HeaderRule | null;
  /** Whether the service gets the identity of its visitors. */
  readonly namesVisitors: boolean;
  /** Windows of the tunnel's own rate and of its agent's: they go on when other actions change. */
  readonly rates: { readonly own: Rate | null; readonly agents: Rate | null };
}

interface Rate {
  readonly action: RateAction;
  readonly limit: RateLimit;
}

/** The actions of the tunnel, or those of its agent. */
interface Layer {
  readonly actions: readonly PolicyAction[];
  /** By the place of the action: what it would refuse is counted there. */
  readonly tried: ReadonlyArray<DryRun | null>;
  readonly rate: Rate | null;
  /** Of its `deny` actions, in their order. */
  readonly denies: Step[];
  readonly isAgents: boolean;
}

/** What refuses for good comes before what is counted: a denied request uses up no rate. */
const ORDER: readonly PolicyAction['kind'][] = ['ip_deny', 'ip_allow', 'deny', 'jwt_validation', 'rate_limit'];

const KINDS: ReadonlySet<string> = new Set([...ORDER, 'header_set', 'response_header_set']);

/** What is no action of a policy, as records call it. */
const NAMES = {
  paths: { name: 'visitor_sign_in', index: null, rule: null },
  basic: { name: 'basic_gate', index: null, rule: null },
  visitor: { name: 'visitor_gate', index: null, rule: null },
  webhook: { name: 'webhook_verify', index: null },
} as const;

const CLOSED: Step = { decide: () => ({ code: 'policy_failed' }) };

/** For a control plane newer than this node: an unknown action allows no visitor. */
function isUnknown({ kind, enforce }: PolicyAction): boolean {
  return enforce && !KINDS.has(kind);
}

/** What the steps of all tunnels of a node share. */
export interface PolicyParts {
  readonly log: Logger;
  readonly checks: BasicChecks;
  readonly jwts: Pick<JwtSteps, 'step' | 'isOwn'>;
  readonly visitors: VisitorPasses;
  readonly dryRuns: Pick<DryRuns, 'counterOf'>;
  readonly dryRunSlots: DryRunSlots;
}

export function compilePolicy(
  route: Route,
  before: CompiledPolicy | null,
  parts: PolicyParts & { readonly narrowing?: Narrowing | null },
): CompiledPolicy {
  const { orgId, policy, gate, visitorGate, publicUrl } = route;
  const { narrowing = null, log, dryRunSlots } = parts;
  const own = policy?.actions ?? [];
  const added = narrowing === null ? [] : actionsOf(narrowing);
  const actions = [...own, ...added];
  const rates = { own: rateOf(own, before?.rates.own), agents: rateOf(added, before?.rates.agents) };
  const tried = triedOf(route, parts.dryRuns);
  const layers: Layer[] = [
    { actions: own, tried, rate: rates.own, denies: denySteps(own), isAgents: false },
    { actions: added, tried: [], rate: rates.agents, denies: denySteps(added), isAgents: true },
  ];
  const gates = [gate, narrowing?.gate ?? null].filter((one) => one !== null);
  const visitors = bothVisitors(route, narrowing?.visitors ?? null);
  const steps = [
    ...stepsOf({ ...route, visitorGate: visitors }, { layers, gates }, parts),
    ...webhookSteps(route, narrowing?.webhook ?? null),
  ];
  return {
    of: { policy, gate, visitorGate, publicUrl, narrowing },
    chain: steps.length === 0 ? null : new PolicyChain(steps, { log, dryRunSlots, orgId }),
    keepsOut: addressRules(actions, tried),
    hidesToken: takesOwnTokens(actions) ? (request) => parts.jwts.isOwn(request) : null,
    // The password is between the visitor and the edge: the service does not get it. Of two headers with one name the tunnel's own counts.
    request: headersOf([...added, ...own], 'header_set', gates.length === 0 ? [] : ['authorization']),
    response: headersOf([...added, ...own], 'response_header_set'),
    namesVisitors: visitors !== null,
    rates,
  };
}

function stepsOf(
  route: Route,
  { layers, gates }: { layers: readonly Layer[]; gates: readonly BasicGate[] },
  parts: PolicyParts,
): ChainedStep[] {
  const checkJwt = (action: JwtAction): Step => parts.jwts.step(action, route.orgId);
  const steps: ChainedStep[] = [];
  for (const { actions, isAgents } of layers) {
    const at = actions.findIndex(isUnknown);
    const unknown = actions[at];
    if (unknown !== undefined)
      steps.push({ step: CLOSED, name: unknown.kind, index: isAgents ? null : at, rule: null, dryRun: null });
  }
  for (const kind of ORDER) {
    // Its own paths are no business of the rules about paths.
    if (kind === 'deny' && isGated(route))
      steps.push({ step: visitorPaths(route, parts.visitors), ...NAMES.paths, dryRun: null, isQuiet: true });
    for (const layer of layers) steps.push(...stepsOfKind(kind, layer, checkJwt));
  }
  for (const gate of gates)
    steps.push({ step: basicStep({ ...route, gate }, parts.checks), ...NAMES.basic, dryRun: null, isGate: true });
  if (isGated(route))
    steps.push({ step: visitorStep(route, parts.visitors), ...NAMES.visitor, dryRun: null, isGate: true });
  return steps;
}

/** Last: what is refused anyway is refused before its body is read. */
function webhookSteps({ orgId }: Route, gate: WebhookGate | null): ChainedStep[] {
  if (gate === null) return [];
  const step = webhookStep(gate, orgId) ?? CLOSED;
  return [{ step, ...NAMES.webhook, rule: `${gate.kind} (set by the agent)`, dryRun: null, isGate: true }];
}

function stepsOfKind(kind: PolicyAction['kind'], layer: Layer, checkJwt: (action: JwtAction) => Step): ChainedStep[] {
  const { actions, tried, rate, denies, isAgents } = layer;
  return actions.flatMap((action, index) => {
    if (action.kind !== kind) return [];
    const step = (kind === 'deny' ? denies.shift() : stepOf(action, rate, checkJwt)) ?? CLOSED;
    const rule = ruleOf(action);
    // What is the agent's has no place in the tunnel's policy.
    const place = isAgents ? { index: null, rule: `${rule} (set by the agent)` } : { index, rule };
    return { step, name: kind, ...place, dryRun: tried[index] ?? null };
  });
}

function isGated(route: Route): route is GatedRoute {
  return route.visitorGate !== null;
}

/** By the place of the action: a counter for each that would refuse and is only tried, else null. */
function triedOf({ tunnelId, policy }: Route, dryRuns: PolicyParts['dryRuns']): ReadonlyArray<DryRun | null> {
  if (policy === null) return [];
  const { setAt, actions } = policy;
  return actions.map(({ kind, enforce }, index) =>
    enforce || !ORDER.includes(kind) ? null : dryRuns.counterOf({ tunnelId, setAt, index, action: kind }),
  );
}

function addressRules(actions: readonly PolicyAction[], tried: ReadonlyArray<DryRun | null>): (ip: string) => boolean {
  const rules = actions.flatMap((action, index) =>
    action.kind === 'ip_allow' || action.kind === 'ip_deny'
      ? [{ isKeptOut: addressRule(action), dryRun: tried[index] ?? null }]
      : [],
  );
  if (actions.some(isUnknown)) return () => true;
  return (ip) => {
    for (const { isKeptOut, dryRun } of rules) {
      if (!isKeptOut(ip)) continue;
      if (dryRun === null) return true;
      dryRun.count('denied', { method: null, path: null, clientIp: ip });
    }
    return false;
  };
}

function takesOwnTokens(actions: readonly PolicyAction[]): boolean {
  return actions.some((action) => action.kind === 'jwt_validation' && action.enforce && action.jwksUrl === null);
}

function rateOf(actions: readonly PolicyAction[], known: Rate | null | undefined): Rate | null {
  const action = actions.find((one) => one.kind === 'rate_limit');
  if (action === undefined) return null;
  const isSame =
    known?.action.requestsPerMinute === action.requestsPerMinute && known.action.perClientIp === action.perClientIp;
  return { action, limit: isSame && known ? known.limit : new RateLimit(action) };
}

/** Actions without a step of their own: `deny` shares one (deny.ts), and headers are set (header-rule.ts). Another kind does not compile. */
type Elsewhere = DenyAction | HeaderAction;

function stepOf(action: PolicyAction, rate: Rate | null, checkJwt: (action: JwtAction) => Step): Step {
  switch (action.kind) {
    case 'ip_allow':
    case 'ip_deny':
      return ipStep(action);
    case 'jwt_validation':
      return checkJwt(action);
    case 'rate_limit':
      return rateStep((rate as NonNullable<typeof rate>).limit);
    default:
      action satisfies Elsewhere;
      return CLOSED;
  }
}

function headersOf(
  actions: readonly PolicyAction[],
  kind: HeaderAction['kind'],
  dropped: readonly string[] = [],
): HeaderRule | null {
  const rules = actions.filter((action): action is HeaderAction => action.kind === kind && action.enforce);
  return rules.length === 0 && dropped.length === 0 ? null : new HeaderRule(rules, dropped);
}
