/** A data node over a port: its own end answers, the control plane's end asks, and knows by the node's events who is online. */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { EdgeCertificate, EdgeChallenge } from '../certificates.ts';
import type { EdgeStats } from '../edge-stats.ts';
import type { TunnelAnswer, TunnelRequest } from '../inspection.ts';
import type { ConnectionInfo, LocalNode, NodeAccess, NodeAddresses, NodePulse } from '../link.ts';
import type { ShownNarrowing } from '../narrowing.ts';
import type { PresenceEvent } from '../presence.ts';
import type { PolicyTest, PolicyTestAnswer } from '../policy-test.ts';
import type { RelayInfo } from '../relays.ts';
import type { PortCalls } from './calls.ts';
import { SessionsMirror } from './sessions-mirror.ts';

/** Figures for a page or a scrape: a node this late is shown as it was. */
const LOOK_MS = 2_000;
/** The node itself waits for half a second. */
const FLUSH_MS = 1_000;
const CHANGE_MS = 10_000;
/** Beside the time that the request itself has. */
const SEND_MARGIN_MS = 5_000;
/** Some thousand requests against a policy that is slow. */
const POLICY_TEST_MS = 60_000;
/** Beside the time of the drain: the last words to agents. */
const DRAIN_MARGIN_MS = 5_000;
/** Goodbyes, and the last report. */
const CLOSE_MS = 10_000;

interface Disconnect {
  readonly agentId: string;
  readonly reason: string | undefined;
}

/** The data node's end. `NodeDeps.onPresence` of the node is `tellPresence`. */
export function serveNode(calls: PortCalls, node: LocalNode): void {
  calls.hear('disconnect', ({ agentId, reason }: Disconnect) => void node.disconnect(agentId, reason));
  calls.answer('relay', (networkId: string) => node.relay(networkId));
  calls.answer('stats', () => node.stats());
  calls.answer('pulse', () => node.pulse());
  calls.answer('send', (request: TunnelRequest) => node.send(request));
  calls.answer('testPolicy', (question: PolicyTest) => node.testPolicy(question));
  calls.answer('flushInspections', () => node.flushInspections());
  calls.answer('setCertificates', (list: readonly EdgeCertificate[]) => node.setCertificates(list));
  calls.answer('setChallenges', (list: readonly EdgeChallenge[]) => node.setChallenges(list));
  calls.answer('setAgentCertificate', (pair: EdgeCertificate) => node.setAgentCertificate(pair));
  calls.answer('drain', (graceMs: number) => node.drain(graceMs));
  calls.answer('close', () => node.close());
}

export function tellPresence(calls: PortCalls): (event: PresenceEvent) => void {
  return (event) => calls.tell('presence', event);
}

/** The control plane's end. Made before the node is there, so that no event is lost; `addresses` are known once it is ready. */
export class FarNode implements NodeAccess {
  addresses: NodeAddresses = { http: null, https: null, agents: { address: '', family: '', port: 0 } };
  readonly #calls: PortCalls;
  readonly #deps: { readonly log: Logger; readonly onClosed: () => Promise<void> };
  readonly #sessions = new SessionsMirror();
  #stats: EdgeStats | undefined;
  #closing: Promise<void> | undefined;

  /** `onClosed` ends what the node runs in. */
  constructor(calls: PortCalls, deps: { readonly log: Logger; readonly onClosed: () => Promise<void> }) {
    this.#calls = calls;
    this.#deps = deps;
    calls.hear('presence', (event: PresenceEvent) => this.#sessions.take(event));
  }

  connections(): ConnectionInfo[] {
    return this.#sessions.connections();
  }

  disconnect(agentId: string, reason?: string): boolean {
    if (!this.#sessions.has(agentId)) return false;
    this.#calls.tell('disconnect', { agentId, reason } satisfies Disconnect);
    return true;
  }

  isOnline(tunnelId: string): boolean {
    return this.#sessions.isOnline(tunnelId);
  }

  adviceOf(tunnelId: string): AdviceCode | null {
    return this.#sessions.adviceOf(tunnelId);
  }

  isTaken(tunnelId: string): boolean {
    return this.#sessions.isTaken(tunnelId);
  }

  narrowingOf(tunnelId: string): ShownNarrowing | undefined {
    return this.#sessions.narrowingOf(tunnelId);
  }

  /** This session has been allowed to serve this tunnel; its node has not said yet that it does. */
  expect(agentId: string, tunnelId: string): void {
    this.#sessions.expect(agentId, tunnelId);
  }

  isCarried(networkId: string): boolean {
    return this.#sessions.isCarried(networkId);
  }

  async relay(networkId: string): Promise<RelayInfo | undefined> {
    if (!this.isCarried(networkId)) return undefined;
    return this.#calls.ask<RelayInfo | undefined>('relay', networkId, { timeoutMs: LOOK_MS }).catch(() => undefined);
  }

  async stats(): Promise<EdgeStats | undefined> {
    try {
      this.#stats = await this.#calls.ask<EdgeStats>('stats', null, { timeoutMs: LOOK_MS });
    } catch {
      // The node is busy, or has gone: what it said last is the best there is.
    }
    return this.#stats;
  }

  pulse(): Promise<NodePulse | undefined> {
    return this.#calls.ask<NodePulse>('pulse', null, { timeoutMs: LOOK_MS }).catch(() => undefined);
  }

  async send(request: TunnelRequest): Promise<TunnelAnswer> {
    try {
      return await this.#calls.ask('send', request, { timeoutMs: request.timeoutMs + SEND_MARGIN_MS });
    } catch {
      return { ok: false, code: 'overloaded' };
    }
  }

  async testPolicy(question: PolicyTest): Promise<PolicyTestAnswer> {
    try {
      return await this.#calls.ask('testPolicy', question, { timeoutMs: POLICY_TEST_MS });
    } catch {
      return { ok: false, code: 'overloaded' };
    }
  }

  async flushInspections(): Promise<void> {
    await this.#calls.ask('flushInspections', null, { timeoutMs: FLUSH_MS }).catch(() => undefined);
  }

  setCertificates(list: readonly EdgeCertificate[]): Promise<void> {
    return this.#calls.ask('setCertificates', list, { timeoutMs: CHANGE_MS });
  }

  setChallenges(list: readonly EdgeChallenge[]): Promise<void> {
    return this.#calls.ask('setChallenges', list, { timeoutMs: CHANGE_MS });
  }

  setAgentCertificate(pair: EdgeCertificate): Promise<void> {
    return this.#calls.ask('setAgentCertificate', pair, { timeoutMs: CHANGE_MS });
  }

  /** Ends early when `close` cuts it short. */
  async drain(graceMs: number): Promise<void> {
    try {
      await this.#calls.ask('drain', graceMs, { timeoutMs: graceMs + DRAIN_MARGIN_MS });
    } catch (error) {
      if (this.#closing === undefined) throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#calls.ask<void>('close', null, { timeoutMs: CLOSE_MS });
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'the data node did not close cleanly');
    }
    await this.#deps.onClosed();
    // A question still under way would hold the process until its time is over.
    this.#calls.close('the data node has closed');
  }
}
