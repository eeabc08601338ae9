/**
 * From a request's head to a stream that carries it: finds the tunnel, asks whether it takes requests, gets a way to its local
 * service, sends the head; and sends it once more when a kept connection turns out to be closed. One per visitor connection.
 */
import type { HttpAnswers } from '../tls/acme-answers.ts';
import type { AddressLoad } from '../../entrance/admission.ts';
import { addressKey } from '../../../base/net/address-key.ts';
import { withTrace } from '../../access-log/trace.ts';
import type { EdgeContext } from './context.ts';
import type { Exchange } from './exchange.ts';
import type { FaultCode } from '../../../base/codes/edge-faults.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import { forwardHead } from './forward.ts';
import { forwardRewritten } from '../rewrite/forward-rewritten.ts';
import type { Rewrite } from '../rewrite/rewrite.ts';
import { ForwardedLines, type VisitorOrigin } from './forwarded.ts';
import type { HttpsRedirect } from './https-redirect.ts';
import { type PolicyChain, isPending } from '../../policy/chain.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import { HeaderRule } from '../../policy/header-rule.ts';
import { ShownBefore } from '../../policy/password/shown-before.ts';
import type { PolicyRequest, Verdict } from '../../policy/step.ts';
import { showsVisitorCookies } from '../../policy/visitor-login/cookies.ts';
import { visitorLines } from '../../policy/visitor-login/lines.ts';
import type { Hold, HoldEnd } from './holds.ts';
import { EXHAUSTED, GREEDY, OFFLINE, OUTSIDE, refusalOf } from '../../faults/refusal.ts';
import { WantedBody } from './wanted-body.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { ResponseReader } from './response.ts';
import { RequestNotes } from './request-notes.ts';
import { acquire, openUpstream, type OwnStreams, type Upstream } from './upstream.ts';

const NOT_FOUND: EdgeRefusal = { code: 'tunnel_not_found' };
const MISDIRECTED: EdgeRefusal = { code: 'misdirected_request' };
const LOOP: EdgeRefusal = { code: 'loop_detected' };
const OVERLOADED: EdgeRefusal = { code: 'overloaded' };
const NOTHING = Buffer.alloc(0);
const NO_TOKEN = new HeaderRule([], ['authorization']);

/** What a chain that was waited for says; `held`: what the wait for an agent has come to, behind a chain that has let the request pass. */
interface Decided {
  readonly chain: PolicyChain | null;
  readonly verdict: Verdict;
  readonly held: boolean;
}

export class Dispatch {
  readonly #context: EdgeContext;
  readonly #exchange: Exchange;
  readonly #forwarded: ForwardedLines;
  readonly #notes: RequestNotes;
  /** What the visitor's address has under way, of all of its connections; null: uncounted. */
  readonly #load: AddressLoad | null;
  /** Of the head that `find` was asked about. */
  #start = 0;
  #end = 0;
  #repeatable = false;
  /** Why the last `find` found nothing, unless `pending` says that it is not decided yet. */
  refusal: EdgeRefusal = NOT_FOUND;
  /** Bytes that the visitor's connection keeps while the head that comes to `find` waits; at least the head. Set before `find`. */
  kept = 0;
  /** What the head at hand waits for. Once it is there `find` is asked again. */
  pending: Promise<Verdict> | null = null;
  /** The chain that is being asked, and the step from which it goes on. */
  #chain: PolicyChain | null = null;
  #next = 0;
  /** What that chain has decided of the head that comes to `find` next, and of no other. */
  #decided: Decided | null = null;
  /** The wait for an agent, while there is one, and since when the head at hand waits; 0: it does not. */
  #hold: Hold | null = null;
  #heldSinceMs = 0;
  /** What the request that `find` found a way for has passed. */
  #passed: CompiledPolicy | null = null;
  readonly #asked: PolicyRequest;
  /** What `pending` waits for, where a step wants the body of the request. */
  readonly body: WantedBody;
  readonly #of: VisitorOrigin;
  readonly #own: OwnStreams;

