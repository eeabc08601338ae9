/**
 * Keys of agents as readers of the mailbox: a program that already has a key to open tunnels with needs no person's log-in to poll. Called by
 * control/core/http/auth.ts, for the one route that takes them.
 */
import { AppError } from '../../base/errors.ts';
import type { Store } from '../db/tx.ts';
import type { TokenActor } from '../core/rules/actor.ts';
import { isLive } from '../access-keys/rows.ts';
import type { Tokens } from '../access-keys/service.ts';
import { findOrg } from '../organizations/rows.ts';

export class ReaderKeys {
  readonly #store: Store;
  readonly #tokens: Pick<Tokens, 'recognise' | 'touch'>;

  constructor(deps: { store: Store; tokens: Pick<Tokens, 'recognise' | 'touch'> }) {
    this.#store = deps.store;
    this.#tokens = deps.tokens;
  }

  /**
   * Who presents this text key or base64 wire form; undefined when it is no token of this server. Throws `unauthorized` for one that is not of
   * an agent or a project or does not live, and `forbidden` where its organization is not approved.
   */
  authenticate(presented: string, ipAddress: string): TokenActor | undefined {
    const found = this.#tokens.recognise(presented);
    if (found === undefined) return undefined;
    const { id, name, orgId, kind } = found;
    if (kind !== 'agent' && kind !== 'project') {
      throw new AppError(
        'unauthorized',
        'This key cannot read webhooks. Use an access key of an agent or a project, or log in.',
      );
    }
    const org = findOrg(this.#store.db, orgId);
    if (org === undefined || !isLive(this.#store.db, found, this.#store.clock.now())) {
      throw new AppError('unauthorized', `The access key ${name} was revoked or has expired. Create another one.`);
    }
    if (org.approvalStatus !== 'approved') {
      throw new AppError(
        'forbidden',
        `The organization ${org.name} is ${org.approvalStatus}. Ask an operator of the server to approve it.`,
      );
    }
    this.#tokens.touch(found, ipAddress);
    return { kind: 'token', tokenId: id, name, orgId };
  }
}
