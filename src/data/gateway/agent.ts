/**
 * One connected agent: hello, claims, and its end. Made by listener.ts once TLS stands; registry.ts holds it while it is live. It owns its mux
 * session and the slots of its tunnels and private networks; who serves what is written in the registries (serving.ts,
 * relay/relay-registry.ts). However a
 * session ends (agent leaves, connection dies, token revoked), everything goes through `#over`, once. Length: one state machine, whose transitions
 * can be checked against each other on one page.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MuxSession, SessionHandler } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { MuxStream } from '../../mux/stream.ts';
import type { MuxError } from '../../mux/types.ts';
import type { Link, Refusal } from '../../plane/link.ts';
import type { Narrowing } from '../../plane/narrowing.ts';
import type { PresenceEvent } from '../../plane/presence.ts';
import type { TokenGrant, TokenLimits } from '../../plane/routes.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import { FEATURES } from '../../wire/features.ts';
import {
  type Attach,
  type Claim,
  type FromAgent,
  type FromServer,
  type Hello,
  MAX_TUNNELS_PER_AGENT,
  type RefusalCode,
  type RequestLine,
  WIRE_VERSION,
} from '../../wire/messages.ts';
import { NARROWINGS } from '../../wire/narrowing.ts';
import type { Drops } from '../faults/drops.ts';
import { dropKept } from '../edge/exchange/upstream.ts';
import type { RelayRegistry } from '../relay/relay-registry.ts';
import type { Payer, RouteEntry } from '../routing/entry.ts';
import { ClaimPace } from './claims/claim-pace.ts';
import { admit } from './handshakes/admission.ts';
import { AgentRelays, type Carrying, type RelayingSession } from './agent-relays.ts';
import { type AgentWire, comesBack, type EndDetails } from './agent-wire.ts';
import type { AttachDesk } from './claims/attaches.ts';
import type { ClaimDesk, ClaimOutcome } from './claims/claims.ts';
import { ControlChannel, type ControlEvents } from './control.ts';
import type { GrantChanges } from './grant-changes.ts';
import { RequestLines } from './request-lines.ts';
import { Serving, type ServingAgent, type ServingRegistry } from './serving.ts';
import { SlotMap } from './claims/slots.ts';
import { type SessionEnd, WhyEnded } from './why-ended.ts';

/** Claims of one session that may stand in line. An agent with more tunnels asks for them as answers come. */
const MAX_CLAIMS_IN_LINE = 256;
/** After `bye` an agent has this long to read it. Under a second: a revoked token must be off by then. */
const LINGER_MS = 700;

type State = 'hello' | 'admitting' | 'live' | 'leaving' | 'over';

/** What a session tells its surroundings, and asks them. */
export interface AgentHost {
  /** The token is good: takes the session in, or says why not. */
  enter(agent: AgentSession, grant: TokenGrant): Refusal | undefined;
  /** Who pays for what a session serves that was taken in and is not over. */
  payerOf(tokenId: string): Payer;
  /** The session is over; called once, for sessions that never entered too. */
  left(agent: AgentSession): void;
  /** Why; called once, at the end or right behind it. */
  ended(agent: AgentSession, end: SessionEnd): void;
  /** An answer to a token may be out of date when it comes. */
  readonly changes: Pick<GrantChanges, 'count' | 'concern'>;
}

export interface AgentDeps {
  readonly link: Link;
  readonly servings: ServingRegistry;
  readonly desk: ClaimDesk;
  readonly attachDesk: AttachDesk;
  readonly relays: RelayRegistry;
  readonly onPresence: (event: PresenceEvent) => void;
  readonly host: AgentHost;
  readonly drops: Pick<Drops, 'add'>;
  readonly log: Logger;
  readonly serverVersion: string;
  readonly serverId: string;
  readonly now: () => number;
}

