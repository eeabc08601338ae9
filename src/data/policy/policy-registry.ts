/**
 * Keeps the compiled policy and gates of each entry in step with its route. A route that changes is answered for by its new policy from the
 * next request on, also on a connection that is kept. Subscribed to the routing table by data/node-parts.ts.
 */
import type { AccessKey } from '../../plane/access-keys.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { TableListener } from '../routing/table.ts';
import { compilePolicy, type PolicyParts } from './compile.ts';
import type { JwtSteps } from './jwt/step.ts';

/** It receives this server's access keys too. */
export interface PolicyRegistryParts extends PolicyParts {
  readonly jwts: JwtSteps;
}

/** The compiled policies of a node, one for each entry. */
export class PolicyRegistry implements TableListener {
  readonly #parts: PolicyRegistryParts;

  constructor(parts: PolicyRegistryParts) {
    this.#parts = parts;
  }

  onPut(entry: RouteEntry): void {
    this.#follow(entry);
  }

  /** What the flags of the serving agent add comes and goes with its session. */
  onServed(entry: RouteEntry): void {
    this.#follow(entry);
  }

  #follow(entry: RouteEntry): void {
    const { policy, gate, visitorGate, publicUrl } = entry.route;
    const narrowing = entry.served?.narrowing ?? null;
    if (policy === null && gate === null && visitorGate === null && narrowing === null) entry.policy = null;
    // A route is put again for many reasons; the chain stays while both say the same.
    else if (
      entry.policy === null ||
      JSON.stringify(entry.policy.of) !== JSON.stringify({ policy, gate, visitorGate, publicUrl, narrowing })
    )
      entry.policy = compilePolicy(entry.route, entry.policy, { ...this.#parts, narrowing });
  }

  onAccessKeys(keys: readonly AccessKey[]): void {
    this.#parts.jwts.useOwnKeys(keys);
  }

  onVisitorKey(key: string): void {
    this.#parts.visitors.useKey(key);
  }
}
