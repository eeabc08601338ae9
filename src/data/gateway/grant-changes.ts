/**
 * Which keys, accounts and organizations have changed lately, so that a grant that was asked for before is asked for again, and a grant of
 * another is not: a tenant that changes its caps all day delays no agents of others. Kept by registry.ts, asked by agent.ts.
 */
import type { TokenGrant } from '../../plane/routes.ts';

/** Changes that are remembered one by one. What was asked for before the oldest of them is asked for again, whosever it is. */
const MAX_REMEMBERED = 10_000;

export class GrantChanges {
  /** Id of a token, an account or an organization, and the number of its last change; the oldest first. */
  readonly #last = new Map<string, number>();
  #count = 0;
  /** The last change that is not remembered any more, or that concerned all. */
  #forgotten = 0;

  /** How many there were: to be noted when a grant is asked for. */
  get count(): number {
    return this.#count;
  }

  /** Something of this token, account or organization is not any more what a grant says that was asked for before. */
  add(id: string): void {
    this.#last.delete(id);
    this.#last.set(id, ++this.#count);
    if (this.#last.size <= MAX_REMEMBERED) return;
    for (const [oldest, number] of this.#last) {
      this.#last.delete(oldest);
      this.#forgotten = number;
      break;
    }
  }

  /** No grant that was asked for before holds. */
  addAll(): void {
    this.#last.clear();
    this.#forgotten = ++this.#count;
  }

  /** May a grant be out of date that was asked for when there had been `count` changes? */
  concern(grant: TokenGrant, count: number): boolean {
    if (this.#count === count) return false;
    if (this.#forgotten > count) return true;
    const since = (id: string): boolean => (this.#last.get(id) ?? 0) > count;
    return since(grant.tokenId) || since(grant.orgId) || grant.budgets.some(({ accountId }) => since(accountId));
  }
}