export class AgentSession implements SessionHandler, ControlEvents, RelayingSession, ServingAgent {
  readonly agentId = randomUUID();
  readonly remoteIp: string;
  readonly shaper: Shaper;
  readonly connectedAt: number;
  /** What is said when the token runs out. */
  endMessage = 'The access key has expired. Create another one.';
  /** Resolves when the connection is over: what was said last is out. */
  readonly closed: Promise<void>;
  readonly #closed: () => void;
  readonly #deps: AgentDeps;
  readonly #log: Logger;
  readonly session: MuxSession;
  /** Private networks that it carries. */
  readonly relays: AgentRelays;
  readonly #slots = new SlotMap<Serving | Carrying>();
  readonly #lines: RequestLines;
  #control: ControlChannel | undefined;
  #state: State = 'hello';
  #grant: TokenGrant | undefined;
  /** As the agent calls its machine. */
  hostname = '';
  /** The agent's process, as it says; an older one does not. */
  run: string | undefined;
  /** Of its program, as it says. */
  version = '';
  #claims = 0;
  readonly #pace = new ClaimPace();
  readonly #why = new WhyEnded((end) => this.#deps.host.ended(this, end));
  #watched = false;
  /** The server restarts, and has asked the agent to come back to the next process. */
  #isRestarting = false;

  constructor(wire: AgentWire, deps: AgentDeps) {
    this.remoteIp = wire.remoteIp;
    this.shaper = wire.shaper;
    this.#deps = deps;
    this.connectedAt = deps.now();
    ({ promise: this.closed, resolve: this.#closed } = Promise.withResolvers<void>());
    this.#log = deps.log.child({ agentId: this.agentId, remoteIp: wire.remoteIp });
    this.#lines = new RequestLines({
      send: (message) => this.#control?.send(message),
      blocked: () => this.#control?.blocked ?? true,
    });
    this.relays = new AgentRelays(this, this.#slots, deps);
    this.session = wire.attach(this);
  }

  /** What the token allows; undefined until it was accepted. */
  get grant(): TokenGrant | undefined {
    return this.#grant;
  }

  /** Whence the agent speaks, for people: `host (192.0.2.1)`. */
  get whence(): string {
    return this.hostname === '' ? this.remoteIp : `${this.hostname} (${this.remoteIp})`;
  }

  get tunnelCount(): number {
    return this.#slots.size - this.relays.size;
  }

  get streamCount(): number {
    return this.session.streamCount;
  }

  get servings(): Serving[] {
    return [...this.#slots.values()].filter((held) => held instanceof Serving);
  }

  get isLive(): boolean {
    return this.#state === 'live' || this.#state === 'leaving';
  }

  get takesMore(): boolean {
    return this.#state === 'live';
  }

  /** A line for the agent's live screen. */
  note(line: RequestLine): void {
    this.#lines.note(line);
  }

  /** Says `bye` and ends the session. */
  end(code: RefusalCode, message: string, { retryAfterMs, expiredAt }: EndDetails = {}): void {
    if (this.#state === 'over') return;
    this.#log.info({ code, reason: message }, 'agent session ended by the server');
    // What is owed to a limit holds up the last word no more.
    this.shaper.lift();
    const over = expiredAt ?? this.#expiredAt();
    this.#control?.end({
      type: 'bye',
      code,
      message,
      serverId: this.#deps.serverId,
      retryAfterMs,
      ...(code === 'unauthorized' ? { expiredAt: over } : {}),
    });
    this.#why.byServer(code, message, over !== undefined);
    if (code === 'server_shutdown') this.#isRestarting = true;
    this.#over(comesBack(code));
    this.session.close();
    setTimeout(() => this.session.destroy(message), LINGER_MS).unref();
  }

  /** When the token's time was over; undefined while it is not. */
  #expiredAt(): number | undefined {
    const expiresAt = this.#grant?.expiresAt ?? Infinity;
    return expiresAt <= this.#deps.now() ? expiresAt : undefined;
  }

