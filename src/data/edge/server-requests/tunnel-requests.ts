/**
 * Requests that the control plane sends down the tunnels of this node: `NodeControl.send`. A few at a time, of the node and of each tunnel:
 * what is beyond is refused, so that neither a storm of replays nor of webhooks takes a service from its visitors. Replays have half of the
 * places, and an organization a share of those: services that do not answer replays delay no webhooks of others.
 */
import { Shares } from '../../../base/limits/shares.ts';
import type { TunnelAnswer, TunnelRequest } from '../../../plane/inspection.ts';
import type { EdgeContext } from '../exchange/context.ts';
import { type Outcome, TunnelExchange } from './tunnel-request.ts';

/** Under way at once. Each holds its body, of up to `inspector.max_body_bytes`. */
const MAX_PER_NODE = 64;
const MAX_PER_TUNNEL = 8;
/** Among those of the node; of one organization. */
const REPLAYS = { places: MAX_PER_NODE / 2, each: 8 };

const OFFLINE: TunnelAnswer = { ok: false, code: 'tunnel_offline' };
const OVERLOADED: TunnelAnswer = { ok: false, code: 'overloaded' };

function nothing(): void {}

export class TunnelRequests {
  readonly #context: EdgeContext;
  readonly #underWay = new Map<string, number>();
  readonly #replays = new Shares(REPLAYS);
  #count = 0;

  constructor(context: EdgeContext) {
    this.#context = context;
  }

  /** How many are under way. */
  get count(): number {
    return this.#count;
  }

  /** Never rejects. The answer comes once the record is stored, if there is one. */
  async send(request: TunnelRequest): Promise<TunnelAnswer> {
    const { table, draining } = this.#context;
    const { tunnelId } = request;
    const entry = table.findById(tunnelId);
    const served = entry?.served ?? null;
    if (entry === undefined || served === null || served.draining || draining) return OFFLINE;
    const ofTunnel = this.#underWay.get(tunnelId) ?? 0;
    if (this.#count >= MAX_PER_NODE || ofTunnel >= MAX_PER_TUNNEL) return this.#overloaded();
    const giveBack = request.replayOf === null ? nothing : this.#replays.take(entry.route.orgId);
    if (giveBack === undefined) return this.#overloaded();
    const startMs = performance.now();
    const exchange = new TunnelExchange(this.#context, request);
    const { status, code, wasForwarded } = await this.#counted(exchange, tunnelId).finally(giveBack);
    if (code === 'tunnel_offline' && !wasForwarded) return OFFLINE;
    const latencyMs = Math.round((performance.now() - startMs) * 1_000) / 1_000;
    await this.#context.recorder?.flush();
    const { kept } = exchange.sink;
    return { ok: true, id: exchange.id, status, code, latencyMs, ...(kept === undefined ? {} : { response: kept }) };
  }

  async #counted(exchange: TunnelExchange, tunnelId: string): Promise<Outcome> {
    this.#count++;
    this.#underWay.set(tunnelId, (this.#underWay.get(tunnelId) ?? 0) + 1);
    try {
      return await new Promise((resolve) => exchange.begin(resolve));
    } finally {
      this.#count--;
      const left = (this.#underWay.get(tunnelId) ?? 0) - 1;
      if (left > 0) this.#underWay.set(tunnelId, left);
      else this.#underWay.delete(tunnelId);
    }
  }

  #overloaded(): TunnelAnswer {
    this.#context.faults.add('overloaded');
    return OVERLOADED;
  }
}