  /** `own`: one list for each connection of a visitor. */
  constructor(context: EdgeContext, exchange: Exchange, of: VisitorOrigin, own: OwnStreams) {
    this.#context = context;
    this.#exchange = exchange;
    this.#of = of;
    this.#own = own;
    this.#forwarded = new ForwardedLines(context.trusted, of);
    this.#notes = new RequestNotes(context, exchange, this.#forwarded, of);
    this.#load = context.limits.requestsPerAddress === 0 ? null : of.load;
    this.body = new WantedBody(context.bodies);
    const { requestHead: head, readBuffer: bytes } = context;
    this.#asked = {
      bytes,
      start: 0,
      end: 0,
      head,
      // Both are filled with the first request that a policy is asked about.
      clientIp: '',
      clientKey: '',
      isHttps: of.tls,
      passesGates: of.sentBy !== undefined,
      nowMs: 0,
      wouldRefuse: null,
      trace: null,
      shown: new ShownBefore(),
      ownToken: null,
      visitorLine: null,
      body: this.body,
    };
  }

  /** The request waits for an agent, and nothing else. */
  get isHeld(): boolean {
    return this.#hold !== null;
  }

  /**
   * A way to the service that the head at `bytes[start, end)` asks for, noted in the exchange; null: see `pending` and `refusal`. `wireBytes`: what of it
   * came over the wire, where that is less.
   */
  find(bytes: Buffer, start: number, end: number, wireBytes = end - start): Upstream | null {
    const { table, requestHead: head, challenges, redirect, latency } = this.#context;
    const exchange = this.#exchange;
    const decided = this.#decided;
    this.#decided = null;
    // Of a head that is read again: when it was read first.
    if (decided === null) {
      this.#heldSinceMs = 0;
      exchange.startedMs = performance.now();
    }
    this.#start = this.#asked.start = start;
    this.#end = this.#asked.end = end;
    // A head of HTTP/2 lies in a buffer of its own.
    this.#asked.bytes = bytes;
    if (challenges !== null && this.#isChallenge(challenges, bytes)) return null;
    const entry = this.#forwarded.lookUp(bytes, head, table);
    if (decided === null) this.#notes.begin(bytes, start, entry);
    else this.#notes.again(entry);
    if (this.#forwarded.isMisdirected) {
      this.#context.drops.add('misdirected');
      return this.#refuse(MISDIRECTED);
    }
    if (entry === undefined) return this.#refuse(this.#ownHost(bytes) ?? NOT_FOUND);
    exchange.latency = entry.latency ?? latency.of(entry);
    if (this.#forwarded.isLoop(bytes, head)) return this.#refuse(LOOP);
    if (redirect !== null && this.#mustBeHttps(redirect, bytes)) return null;
    const refusal = refusalOf(entry);
    if (refusal !== null && !(refusal === OFFLINE && this.#mayWait(entry, decided))) return this.#refuse(refusal);
    const { served: serving, policy } = entry;
    if (policy !== null && policy.chain !== null && !this.#passes(policy.chain, bytes, decided)) return null;
    if (serving === null || serving.draining) return this.#wait(entry);
    if (serving.payer.exhausted) return this.#refuse(EXHAUSTED);
    const { routes } = serving;
    const served = routes === null ? serving : routes.pick(bytes, head);
    if (served === null) return this.#refuse(routes?.refusal ?? NOT_FOUND);
    if (served.rewrite !== null && !this.#isRewritten(served.rewrite, bytes)) return this.#refuse(OUTSIDE);

    const load = this.#load;
    if (load !== null && load.requests >= this.#context.limits.requestsPerAddress) {
      this.#context.drops.add('requests_per_ip');
      return this.#refuse(GREEDY);
    }
    const isBodiless = !head.chunked && head.contentLength <= 0;
    const upgrade = head.upgradeWebsocket && head.connectionUpgrade && exchange.isGet && isBodiless && head.minor === 1;
    this.#repeatable = isBodiless && exchange.isSafe && !upgrade;
    const nowMs = decided === null ? exchange.startedMs : performance.now();
    const upstream = acquire(served, nowMs, this.#repeatable, this.#own);
    if (upstream === null) return this.#refuse(OVERLOADED);
    upstream.load = load;
    exchange.serveFrom(entry, served.meter, wireBytes);
    if (wireBytes < end - start) served.forgive(end - start - wireBytes);
    if (served.watched) exchange.watch(bytes, start, head, { served, wouldRefuse: this.#wouldRefuse(policy) });
    exchange.draft?.carriedBy(served, upstream.reused);
    exchange.access?.carriedBy(served);
    exchange.wantsUpgrade = upgrade;
    this.#passed = policy;
    if (policy !== null) {
      exchange.requestRule = policy.request;
      exchange.responseRule = policy.response;
    }
    return upstream;
  }

  /** Sends the head that `find` was asked about; same `bytes`. */
  send(upstream: Upstream, bytes: Buffer): void {
    const head = this.#context.requestHead;
    const policy = this.#exchange.entry?.policy ?? null;
    const rule = this.#exchange.requestRule;
    if (policy !== null && policy.hidesToken !== null && policy.hidesToken(this.#asked)) NO_TOKEN.dropFrom(bytes, head);
    rule?.dropFrom(bytes, head);
    const isGated = policy !== null && policy.namesVisitors;
    // A tunnel that has no gate any more, or none yet, gets no pass of another time or owner either: it names the visitor.
    const isOwn = isGated || (head.cookieCount > 0 && showsVisitorCookies(bytes, head));
    const visitor = isGated ? this.#asked.visitorLine : null;
    const { traceLine } = this.#exchange;
    const added = isOwn ? visitorLines(bytes, head, { rule, visitor }) : rule === null ? NOTHING : rule.lines;
    const parts = {
      start: this.#start,
      end: this.#end,
      forwarded: this.#forwarded.lines(bytes, head),
      added: traceLine === null ? added : withTrace(traceLine, added, { bytes, head, rule }),
      upgrade: this.#exchange.wantsUpgrade,
      replay: this.#repeatable && upstream.reused ? upstream : null,
      draft: this.#exchange.draft,
    };
    const { rewrite } = upstream.served;
    if (rewrite === null) forwardHead(upstream.stream, bytes, head, parts);
    else forwardRewritten(upstream.stream, bytes, head, parts, this.#exchange);
  }

  /**
   * For a request that `old` was lost under with `code`: a fresh way, with the head to send; `old` is given back. Null: it may not be sent once more. It
   * may when the service closed a kept connection before it saw the request. The agent that serves the tunnel now pays for the response.
   */
  again(code: FaultCode, old: Upstream | null, response: ResponseReader): { fresh: Upstream; head: Buffer } | null {
    if (code !== 'local_closed' || old === null || !response.untouched || old.isReset) return null;
    const head = old.takeReplay();
    const entry = this.#exchange.entry;
    // Another agent may have taken over, and its flags ask more of visitors.
    if (entry?.policy !== this.#passed) return null;
    const serving = entry?.served ?? null;
    if (head === null || serving === null || serving.draining || serving.payer.exhausted) return null;
    // The request stays on its route. Those of another agent may lead elsewhere.
    const served = serving === old.served.tunnel ? old.served : serving;
    if (served.routes !== null) return null;
    // Another agent has it by now, and its service may want another head.
    if (served.rewrite !== old.served.rewrite) return null;
    const fresh = openUpstream(served, this.#own);
    if (fresh === null) return null;
    fresh.load = this.#load;
    this.#exchange.meter = served.meter;
    this.#exchange.draft?.retried(served);
    this.#exchange.access?.carriedBy(served);
    old.release(false);
    return { fresh, head };
  }

  /** What the head waited for is decided: `find` refuses, or goes on behind that step; unless the policy has changed since, then all is asked anew. */
  decided(verdict: Verdict): void {
    this.pending = null;
    const held = this.#hold !== null;
    this.#hold = null;
    if (held) this.#noteHeld(verdict);
    this.#decided = this.#chain === null && !held ? null : { chain: this.#chain, verdict, held };
  }

  /** The visitor has sent more while its request is held. False: there is no room for it, and the request is refused. */
  keepMore(bytes: number): boolean {
    return this.#hold === null || this.#hold.grow(bytes);
  }

  /** The visitor has left: a request that is held waits no more. */
  leave(): void {
    this.#hold?.leave();
  }

  /** No agent serves the tunnel: is one awaited, and may this request wait for it? */
  #mayWait(entry: RouteEntry, decided: Decided | null): boolean {
    // What the control plane sends has a queue of its own there.
    if (this.#of.sentBy !== undefined || (decided !== null && decided.held && decided.verdict !== null)) return false;
    return this.#context.holds.isAwaited(entry);
  }

  #wait(entry: RouteEntry): null {
    const { holds } = this.#context;
    const nowMs = performance.now();
    if (this.#heldSinceMs === 0) this.#heldSinceMs = nowMs;
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    const hold = holds.wait(entry, {
      bytes: Math.max(this.kept, this.#end - this.#start),
      from: this.#of.load,
      // An agent that comes and goes again and again begins no new wait.
      maxMs: holds.holdMs - (nowMs - this.#heldSinceMs),
      onEnd: (why: HoldEnd) => resolve(why === 'served' || why === 'changed' ? null : OFFLINE),
    });
    this.#refuse(OFFLINE);
    if (hold === null) return null;
    this.#hold = hold;
    this.#chain = entry.policy === null ? null : entry.policy.chain;
    this.pending = promise;
    return null;
  }

  /** For the request's trace. */
  #noteHeld(verdict: Verdict): void {
    const { draft } = this.#exchange;
    if (draft === null) return;
    const ms = Math.round(performance.now() - this.#heldSinceMs);
    const isRefused = verdict !== null;
    draft.note({
      step: 'agent_wait',
      index: null,
      rule: `${ms} ms`,
      verdict: isRefused ? 'refused' : 'passed',
      code: isRefused ? verdict.code : null,
    });
  }

  /** False: refused or not decided yet. */
  #passes(chain: PolicyChain, bytes: Buffer, decided: Decided | null): boolean {
    const asked = this.#asked;
    // It had passed before it was held: what the chain has said of the visitor holds.
    if (decided !== null && decided.held && decided.chain === chain) return true;
    const clientIp = this.#forwarded.clientIp(bytes, asked.head);
    if (clientIp !== asked.clientIp) {
      asked.clientIp = clientIp;
      asked.clientKey = addressKey(clientIp);
    }
    asked.isHttps = this.#forwarded.isHttps(bytes, asked.head);
    asked.nowMs = this.#context.nowMs;
    const goesOn = decided !== null && chain === decided.chain;
    const { draft } = this.#exchange;
    asked.trace = draft;
    if (!goesOn) {
      // What steps find out. Those before the one that was waited for are not asked again.
      asked.wouldRefuse = asked.ownToken = asked.visitorLine = null;
      draft?.forgetSteps();
    } else if (draft !== null) chain.noteLater(draft, this.#next, decided.verdict);
    const answer = (goesOn ? decided.verdict : null) ?? chain.decide(asked, goesOn ? this.#next : 0);
    this.#chain = null;
    if (answer === null) return true;
    if (!isPending(answer)) {
      this.#refuse(answer);
      return false;
    }
    this.#chain = chain;
    draft?.refused(bytes, this.#start, this.#end, asked.head);
    this.#next = answer.next;
    this.pending = answer.verdict;
    return false;
  }

  /** Notes what becomes of host and path. False: the request would leave the path that is published. */
  #isRewritten(rewrite: Rewrite, bytes: Buffer): boolean {
    const { requestHead: head } = this.#context;
    if (rewrite.isLeft(bytes, head)) return false;
    this.#exchange.rewrite = rewrite;
    this.#exchange.origin = this.#forwarded.origin(bytes, head);
    return true;
  }

  /** What a tried action says of the request at hand. */
  #wouldRefuse(policy: CompiledPolicy | null): FaultCode | null {
    return policy === null || policy.chain === null ? null : this.#asked.wouldRefuse;
  }

  /** A certificate authority asks about a name while its order runs. */
  #isChallenge(challenges: HttpAnswers, bytes: Buffer): boolean {
    const { isGet, isHead } = this.#exchange;
    const answer = isGet || isHead ? challenges.find(bytes, this.#context.requestHead) : null;
    if (answer !== null) this.refusal = answer;
    return answer !== null;
  }

  /** For a host that no tunnel has: it may be the server's own. */
  #ownHost(bytes: Buffer): EdgeRefusal | null {
    const { ownHosts, requestHead: head } = this.#context;
    if (ownHosts === null) return null;
    return ownHosts.refusal(bytes, head, {
      exchange: this.#exchange,
      isHttps: this.#forwarded.isHttps(bytes, head),
    });
  }

  /** True: it came by plain HTTP, and `refusal` says where to go. */
  #mustBeHttps(redirect: HttpsRedirect, bytes: Buffer): boolean {
    const head = this.#context.requestHead;
    if (this.#forwarded.isHttps(bytes, head)) return false;
    const refusal = redirect.refusal(bytes, head, this.#exchange);
    if (refusal === null) return false;
    this.#refuse(refusal);
    return true;
  }

  #refuse(refusal: EdgeRefusal): null {
    this.#exchange.draft?.refused(this.#asked.bytes, this.#start, this.#end, this.#context.requestHead);
    this.refusal = refusal;
    return null;
  }
}
