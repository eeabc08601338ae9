/**
 * Asks the steps of a policy about requests of the past. The chain is the one that visitors meet (compile.ts); the clock is that of the records, so that
 * windows of a rate and the end of a token are those of then. Gates are not asked, and no keys are fetched. Called by data/node.ts for the control
 * plane; it works in slices, and visitors are served between them.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { parseRequestHead, Head } from '../../http1/head.ts';
import type { HeadLimits } from '../../http1/head-limits.ts';
import type { TraceStep } from '../../plane/inspection.ts';
import {
  MAX_TESTED,
  type PolicyTest,
  type PolicyTestAnswer,
  type TestRefusal,
  type TestedRequest,
  type TestVerdict,
  type UnknownReason,
} from '../../plane/policy-test.ts';
import type { Route } from '../../plane/routes.ts';
import { addressKey } from '../../base/net/address-key.ts';
import { isPending, type PolicyChain } from './chain.ts';
import { compilePolicy, type PolicyParts } from './compile.ts';
import { DryRun } from './dry-run.ts';
import { JwtAhead } from './jwt/ahead.ts';
import { JwtSteps } from './jwt/step.ts';
import type { JwtCheck } from './jwt/check.ts';
import { ShownBefore } from './password/shown-before.ts';
import type { PolicyRequest } from './step.ts';

/** Of the loop, before others have their turn. */
const SLICE_MS = 4;
/** At a time; the control plane lets organizations take turns (control/tunnels/policies/test-queue). */
const MAX_AT_ONCE = 2;

export interface PolicyTesterDeps {
  /** Of the node's policies: gates are in it and are not used. */
  readonly parts: Omit<PolicyParts, 'jwts' | 'dryRuns'>;
  readonly check: JwtCheck;
  /** Of visitors' heads. */
  readonly limits: HeadLimits;
  readonly log: Logger;
}

/** Tests policies on recorded requests, so many at a time. */
export class PolicyTester {
  readonly #deps: PolicyTesterDeps;
  #underWay = 0;

  constructor(deps: PolicyTesterDeps) {
    this.#deps = deps;
  }

  /** Never rejects for the question's content: an undecidable request is marked as such. */
  async run(question: PolicyTest): Promise<PolicyTestAnswer> {
    if (this.#underWay >= MAX_AT_ONCE) return { ok: false, code: 'overloaded' };
    this.#underWay++;
    try {
      return { ok: true, verdicts: await this.#verdicts(question) };
    } finally {
      this.#underWay--;
    }
  }

  async #verdicts(question: PolicyTest): Promise<TestVerdict[]> {
    const stage = new Stage(question, this.#deps);
    const found: TestVerdict[] = [];
    let since = performance.now();
    for (const request of question.requests.slice(-MAX_TESTED)) {
      const verdict = await stage.play(request);
      if (verdict !== null) found.push(verdict);
      if (performance.now() - since < SLICE_MS) continue;
      await setImmediate();
      since = performance.now();
    }
    return found;
  }
}

/** One policy, and the time as it was at the request that is played. */
class Stage {
  readonly #chain: PolicyChain | null;
  readonly #jwt: JwtAhead;
  readonly #head: Head;
  readonly #shown = new ShownBefore();
  #now = 0;

  constructor({ orgId, policy }: PolicyTest, { parts, check, limits, log }: PolicyTesterDeps) {
    const clock: Clock = { now: () => this.#now, monotonic: () => this.#now };
    this.#head = new Head(limits);
    this.#jwt = new JwtAhead(new JwtSteps(check.asItStands(clock), clock), log);
    const route: Route = { ...NOWHERE, orgId, policy: { ...policy, setAt: 0 } };
    this.#chain = compilePolicy(route, null, { ...parts, jwts: this.#jwt, dryRuns: UNCOUNTED }).chain;
  }

  /** Null: it passes, and nothing is to be said. */
  async play(played: TestedRequest): Promise<TestVerdict | null> {
    const { id, at, clientIp, authorization } = played;
    if (this.#chain === null) return null;
    this.#now = at;
    const bytes = headOf(played);
    const end = parseRequestHead(bytes, 0, bytes.length, this.#head);
    if (end !== bytes.length) return unknown(id, 'form');
    const steps: TraceStep[] = [];
    const request: PolicyRequest = {
      bytes,
      start: 0,
      end,
      head: this.#head,
      clientIp,
      clientKey: addressKey(clientIp),
      isHttps: true,
      passesGates: true,
      nowMs: at,
      wouldRefuse: null,
      trace: { note: (step) => void steps.push(step) },
      shown: this.#shown,
      ownToken: null,
      visitorLine: null,
      body: UNRECORDED,
    };
    if (authorization === null) this.#jwt.passOver();
    else await this.#jwt.ask(request);
    if (isPending(this.#chain.decide(request, 0))) return unknown(id, 'form');
    return verdictOf(id, steps, authorization === null ? 'credentials' : 'keys');
  }
}

/** `whyNot`: what it means that a token could not be judged. */
function verdictOf(id: string, steps: readonly TraceStep[], whyNot: UnknownReason): TestVerdict | null {
  const said = steps.filter(({ verdict }) => verdict === 'refused' || verdict === 'would_refuse');
  const refused = said.find(({ verdict }) => verdict === 'refused');
  const failed = said.find(({ code }) => code === 'policy_failed');
  const reason = failed?.step === 'jwt_validation' ? whyNot : 'form';
  if (failed !== undefined && (refused === undefined || refused === failed)) return unknown(id, reason);
  const tried = said.filter(({ verdict, code }) => verdict === 'would_refuse' && code !== 'policy_failed');
  if (refused === undefined && tried.length === 0) return null;
  return { id, refused: refused === undefined ? null : refusalIn(refused), tried: tried.map(refusalIn), unknown: null };
}

function refusalIn({ index, code }: TraceStep): TestRefusal {
  return { index: index ?? 0, code: code ?? '' };
}

function unknown(id: string, reason: UnknownReason): TestVerdict {
  return { id, refused: null, tried: [], unknown: reason };
}

/** What the steps of a policy look at, as a visitor would send it. */
function headOf({ method, target, authorization }: TestedRequest): Buffer {
  // An absolute target names its host, and the parser wants the field to say the same.
  const host = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? 'policy-test';
  const lines = (authorization ?? []).map((value) => `Authorization: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}\r\n`, 'latin1');
}

const UNCOUNTED: PolicyParts['dryRuns'] = {
  counterOf: (place) => new DryRun(place, { onNews: () => {}, now: () => 0 }),
};

/** Gates are not asked, and no action wants a body. */
const UNRECORDED: PolicyRequest['body'] = { read: async () => ({ code: 'policy_failed' }) };

/** A tunnel without gates. */
const NOWHERE: Omit<Route, 'orgId' | 'policy'> = {
  tunnelId: '',
  protocol: 'http',
  subdomain: '',
  tcpPort: null,
  publicUrl: '',
  stopped: false,
  expiresAt: null,
  maintenance: null,
  gate: null,
  visitorGate: null,
  domains: [],
};
