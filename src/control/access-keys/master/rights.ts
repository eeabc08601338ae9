/**
 * Whether a master key may act now. To mint, its organization must be approved and on a plan that has master keys; to end what it
 * minted it must live, no more: what makes things safer is not behind a gate.
 */
import { AppError } from '../../../base/errors.ts';
import type { Db, Tx } from '../../db/tx.ts';
import type { MasterKeyActor } from '../../core/rules/actor.ts';
import { type BillingMode, requireEntitlement } from '../../core/rules/plan-gate.ts';
import { findOrg } from '../../organizations/rows.ts';
import type { Minter } from '../minter.ts';
import { isLive, type TokenRow, tokenById } from '../rows.ts';

export class MasterRights {
  readonly #billing: BillingMode;

  constructor(deps: { billing: BillingMode }) {
    this.#billing = deps.billing;
  }

  /** The master key as who mints, if it still may. Throws as `checkMint`. */
  minterIn(tx: Tx, actor: MasterKeyActor): Minter {
    const master = this.checkMint(tx.db, tokenById(tx.db, actor.tokenId), tx.now);
    return { actor, createdBy: master.createdBy, master };
  }

  /** The row, if it is one of a master key that lives. Throws `unauthorized`. */
  checkLive(db: Db, row: TokenRow | undefined, now: number): TokenRow {
    if (row === undefined || row.kind !== 'master' || !isLive(db, row, now)) {
      throw new AppError('unauthorized', 'The master key has expired, was revoked or is unknown. Create another one.');
    }
    if (findOrg(db, row.orgId) === undefined) {
      throw new AppError('unauthorized', 'The organization of this master key was deleted. Use a key of another one.');
    }
    return row;
  }

  /** The same if it may mint now. Throws `unauthorized`, `forbidden`, `upgrade_required`. */
  checkMint(db: Db, found: TokenRow | undefined, now: number): TokenRow {
    const row = this.checkLive(db, found, now);
    const org = findOrg(db, row.orgId);
    if (org !== undefined && org.approvalStatus !== 'approved') {
      throw new AppError(
        'forbidden',
        `The organization ${org.name} is ${org.approvalStatus}. Ask an operator of the server to approve it.`,
      );
    }
    this.requirePlan(db, row.orgId);
    return row;
  }

  /** Throws `upgrade_required` where the plan of the organization has no master keys. */
  requirePlan(db: Db, orgId: string): void {
    requireEntitlement(findOrg(db, orgId)?.plan ?? 'free', 'masterKeys', this.#billing);
  }
}
