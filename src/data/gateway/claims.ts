/**
 * Answers claims: asks the control plane, waits until the routing table shows what it answered, and checks that the tunnel may be
 * served at this moment. Called by agent.ts; binds nothing itself.
 *
 * The claims of one token are taken one after the other, over all its sessions: the quota is checked against what is bound, and
 * two questions at once would each be told that there is room for one more.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ClaimAnswer, ClaimQuestion, Link, Refusal } from '../../plane/link.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { RouteTable } from '../routing/table.ts';

/** An answer that has not come by then is no answer; the agent is told to try again. */
const ANSWER_MS = 15_000;
/** The table follows the control plane within moments; later than this something is broken. */
const TABLE_MS = 10_000;

export type ClaimOutcome = { readonly ok: true; readonly entry: RouteEntry } | Refusal;

/** The public TCP ports, as far as a claim needs them: data/edge/tcp.ts. */
export interface PublicPorts {
  /** Resolves whether this node listens on `port`, once that is decided. Tries again if it could not before. */
  ready(port: number): Promise<boolean>;
}

export interface Claimant {
  /** The session has ended: its claim is nobody's any more. */
  gone(): boolean;
  /** Called at most once, and never after `gone` says true. What it binds counts for the next claim of the token. */
  settle(outcome: ClaimOutcome): void;
  /** Tunnels that the token's sessions serve, at the moment of asking. */
  liveTunnelIds(): readonly string[];
}

export class ClaimDesk {
  readonly #link: Link;
  readonly #table: RouteTable;
  readonly #ports: PublicPorts;
  readonly #log: Logger;
  readonly #now: () => number;
  /** The last claim in line per token. Entries leave with their last claim; sessions bound how many stand in line. */
  readonly #lines = new Map<string, Promise<void>>();

  constructor(deps: { link: Link; table: RouteTable; ports: PublicPorts; log: Logger; now: () => number }) {
    this.#link = deps.link;
    this.#table = deps.table;
    this.#ports = deps.ports;
    this.#log = deps.log;
    this.#now = deps.now;
  }

  /** Puts a claim in line. Resolves when it is settled or its session is gone; never rejects. */
  claim(question: Omit<ClaimQuestion, 'liveTunnelIds'>, claimant: Claimant): Promise<void> {
    const before = this.#lines.get(question.tokenId) ?? Promise.resolve();
    const mine = before
      .then(() => this.#answer(question, claimant))
      .finally(() => {
        if (this.#lines.get(question.tokenId) === mine) this.#lines.delete(question.tokenId);
      });
    this.#lines.set(question.tokenId, mine);
    return mine;
  }

  async #answer(question: Omit<ClaimQuestion, 'liveTunnelIds'>, claimant: Claimant): Promise<void> {
    if (claimant.gone()) return;
    let outcome: ClaimOutcome;
    try {
      const answer = await this.#ask({ ...question, liveTunnelIds: claimant.liveTunnelIds() });
      outcome = answer.ok ? await this.#entryOf(answer.route.tunnelId, answer.version) : answer;
    } catch (error) {
      this.#log.error({ agentId: question.agentId, error: messageOf(error) }, 'a claim failed');
      outcome = refusal('internal', 'The server could not decide this claim. It is worth another try.');
    }
    if (!claimant.gone()) claimant.settle(outcome);
  }

  async #ask(question: ClaimQuestion): Promise<ClaimAnswer> {
    const late = Promise.withResolvers<ClaimAnswer>();
    const timer = setTimeout(
      () => late.resolve(refusal('overloaded', 'The server is too busy to answer this claim.')),
      ANSWER_MS,
    ).unref();
    try {
      return await Promise.race([this.#link.claim(question), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The table decides, not the answer: a stop or a delete that overtook it has won. */
  async #entryOf(tunnelId: string, version: number): Promise<ClaimOutcome> {
    if (!(await this.#table.reached(version, TABLE_MS))) {
      return refusal('overloaded', 'The server has not caught up with its own changes.');
    }
    const port = this.#table.findById(tunnelId)?.route.tcpPort ?? null;
    if (port !== null && !(await this.#ports.ready(port))) {
      return refusal('no_port_free', `The server can not open its public port ${port}: another program has it.`);
    }
    const entry = this.#table.findById(tunnelId);
    if (entry === undefined) return refusal('tunnel_deleted', 'This tunnel was deleted.');
    return unservable(entry, this.#now()) ?? { ok: true, entry };
  }
}

/** Why no agent may serve this entry now, or undefined when one may. */
export function unservable(entry: RouteEntry, nowMs: number): Refusal | undefined {
  const { stopped, expiresAt, subdomain } = entry.route;
  if (stopped)
    return refusal('tunnel_stopped', `${subdomain} is stopped. Start it: culvert tunnels start ${subdomain}`);
  if (expiresAt !== null && expiresAt <= nowMs) return refusal('tunnel_expired', 'The time of this tunnel is over.');
  return undefined;
}

function refusal(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}
