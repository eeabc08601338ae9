/**
 * Keeps the compiled policy of each entry in step with its route. A route that changes is answered for by its new policy from the next
 * request on, also on a connection that is kept. Subscribed to the routing table by data/node.ts.
 */
import type { Logger } from '../../base/log.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { TableListener } from '../routing/table.ts';
import { compilePolicy } from './compile.ts';

export class PolicyBook implements TableListener {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  onPut(entry: RouteEntry): void {
    const { policy } = entry.route;
    if (policy === null) entry.policy = null;
    // A route is put again for many reasons; the chain and its counters stay while the policy says the same.
    else if (entry.policy === null || JSON.stringify(entry.policy.spec) !== JSON.stringify(policy))
      entry.policy = compilePolicy(policy, entry.policy, this.#log);
  }
}
