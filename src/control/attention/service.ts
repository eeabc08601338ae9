/** What needs attention in the organization of the caller, and for superadmins on the server. Reads alone, a bounded number of rows. */
import type { NodeControl } from '../../plane/link.ts';
import type { Spend } from '../access-keys/spend.ts';
import type { Certificates } from '../certificates/service.ts';
import { type Actor, allow, can } from '../core/rules/actor.ts';
import type { Store } from '../db/tx.ts';
import type { Forwarder } from '../webhooks/forwarder.ts';
import type { Health } from '../operator/health.ts';
import { startCommandOf } from '../tunnels/claims/recall/service.ts';
import {
  type AttentionItem,
  budgetItem,
  certificateItem,
  channelItem,
  checkItem,
  domainItem,
  keyItem,
  moreItem,
  receiverItem,
  restingItem,
  tunnelItem,
  worstFirst,
} from './items.ts';
import {
  type Asked,
  downTunnels,
  expiringKeys,
  failingChannels,
  failingReceivers,
  receiversNamed,
  unprovenDomains,
} from './rows.ts';

/** The item that says that there are more among them. */
export const MAX_ITEMS = 100;
const BUDGET_SHARE = 0.8;
/** SQLite takes 32,766 parameters. */
const MAX_CONNECTED = 10_000;

export interface AttentionDeps {
  readonly store: Pick<Store, 'clock' | 'db'>;
  readonly nodes: Pick<NodeControl, 'connections' | 'isOnline'>;
  readonly spend: Pick<Spend, 'nearCaps'>;
  readonly certificates: Pick<Certificates, 'troubles'>;
  readonly health: Pick<Health, 'fullReport'>;
  readonly forwarder: Pick<Forwarder, 'resting'>;
}

export class Attention {
  readonly #deps: AttentionDeps;

  constructor(deps: AttentionDeps) {
    this.#deps = deps;
  }

  /** Worst first; empty if all is well. At most MAX_ITEMS: if there are more, the last one says so. */
  list(actor: Actor): readonly AttentionItem[] {
    allow(actor, 'read', 'organization');
    const asked = { orgId: actor.orgId, now: this.#deps.store.clock.now(), limit: MAX_ITEMS + 1 };
    const all = [
      ...(can(actor, 'read', 'tunnel') ? this.#tunnels(actor, asked) : []),
      ...(can(actor, 'read', 'webhook_receiver') ? this.#receivers(asked) : []),
      ...(can(actor, 'read', 'domain') ? this.#domains(asked) : []),
      ...(can(actor, 'read', 'token') ? this.#keys(asked) : []),
      ...(can(actor, 'read', 'alert') ? failingChannels(this.#deps.store.db, asked).map(channelItem) : []),
      ...(actor.superadmin ? this.#server(actor) : []),
    ].sort(worstFirst);
    if (all.length <= MAX_ITEMS) return all;
    const shown = MAX_ITEMS - 1;
    return [...all.slice(0, shown), moreItem(actor.orgId, shown)];
  }

  #tunnels(actor: Actor, asked: Asked): AttentionItem[] {
    const { store, nodes } = this.#deps;
    // The row hears of an agent with the next batch of events; the node knows now.
    return downTunnels(store.db, asked)
      .filter(({ id }) => !nodes.isOnline(id))
      .map((down) => tunnelItem(down, startCommandOf(store, actor, down.row)));
  }

  #receivers(asked: Asked): AttentionItem[] {
    const { store, forwarder } = this.#deps;
    const failing = failingReceivers(store.db, asked);
    const listed = new Set(failing.map(({ id }) => id));
    const resting = new Map(forwarder.resting(asked.orgId).map(({ receiverId, since }) => [receiverId, since]));
    const waiting = receiversNamed(
      store.db,
      asked,
      [...resting.keys()].filter((id) => !listed.has(id)),
    );
    return [
      ...failing.map(receiverItem),
      ...waiting.map(({ id, name }) => restingItem({ id, name, since: resting.get(id) ?? null })),
    ];
  }

  #domains(asked: Asked): AttentionItem[] {
    const unproven = unprovenDomains(this.#deps.store.db, asked).map(domainItem);
    return [...unproven, ...this.#deps.certificates.troubles(asked).map(certificateItem)];
  }

  #keys(asked: Asked): AttentionItem[] {
    const { store, nodes, spend } = this.#deps;
    const own = nodes.connections().filter(({ orgId }) => orgId === asked.orgId);
    const connected = [...new Set(own.map(({ tokenId }) => tokenId))].slice(0, MAX_CONNECTED);
    return [
      ...spend.nearCaps(store.db, { ...asked, share: BUDGET_SHARE }).map(budgetItem),
      ...expiringKeys(store.db, asked, connected).map(keyItem),
    ];
  }

  #server(actor: Actor): AttentionItem[] {
    const { checks } = this.#deps.health.fullReport(actor);
    return checks.filter(({ status }) => status !== 'ok').map(checkItem);
  }
}