  /** The same agent has come again by another way: whatever still is on this one is lost. */
  replace(): void {
    this.#why.replaced();
    this.#log.info({}, 'agent session ended: the same agent reconnected');
    this.#over(true);
    this.session.destroy('the same agent reconnected on another connection');
  }

  /** The deadline for showing a good token has passed. */
  expire(): void {
    if (this.#state === 'admitting')
      this.end('overloaded', 'The server could not check the access key in time. The agent will retry.');
    else if (this.#state === 'hello') this.end('protocol_error', 'The agent did not send its access key in time.');
  }

  /** The token ends sooner than its grant said. */
  endsAt(expiresAt: number, message: string): void {
    if (this.#grant === undefined || this.#grant.expiresAt <= expiresAt) return;
    this.#grant = { ...this.#grant, expiresAt };
    this.endMessage = message;
  }

  /** The token allows something else than its grant said. What this session serves stays. Undefined: there is no grant yet. */
  limit({ tunnelQuota, bandwidthLimitMbps }: TokenLimits): TokenGrant | undefined {
    if (this.#grant === undefined) return undefined;
    this.#grant = { ...this.#grant, tunnelQuota, bandwidthLimitMbps };
    this.#control?.allow(tunnelQuota);
    return this.#grant;
  }

  /** Asks the agent to finish what is in flight and to come back after `retryAfterMs`. */
  drain(retryAfterMs: number, message: string): void {
    if (!this.isLive) return;
    this.#why.askedToLeave(message);
    this.#isRestarting = true;
    this.#control?.send({ type: 'drain', retryAfterMs, message });
  }

  /** This session serves `serving` no more, and its agent gets the reason. `cut` ends its streams in flight too. */
  unbind(serving: Serving, code: RefusalCode, message: string, cut: boolean): void {
    this.#deps.servings.release(serving, { cut });
    if (!this.#slots.free(serving.slot, serving)) return;
    this.#log.info({ tunnelId: serving.entry.route.tunnelId, code }, 'tunnel unbound');
    this.onUnbound(serving.slot, code, message);
  }

  // ------------------------------------------------------------------ for its relays

  send(message: FromServer): void {
    this.#control?.send(message);
  }

  payerOf(tokenId: string): Payer {
    return this.#deps.host.payerOf(tokenId);
  }

  onAttached(): void {
    this.#why.serves();
  }

  /** What was in this slot is taken away, and the slot is free. */
  onUnbound(slot: number, code: RefusalCode, message: string): void {
    if (this.#slots.size === 0) this.#why.servesNothing(code, message);
    this.send({ type: 'unbound', slot, code, message });
  }

  // ------------------------------------------------------------------ from the multiplexer

  /** The first stream is the control stream; agents open no others. */
  onStream(stream: MuxStream): void {
    if (this.#control === undefined && this.#state === 'hello') this.#control = new ControlChannel(stream, this);
    else stream.reset();
  }

  onClose(_session: MuxSession, error: MuxError): void {
    this.#closed();
    this.#why.byConnection(error);
    if (this.#state === 'over') return;
    this.#log.info({ code: error.code, reason: error.message }, 'agent session ended');
    this.#over(this.#state !== 'leaving');
  }

  onGoAway(): void {
    this.#leave();
  }

  onFault(_stream: MuxStream, error: unknown): void {
    this.#log.error({ error: messageOf(error) }, 'internal error while handling a stream: the stream was reset');
  }

  // ------------------------------------------------------------------ from the control stream

  onBroken(reason: string): void {
    this.end('protocol_error', `Protocol error: ${reason}.`);
  }

  onSlowed(): void {
    this.#deps.drops.add('agent_messages');
  }

  onGone(): void {
    // The stream also goes with its session, whose end then says why.
    const hasLeft = !this.session.closed;
    if (hasLeft) this.#why.left();
    this.#over(!hasLeft && this.#state !== 'leaving');
    this.session.destroy('the agent ended its control stream');
  }

  onMessage(message: FromAgent): void {
    if (this.#state === 'over') return;
    if (message.type === 'hello' && this.#state === 'hello') return this.#hello(message);
    if (message.type === 'hello') return this.onBroken('hello was sent twice');
    if (!this.isLive)
      return message.type === 'drain' ? this.onGone() : this.onBroken('a message was sent before welcome');
    switch (message.type) {
      case 'claim':
      case 'attach':
        return this.#claim(message);
      case 'unbind':
        return this.#unbindByAgent(message.slot);
      case 'watch':
        return this.#watch(message.requests);
      case 'advice':
        return this.#advised(message.slot, message.code);
      case 'drain':
        return this.#leave();
      default:
        return message satisfies never;
    }
  }

  #hello(hello: Hello): void {
    if (hello.version !== WIRE_VERSION) {
      const message = `This server speaks version ${WIRE_VERSION} of the agent protocol, not ${hello.version}.`;
      return this.end('version_unsupported', message);
    }
    this.#state = 'admitting';
    ({ hostname: this.hostname, version: this.version } = hello.agent);
    this.session.hearsClear = hello.clear === true && hello.step === true;
    this.run = hello.run;
    this.session.pulse.prompt = hello.run !== undefined;
    admit(hello.token, this.#deps, {
      remoteIp: this.remoteIp,
      waits: () => this.#state === 'admitting',
      settle: (answer) => (answer.ok ? this.#welcome(answer.grant) : this.end(answer.code, answer.message, answer)),
    });
  }

  #welcome(grant: TokenGrant): void {
    const refused = this.#deps.host.enter(this, grant);
    if (refused !== undefined) return this.end(refused.code, refused.message, refused);
    this.#grant = grant;
    this.#state = 'live';
    this.#control?.allow(grant.tunnelQuota);
    this.#log.info({ orgId: grant.orgId, tokenId: grant.tokenId, hostname: this.hostname }, 'agent connected');
    this.#control?.send({
      type: 'welcome',
      version: WIRE_VERSION,
      agentId: this.agentId,
      serverVersion: this.#deps.serverVersion,
      account: grant.account,
      clear: true,
      narrows: [...NARROWINGS],
      serverId: this.#deps.serverId,
      features: [...FEATURES],
      ...(grant.bandwidthLimitMbps === null ? {} : { bandwidthLimitMbps: grant.bandwidthLimitMbps }),
    });
  }

  #claim(claim: Claim | Attach): void {
    const grant = this.#grant;
    if (grant === undefined) return;
    const refuse = (code: RefusalCode, message: string): void =>
      this.send({ type: 'refused', ref: claim.ref, code, message });
    if (this.#state === 'leaving')
      return refuse('invalid_request', 'The session is closing. Claim the tunnel in a new session.');
    if (claim.type === 'claim' && claim.protocol === 'tcp' && claim.routes !== undefined)
      return refuse('invalid_request', 'A tcp tunnel has no paths, and so no routes.');
    // Before the limits: it takes no place.
    if (claim.type === 'claim' ? this.#repeats(claim) : this.relays.repeats(claim)) return;
    if (this.#claims >= MAX_CLAIMS_IN_LINE)
      return refuse('overloaded', 'Too many claims at once. Wait for the responses.');
    if (this.#slots.size + this.#claims >= MAX_TUNNELS_PER_AGENT) {
      return refuse(
        'quota_exceeded',
        `The agent has ${MAX_TUNNELS_PER_AGENT} tunnels and networks, which is the limit. Start another agent.`,
      );
    }
    this.#claims++;
    void this.#ask(claim, grant).finally(() => {
      this.#claims--;
    });
  }

  /** It serves that already, by the same claim: answered once more, and no one else is asked. */
  #repeats(claim: Claim): boolean {
    const serving = this.servings.find((each) => each.answers(claim));
    if (serving !== undefined) this.send(serving.bound(claim.ref));
    return serving !== undefined;
  }

  async #ask(claim: Claim | Attach, grant: TokenGrant): Promise<void> {
    const waitMs = this.#pace.take(grant.tunnelQuota, this.#deps.now());
    if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
    if (claim.type === 'attach') return this.relays.ask(claim, grant);
    const {
      type: _type,
      ref: _ref,
      inspect: _inspect,
      upstream: _upstream,
      routes: _routes,
      revision: _revision,
      ...asked
    } = claim;
    await this.#deps.desk.claim(
      { ...asked, tokenId: grant.tokenId, agentId: this.agentId },
      {
        gone: () => this.#state !== 'live',
        isAnswered: () => this.#repeats(claim),
        live: () => ({
          liveTunnelIds: this.#deps.servings.tunnelsOf(grant.tokenId),
          relays: this.#deps.relays.carriedBy(grant.tokenId).length,
        }),
        settle: (outcome) => this.#settle(claim, grant, outcome),
      },
    );
  }

  #settle(claim: Claim, grant: TokenGrant, outcome: ClaimOutcome): void {
    if (outcome.ok) this.#bind(claim, grant, outcome);
    else this.send({ type: 'refused', ref: claim.ref, code: outcome.code, message: outcome.message });
  }

  #bind(
    claimed: Claim,
    grant: TokenGrant,
    { entry, narrowing }: { entry: RouteEntry; narrowing: Narrowing | null },
  ): void {
    const { route } = entry;
    const serving = this.#slots.take(
      (slot) =>
        new Serving({
          agent: this,
          session: this.session,
          payer: this.payerOf(grant.tokenId),
          entry,
          slot,
          watched: this.#watched,
          claimed,
          narrowing,
        }),
    );
    this.send(serving.bound(claimed.ref));
    // An agent that does not read may just have been cut off by that message: it must not serve as a ghost.
    if (!this.isLive) return;
    this.#why.serves();
    const before = this.#deps.servings.take(serving);
    this.#log.info({ tunnelId: route.tunnelId, url: route.publicUrl }, 'tunnel bound');
    before?.supersede(this.whence, this.#deps.now());
  }

  #unbindByAgent(slot: number): void {
    const held = this.#slots.get(slot);
    // Not an offence: the server's own `unbound` for this slot may have been under way.
    if (held === undefined) return;
    if (!(held instanceof Serving)) return this.relays.release(held);
    this.#deps.servings.release(held, { cut: false });
    this.#slots.free(slot, held);
  }

  /** A message about a tunnel that has just been taken away is no offence. */
  #advised(slot: number, code: AdviceCode): void {
    const held = this.#slots.get(slot);
    if (!(held instanceof Serving) || held.advice === code || held.adviceLeft === 0) return;
    held.adviceLeft--;
    held.advice = code;
    this.#deps.onPresence({ kind: 'advises', agentId: this.agentId, tunnelId: held.entry.route.tunnelId, code });
  }

  #watch(requests: boolean): void {
    if (requests === this.#watched) return;
    this.#watched = requests;
    for (const serving of this.servings) serving.watched = requests;
  }

  /** The agent wants no new streams; those in flight go on until it closes. A relay has nothing in flight that would be worth that. */
  #leave(): void {
    if (this.#state !== 'live') return;
    this.#state = 'leaving';
    this.#why.leaves();
    this.relays.releaseAll();
    for (const serving of this.servings) {
      serving.draining = true;
      dropKept(serving);
    }
  }

  /** `isLost`: the agent did not leave by itself, and is expected to come back. */
  #over(isLost: boolean): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#control?.close();
    this.#lines.close();
    const how = { cut: true, lost: isLost || this.#isRestarting, restarting: this.#isRestarting };
    for (const serving of this.servings) this.#deps.servings.release(serving, how);
    this.relays.releaseAll();
    this.#deps.host.left(this);
  }
}
